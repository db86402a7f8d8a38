package wire

import (
	"encoding/hex"
	"fmt"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// DecodeEntry opens a sealed entry and holds every part of it against its
// limits, and the id against the feed. It does not check the signature: see Verifier.Entry. previous is the
// hash of the entry before it, zero for the first of an epoch. Via and
// VouchedBy are told beside an entry, never in it.
func DecodeEntry(seal *feedring.Seal) (e *feedring.Entry, previous [32]byte, err error) {
	switch {
	case seal == nil:
		return nil, previous, fmt.Errorf("entry: %w: it is not there", ErrMalformed)
	case len(seal.Payload)+len(seal.Signature) > feedring.MaxEntry:
		return nil, previous, fmt.Errorf("entry of %d bytes: %w, at most %d", len(seal.Payload), ErrTooLarge, feedring.MaxEntry)
	}
	var body feedringv1.EntryBody
	if err := Unmarshal(seal.Payload, &body); err != nil {
		return nil, previous, err
	}
	var d Decoder
	e = d.entry(&body)
	e.Publisher = seal.Signer
	previous = d.Hash("previous", body.GetPrevious())
	d.Fail(checkEntry(e))
	if e.Retracted {
		d.Within("retraction", len(seal.Payload), maxRetraction)
	}
	if d.Err() != nil {
		return nil, [32]byte{}, fmt.Errorf("entry: %w", d.Err())
	}
	return e, previous, nil
}

func (d *Decoder) entry(b *feedringv1.EntryBody) *feedring.Entry {
	if len(b.GetId()) != idBytes {
		d.Malformed("id", "an entry id has 16 bytes")
	}
	return &feedring.Entry{
		ID:          feedring.EntryID(hex.EncodeToString(b.GetId())),
		Feed:        d.Text("feed", b.GetFeed(), MaxURL),
		Provider:    feedring.Provider(d.Text("provider", b.GetProvider(), maxProvider)),
		Theme:       d.Theme("theme", b.GetTheme()),
		Title:       d.Text("title", b.GetTitle(), maxEntryTitle),
		URL:         d.Text("url", b.GetUrl(), maxEntryURL),
		Published:   wholeSecond(d.Time("published", b.GetPublishedUnixMs())),
		Updated:     wholeSecond(d.Time("updated", b.GetUpdatedUnixMs())),
		Summary:     d.Text("summary", b.GetSummary(), maxSummary),
		ContentHTML: b.GetContentHtml(),
		Authors:     d.Texts("authors", b.GetAuthors(), maxNames, maxName),
		Tags:        d.Texts("tags", b.GetTags(), maxNames, maxName),
		Language:    d.Text("language", b.GetLanguage(), maxLanguage),
		Attachments: d.attachments(b.GetAttachments()),
		Truncated:   b.GetTruncated(),
		Seen:        d.Time("seen", b.GetSeenUnixMs()),
		Position:    feedring.Position{Epoch: b.GetEpoch(), Sequence: b.GetSequence()},
		Version:     b.GetVersion(),
		Retracted:   len(b.GetTakes()) > 0,
		Takes:       d.takes(b.GetTakes()),
		History:     historyFrom(b.GetHistory()),
		Key:         string(b.GetKey()),
	}
}

// historyFrom takes what a later version may say for news: then nobody misses it.
func historyFrom(h feedringv1.History) feedring.History {
	switch h {
	case feedringv1.History_HISTORY_OLDER:
		return feedring.OlderHistory
	case feedringv1.History_HISTORY_UNDATED:
		return feedring.UndatedHistory
	}
	return feedring.NoHistory
}

func (d *Decoder) attachments(list []*feedringv1.Attachment) []feedring.Attachment {
	if !d.Within("attachments", len(list), maxAttachments) {
		return nil
	}
	return Each(list, func(a **feedringv1.Attachment) feedring.Attachment {
		return feedring.Attachment{
			URL:      d.Text("attachment url", (*a).GetUrl(), maxEntryURL),
			MIMEType: d.Text("attachment type", (*a).GetMimeType(), maxMIME),
			Size:     measure((*a).GetSize(), maxSize),
			Seconds:  measure((*a).GetDurationSeconds(), maxSeconds),
		}
	})
}

// CheckNext checks that e, which carries previous, follows last in one feed of
// one publisher: the next sequence with the right hash, or the first one of a
// later epoch (or of any, where nothing is held). jump allows e to be further
// on: what comes between may be past freshness, and so with nobody. Where the
// hash of last is not known it is not compared. ErrChain.
func CheckNext(last feedring.Head, e *feedring.Entry, previous [32]byte, jump bool) error {
	at := e.Position
	if err := CheckPlace(last, e, at, jump); err != nil {
		return err
	}
	if at == following(last.Position, at) && at.Epoch == last.Position.Epoch && last.Hash != [32]byte{} && previous != last.Hash ||
		at.Sequence == 1 && previous != [32]byte{} {
		return fmt.Errorf("%w: %d of %s does not follow what is held before it", ErrChain, at.Sequence, e.Feed)
	}
	return nil
}

// CheckPlace is CheckNext for what is left at a position of a version that e
// takes back. That it follows last is not known, for its text is gone; that the
// next one follows it is.
func CheckPlace(last feedring.Head, e *feedring.Entry, at feedring.Position, jump bool) error {
	next := following(last.Position, at)
	switch {
	case e.Ref() != last.Feed:
		return fmt.Errorf("%w: entry %s is of another feed than %s", ErrChain, e.ID, last.Feed.URL)
	case at.Compare(last.Position) <= 0:
		return fmt.Errorf("%w: %d of %s comes after %d", ErrChain, at.Sequence, e.Feed, last.Position.Sequence)
	case at != next && !jump:
		return fmt.Errorf("%w: %d of %s comes right after %d", ErrChain, at.Sequence, e.Feed, next.Sequence-1)
	}
	return nil
}

// following is where in the epoch of at something follows what stands at was.
func following(was, at feedring.Position) feedring.Position {
	next := feedring.Position{Epoch: at.Epoch, Sequence: 1}
	if at.Epoch == was.Epoch {
		next.Sequence = was.Sequence + 1
	}
	return next
}
