package wire

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Limits of the parts of an entry, in bytes where they are texts. All parts
// but the content together stay well below feedring.MaxEntry.
const (
	maxEntryURL    = 4 << 10
	maxEntryTitle  = 4 << 10
	maxSummary     = 32 << 10
	maxNames       = 64 // authors, tags
	maxName        = 256
	maxLanguage    = 35 // as long as a BCP 47 tag needs to be
	maxAttachments = 16
	maxMIME        = 128
	maxSize        = 1 << 50 // of an attachment, in bytes: a number in any JSON reader
	maxSeconds     = 1 << 31
	idBytes        = 16

	// maxEntryPayload leaves room for the signature and the signer.
	maxEntryPayload = feedring.MaxEntry - 256
)

// EncodeEntry returns what the publisher of e signs, with the hash of the entry
// before it (zero for the first of an epoch). It brings e itself to the form
// that everybody else will see: texts valid and within their limits, dates in
// UTC and whole seconds (Seen: milliseconds), and Truncated set where something
// was cut. An error means that e cannot be an entry at all.
func EncodeEntry(e *feedring.Entry, previous [32]byte) (payload []byte, err error) {
	trim(e)
	id, err := hex.DecodeString(string(e.ID))
	if err != nil || len(id) != idBytes {
		return nil, fmt.Errorf("entry id %q: %w: it has 32 hexadecimal digits", cutText(string(e.ID), 40), ErrMalformed)
	}
	if err := checkEntry(e); err != nil {
		return nil, err
	}
	body := bodyOf(e, id, previous)
	if over := proto.Size(body) - maxEntryPayload; over > 0 {
		e.ContentHTML, e.Truncated = cutHTML(e.ContentHTML, max(0, len(e.ContentHTML)-over-8)), true
		body.ContentHtml, body.Truncated = e.ContentHTML, true
	}
	payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w: %v", e.ID, ErrMalformed, err)
	}
	return payload, nil
}

func bodyOf(e *feedring.Entry, id []byte, previous [32]byte) *feedringv1.EntryBody {
	return &feedringv1.EntryBody{
		Id: id, Feed: e.Feed, Provider: string(e.Provider), Theme: string(e.Theme),
		Title: e.Title, Url: e.URL,
		PublishedUnixMs: TimeTo(e.Published), UpdatedUnixMs: TimeTo(e.Updated), SeenUnixMs: TimeTo(e.Seen),
		Summary: e.Summary, ContentHtml: e.ContentHTML, Authors: e.Authors, Tags: e.Tags, Language: e.Language,
		Attachments: Each(e.Attachments, func(a *feedring.Attachment) *feedringv1.Attachment {
			return &feedringv1.Attachment{Url: a.URL, MimeType: a.MIMEType, Size: a.Size, DurationSeconds: a.Seconds}
		}),
		Truncated: e.Truncated, Epoch: e.Position.Epoch, Sequence: e.Position.Sequence, Version: e.Version,
		Previous: hashTo(previous), Takes: Each(e.Takes, takenTo), History: feedringv1.History(e.History), Key: []byte(e.Key),
	}
}

// trim brings the parts of e within their limits.
func trim(e *feedring.Entry) {
	text := func(s *string, most int) {
		cut := cutText(*s, most)
		e.Truncated = e.Truncated || len(*s) > most
		*s = cut
	}
	e.Feed, e.Provider = strings.Clone(e.Feed), feedring.Provider(cutText(string(e.Provider), maxProvider))
	text(&e.Title, maxEntryTitle)
	text(&e.URL, maxEntryURL)
	text(&e.Summary, maxSummary)
	text(&e.Language, maxLanguage)
	e.ContentHTML = cutText(e.ContentHTML, len(e.ContentHTML))
	e.Authors, e.Tags = trimNames(e.Authors), trimNames(e.Tags)
	e.Attachments = trimAttachments(e.Attachments)
	e.Published, e.Updated = wholeSecond(e.Published), wholeSecond(e.Updated)
	e.Seen, _ = timeFrom(TimeTo(e.Seen))
	for i := range e.Takes {
		e.Takes[i].Seen, _ = timeFrom(TimeTo(e.Takes[i].Seen))
	}
}

func trimNames(names []string) []string {
	var kept []string
	for _, name := range names[:min(len(names), maxNames)] {
		if name = cutText(name, maxName); name != "" {
			kept = append(kept, name)
		}
	}
	return kept
}

// trimAttachments leaves out what has no address or one that is too long: half
// an address is none.
func trimAttachments(list []feedring.Attachment) []feedring.Attachment {
	var kept []feedring.Attachment
	for _, a := range list {
		if u := cutText(a.URL, maxEntryURL); u != "" && u == a.URL && len(kept) < maxAttachments {
			kept = append(kept, feedring.Attachment{
				URL: u, MIMEType: cutText(a.MIMEType, maxMIME), Size: measure(a.Size, maxSize), Seconds: measure(a.Seconds, maxSeconds),
			})
		}
	}
	return kept
}

// measure is a number that a file may have; 0 for any other.
func measure(n, most int64) int64 {
	if n < 0 || n > most {
		return 0
	}
	return n
}

// wholeSecond returns t in UTC without what is finer than a second. A date that
// cannot be written, or that is the one instant that means none, becomes none.
func wholeSecond(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	t, ok := timeFrom(t.Unix() * 1000)
	if !ok {
		return time.Time{}
	}
	return t
}

// checkEntry holds an entry against the rules that are no mere lengths.
func checkEntry(e *feedring.Entry) error {
	rule := ""
	switch {
	case e.Publisher == "":
		rule = "it has no publisher"
	case e.Position.Epoch == 0 || e.Position.Sequence == 0:
		rule = "it has no position"
	case e.Version == 0:
		rule = "it has no version"
	case e.Provider == "" || strings.ContainsAny(string(e.Provider), " \t\r\n/=\""):
		rule = "its provider is no name"
	case e.Published.IsZero() || e.Seen.IsZero():
		rule = "it has no date"
	case e.Published.After(e.Seen):
		rule = "it was published after it was seen"
	case len(e.Key) > feedring.MaxKey:
		rule = "its key is too long"
	case e.Key != "" && !e.ID.IsOf(e.Feed, e.Key):
		rule = "its id is not that of its feed and key"
	case len(e.Theme) > feedring.MaxTheme || !plain(string(e.Theme)):
		rule = "its theme is no theme"
	}
	if rule != "" {
		return fmt.Errorf("entry %s: %w: %s", e.ID, ErrMalformed, rule)
	}
	if _, err := feedring.ParseFeedURL(e.Feed); err != nil {
		return fmt.Errorf("entry %s: %w: %v", e.ID, ErrMalformed, err)
	}
	return checkRetraction(e)
}
