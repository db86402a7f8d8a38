package survey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"net/url"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The rungs of a ladder, in order.
const (
	Whole      = iota // each document
	NotChanged        // without those for which the origin can answer 304
	Hashed            // without those that have the bytes of the one before
	Changed           // the entries that are new or changed, as they are signed
	New               // the new ones alone
	Packed            // answers to polls: new or changed, with signatures, packed
	PackedNew         // the same, new ones alone
	rungs
)

// RungNames name the rungs.
var RungNames = [rungs]string{"whole documents", "304", "hash", "new or changed", "new", "packed", "packed, new alone"}

// Ladder is what a feed costs after its first document, in bytes of bodies by rung. What
// the reader refuses counts nowhere.
type Ladder struct {
	Feed    string       `json:"feed"`
	Looks   int          `json:"looks"` // after the first document
	Refused int          `json:"refused"`
	Bytes   [rungs]int64 `json:"bytes"`
}

// Saved is the share of the bytes that a rung saves.
func (l *Ladder) Saved(rung int) (share float64, ok bool) {
	if l.Bytes[Whole] == 0 {
		return 0, false
	}
	return 1 - float64(l.Bytes[rung])/float64(l.Bytes[Whole]), true
}

// series is one feed of a stream.
type series struct {
	Ladder
	name  string // of the last document
	at    time.Time
	hash  [sha256.Size]byte
	state fetch.State
	all   *publication
	new   *publication

	sizes       sizes
	least, most int // entries of a document
}

func newSeries(feed string) (*series, error) {
	s := &series{Ladder: Ladder{Feed: feed}, state: fetch.State{URL: feedURL(feed)}}
	var err error
	if s.all, err = newPublication(feed); err == nil {
		s.new, err = newPublication(feed)
	}
	return s, err
}

// look takes in the next document.
func (s *series) look(at time.Time, parsed *document.Document, body []byte) error {
	first, hash := !s.state.Loaded(), sha256.Sum256(body)
	same := hash == s.hash
	s.hash = hash
	var found []feedring.Entry
	found, s.state = fetch.Diff(s.state, parsed, at)
	var changed, fresh []feedring.Entry
	for _, e := range found {
		if e.Retracted {
			continue // it takes the place of nothing that a document has
		}
		changed = append(changed, e)
		if e.Version == 1 {
			fresh = append(fresh, e)
			if len(s.sizes.words) < mostArticles {
				s.sizes.article(articleOf(&e))
			}
		}
	}
	plain, packed, err := s.all.publish(changed, at)
	if err != nil {
		return err
	}
	plainNew, packedNew, err := s.new.publish(fresh, at)
	if err != nil {
		return err
	}
	n := len(parsed.Items)
	s.sizes.document(len(body), n)
	if first {
		s.least, s.most = n, n
		return nil
	}
	s.least, s.most = min(s.least, n), max(s.most, n)
	s.Looks++
	s.Bytes[Whole] += int64(len(body))
	if !same {
		s.Bytes[NotChanged] += int64(len(body))
		s.Bytes[Hashed] += int64(len(body))
	}
	for rung, n := range map[int]int{Changed: plain, New: plainNew, Packed: packed, PackedNew: packedNew} {
		s.Bytes[rung] += int64(n)
	}
	return nil
}

// publication is a feed's log as a peer that polls it sees it grow.
type publication struct {
	sealer *wire.Sealer
	ref    feedring.FeedRef
	at     feedring.Position
	last   []byte // payload
	hash   [32]byte
	packer polls.Packer
}

func newPublication(feed string) (*publication, error) {
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
	if err != nil {
		return nil, err
	}
	sealer, err := wire.NewSealer(key, "survey")
	if err != nil {
		return nil, err
	}
	ref := feedring.FeedRef{URL: feedURL(feed), Publisher: sealer.ID()}
	return &publication{sealer: sealer, ref: ref, at: feedring.Position{Epoch: 1, Sequence: 1}}, nil
}

const feedHost = "survey.example"

func feedURL(feed string) string { return "https://" + feedHost + "/" + url.PathEscape(feed) }

// answerBytes is what an answer holds at most before it is packed, as the product's does.
const answerBytes = 1 << 20

// publish appends entries, and returns the bytes that are signed, and the bytes of
// the frames that answer a peer which has all before them.
func (p *publication) publish(entries []feedring.Entry, seen time.Time) (plain, packed int, err error) {
	var part feedringv1.PollPart
	words, held := polls.NewDictionary(p.ref, p.last, p.hash), 0
	flush := func() error {
		if len(part.Items) == 0 {
			return nil
		}
		part.Head = wire.PositionTo(p.at)
		if err := p.packer.Pack(&part, words, words.Name()); err != nil {
			return err
		}
		frame, err := wire.AppendFrame(nil, &part)
		packed += len(frame)
		part.Reset()
		words, held = polls.NewDictionary(p.ref, p.last, p.hash), 0
		return err
	}
	for i := range entries {
		e := entries[i]
		e.Feed, e.Provider, e.Theme = p.ref.URL, feedHost, "news"
		e.Publisher, e.Seen, e.Position = p.ref.Publisher, seen, p.at
		payload, err := wire.EncodeEntry(&e, p.hash)
		if err != nil {
			return 0, 0, failure.New(failure.KindMalformed, "%s: %v", shown(e.Title), err)
		}
		if held += len(payload); held > answerBytes {
			if err := flush(); err != nil {
				return 0, 0, err
			}
			held = len(payload)
		}
		seal := p.sealer.Seal(wire.KindEntry, payload)
		part.Items = append(part.Items, wire.SealTo(seal))
		p.last, p.hash = payload, wire.EntryHash(seal)
		p.at.Sequence++
		plain += len(payload)
	}
	return plain, packed, flush()
}

// lastPacked publishes a document's entries in the order of their dates, and returns
// what the last one takes, as it is signed and as it is answered.
func lastPacked(name string, items []document.Item) (entry, packed float64, err error) {
	if len(items) == 0 {
		return 0, 0, nil
	}
	found, _ := fetch.Diff(fetch.State{URL: feedURL(name)}, &document.Document{Items: items}, surveyed)
	p, err := newPublication(name)
	if err != nil {
		return 0, 0, err
	}
	last := max(0, len(found)-1)
	if _, _, err := p.publish(found[:last], surveyed); err != nil {
		return 0, 0, err
	}
	plain, bytes, err := p.publish(found[last:], surveyed)
	return float64(plain), float64(bytes), err
}

// surveyed is when documents without a time are looked at: later than all dates that
// count.
var surveyed = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
