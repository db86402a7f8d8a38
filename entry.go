package feedring

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// MaxEntry is the largest sealed entry, in bytes. Content beyond is cut and the
// entry marked.
const MaxEntry = 256 << 10

// EntryID identifies an entry across its versions and across the peers that
// mirror its feed: 32 hexadecimal digits.
type EntryID string

// MaxKey is the longest key of an entry, in bytes: as long as a link may be.
const MaxKey = 4 << 10

// KeyOf returns what the id of an entry is made of beside its feed: the first of its
// guid, its link and its content that is not empty.
func KeyOf(guid, link, content string) string { return cmp.Or(guid, link, content) }

// NewEntryID derives the id of an entry from its feed's first address and its key.
func NewEntryID(feedURL, guid, link, content string) EntryID {
	sum := sha256.Sum256([]byte("feedring entry\x00" + feedURL + "\x00" + KeyOf(guid, link, content)))
	return EntryID(hex.EncodeToString(sum[:16]))
}

// IsOf reports whether an id is that of the entry of a feed with a key.
func (id EntryID) IsOf(feedURL, key string) bool { return id == NewEntryID(feedURL, key, "", "") }

// Attachment is a file that an entry comes with, such as a podcast's sound.
type Attachment struct {
	URL      string `json:"url"`
	MIMEType string `json:"mime_type,omitempty"`
	Size     int64  `json:"size_in_bytes,omitempty"`       // 0: not known
	Seconds  int64  `json:"duration_in_seconds,omitempty"` // that it plays; 0: not known
}

// SameFile reports whether a and b are one file for a reader: an earlier version
// of a peer did not keep sizes.
func (a Attachment) SameFile(b Attachment) bool { return a.URL == b.URL && a.MIMEType == b.MIMEType }

// Entry is one version of one entry. Times are UTC and whole seconds, except
// Seen. The JSON form is the one that commands and the HTTP API print.
type Entry struct {
	ID          EntryID      `json:"id"`
	Feed        string       `json:"feed"`
	Provider    Provider     `json:"provider"`
	Theme       Theme        `json:"theme,omitempty"` // empty: of a private feed
	Title       string       `json:"title,omitempty"`
	URL         string       `json:"url,omitempty"`
	Published   time.Time    `json:"published"`
	Updated     time.Time    `json:"updated,omitzero"`
	Summary     string       `json:"summary,omitempty"`
	ContentHTML string       `json:"content_html,omitempty"`
	Authors     []string     `json:"authors,omitempty"`
	Tags        []string     `json:"tags,omitempty"`
	Language    string       `json:"language,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"` // content was cut at MaxEntry
	Publisher   PeerID       `json:"publisher"`           // the peer that signed it
	Via         PeerID       `json:"via,omitempty"`       // the peer that served it; told, not signed
	VouchedBy   string       `json:"vouched_by,omitempty"`
	Vouch       Vouch        `json:"vouch,omitempty"`      // how VouchedBy is known
	Host        string       `json:"host,omitempty"`       // of the feed's address, as people are shown it
	Claims      Provider     `json:"claims,omitempty"`     // a name that nothing bears out; see NameOf
	Supersedes  bool         `json:"supersedes,omitempty"` // the reader was shown another publisher's differing copy before

	// Key is what the id was made of beside the feed. Empty: the publisher's peer is of
	// a version before, and nobody can tell whether the id is of this feed.
	Key string `json:"-"`
	// OfSite says that this is the site's copy, as far as the reader knows itself; see
	// Supersedes.
	OfSite bool `json:"-"`

	// Seen is when the publisher's peer first had this version. It never falls
	// along the sequence, and Published <= Seen. Freshness, marks and pruning
	// use Seen; a query's since uses Published.
	Seen     time.Time `json:"-"`
	Position Position  `json:"-"`
	Version  uint32    `json:"-"` // 1, and one more for each change of the same id

	// History says why this is no news, if it is not.
	History History `json:"-"`

	// Retracted marks a retraction: the last version of an entry, which takes
	// all others back. It has no text, no URL, no authors, tags and attachments,
	// and the Published of what it takes back.
	Retracted bool    `json:"-"`
	Takes     []Taken `json:"-"` // what it takes back, by position; at least one
}

// Vouch is how a reader knows that a site names the publisher of an entry.
type Vouch string

// The ways. NotVouched: no site does, or nobody knows one.
const (
	NotVouched Vouch = ""
	Checked    Vouch = "checked" // the reader's own peer asked the site
	Told       Vouch = "told"    // others say so
)

// Attribute says under whose name e is shown. site names the publisher, which is known
// by vouch; empty: none does.
func (e *Entry) Attribute(site string, vouch Vouch) {
	if isPublicAddress(site) {
		site = ""
	}
	given := cmp.Or(e.Claims, e.Provider)
	e.Provider, e.Claims = given, ""
	if e.Theme != "" { // what is told to nobody has the name that its owner gave it
		e.Provider, e.Claims = NameOf(e.Feed, given, site)
	}
	if site == "" {
		vouch = NotVouched
	}
	e.Host, e.VouchedBy, e.Vouch = shownHost(HostOf(e.Feed).name), site, vouch
}

// Source is whose words e is, as people are shown it: "lemonde.fr ✓" where the reader's
// own peer asked the site, "lemonde.fr ?" where others say that it names the publisher,
// "blog.example.net (says lemonde.fr)" where nothing bears the name out. A label stands
// beside the host.
func (e *Entry) Source() string {
	mark := map[Vouch]string{Checked: " ✓", Told: " ?"}[e.Vouch]
	switch name := string(e.Provider); {
	case e.Claims != "":
		return name + mark + " (says " + string(e.Claims) + ")"
	case e.Host == "" || e.Theme == "" || strings.ContainsAny(name, dots) || name == e.Host:
		return name + mark
	default:
		return name + " (" + e.Host + mark + ")"
	}
}

// History says why an entry is no news: it was there before its publisher looked
// at the feed for the first time. Readers are shown it at its place by date, and
// not as new. The publisher signs it.
type History uint8

// The kinds of history. NoHistory is news.
const (
	NoHistory      History = iota
	OlderHistory           // dated before its publisher first offered the feed
	UndatedHistory         // its feed gives no date
)

// NewSince reports whether a reader who began to follow at some time is told of e
// as new: of news always, and of what is dated since, whatever its publisher calls
// it.
func (e *Entry) NewSince(began time.Time) bool {
	switch e.History {
	case NoHistory:
		return true
	case UndatedHistory:
		return false
	}
	return !e.Published.Before(began.Truncate(time.Second))
}

// MaxTaken is how many versions one retraction takes back. An entry that has
// more is taken back by several.
const MaxTaken = 32

// Taken is what stays of a version that its publisher took back.
type Taken struct {
	Position Position
	Hash     [32]byte // of the sealed entry
	Seen     time.Time
}

// Retraction tells a reader that an entry was taken back: show it no more.
type Retraction struct {
	Event     string   `json:"event"` // "retracted"
	ID        EntryID  `json:"id"`
	Feed      string   `json:"feed"`
	Provider  Provider `json:"provider"`
	Theme     Theme    `json:"theme,omitempty"` // empty: of a private feed
	Publisher PeerID   `json:"publisher"`
}

// Retraction returns what e, which is one, tells a reader.
func (e *Entry) Retraction() Retraction {
	return Retraction{"retracted", e.ID, e.Feed, e.Provider, e.Theme, e.Publisher}
}

// Ref returns the feed and publisher that e belongs to.
func (e *Entry) Ref() FeedRef { return FeedRef{URL: e.Feed, Publisher: e.Publisher} }
