package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
)

// Fetched is a document as its origin gave it.
type Fetched struct {
	Body        []byte // decompressed, not changed any more
	ContentType string // the header
	At          time.Time
}

// tag names the bytes of an origin's document.
type tag string

func tagOf(body []byte) tag {
	sum := sha256.Sum256(body)
	return tag(hex.EncodeToString(sum[:8]))
}

// What is remembered of former versions, for deltas.
const (
	maxPast    = 8      // versions
	maxPastIDs = 20_000 // entries of all of them
)

// version is what a document held.
type version struct {
	Tag tag      `json:"tag"`
	IDs []itemID `json:"ids"`
}

// doc is one version of a feed's document. It is never changed; its body may
// be on disk only.
type doc struct {
	version
	ContentType string    `json:"content_type"`
	Modified    time.Time `json:"modified"`       // when it came, whole seconds
	Self        string    `json:"self,omitempty"` // the link that it has itself
	Size        int       `json:"size"`
	Past        []version `json:"past,omitempty"` // the newest first

	body []byte // nil: on disk
}

func newDoc(f *Fetched, t tag, before *doc) *doc {
	l := layOut(f.Body, decode.Charset(f.Body, f.ContentType))
	d := &doc{
		version: version{t, l.ids(f.Body)}, ContentType: f.ContentType, Modified: f.At.UTC().Truncate(time.Second),
		Self: l.self, Size: len(f.Body), body: f.Body,
	}
	if before == nil {
		return d
	}
	// Two versions of one second would look the same by their date.
	if !d.Modified.After(before.Modified) {
		d.Modified = before.Modified.Add(time.Second)
	}
	count := 0
	for _, v := range append([]version{before.version}, before.Past...) {
		if count += len(v.IDs); len(d.Past) == maxPast || count > maxPastIDs {
			break
		}
		if v.Tag != t {
			d.Past = append(d.Past, v)
		}
	}
	return d
}

// writing is one more whenever the same document becomes other bytes.
const writing = 1

// links names the bytes that a document becomes by its links.
func linksTag(hub, self string) string {
	h := fnv.New32a()
	for _, part := range [...]string{hub, self, strconv.Itoa(writing)} {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	return strconv.FormatUint(uint64(h.Sum32()), 16)
}

func (d *doc) mediaType(f format, charset string) string {
	if f == unknownFormat && d.ContentType != "" {
		return d.ContentType
	}
	if charset == "" || f == jsonFeed && charset == decode.UTF8 { // JSON has no such parameter
		return mediaTypes[f]
	}
	return mediaTypes[f] + "; charset=" + charset
}
