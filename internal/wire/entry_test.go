package wire_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func TestEntryComesBack(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	e := wiretest.SampleEntry(s.ID())
	seal := wiretest.SealEntry(t, s, e, [32]byte{9})
	got, previous, err := wire.NewVerifier(wiretest.Network).Entry(seal)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, e) || previous != [32]byte{9} {
		t.Errorf("got %+v after %x\nwant %+v", got, previous, e)
	}
}

// TestRandomEntriesComeBack holds that whatever EncodeEntry accepts, DecodeEntry
// gives back as EncodeEntry left it.
func TestRandomEntriesComeBack(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		e := wiretest.SampleEntry(s.ID())
		e.Title, e.Summary = strings.Repeat(randomText(r, 100), r.IntN(80)), strings.Repeat(randomText(r, 100), r.IntN(500))
		e.ContentHTML = strings.Repeat(randomText(r, 400), r.IntN(400))
		e.URL, e.Language = strings.Repeat(randomText(r, 50), r.IntN(150)), randomText(r, 50)
		for range r.IntN(100) {
			e.Authors = append(e.Authors, randomText(r, 60))
			e.Tags = append(e.Tags, strings.Repeat(randomText(r, 40), 10)+"\xff")
			e.Attachments = append(e.Attachments, feedring.Attachment{URL: strings.Repeat(randomText(r, 30), r.IntN(90)), MIMEType: randomText(r, 200)})
		}
		e.Published = wiretest.Noon.Add(-time.Duration(r.Int64N(int64(time.Hour))))
		e.Seen = wiretest.Noon.Add(time.Duration(r.Int64N(int64(time.Hour))))
		seal := wiretest.SealEntry(t, s, e, [32]byte{})
		if size := len(seal.Payload) + len(seal.Signature) + len(seal.Signer); size > feedring.MaxEntry {
			t.Fatalf("a sealed entry has %d bytes", size)
		}
		got, _, err := wire.DecodeEntry(seal)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("got %+v\nwant %+v", got, e)
		}
	}
}

// A peer of before sends no key, and its entries are taken. Nobody can send a key that
// the id is not of.
func TestKeys(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	e := wiretest.SampleEntry(s.ID())
	e.Key = ""
	seal := wiretest.SealEntry(t, s, e, [32]byte{})
	if got, _, err := wire.DecodeEntry(seal); err != nil || got.Key != "" {
		t.Errorf("without a key: %+v, %v", got, err)
	}
	var body feedringv1.EntryBody
	if err := proto.Unmarshal(seal.Payload, &body); err != nil {
		t.Fatal(err)
	}
	body.Key = []byte("of the next article")
	payload, err := proto.Marshal(&body)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := wire.NewVerifier(wiretest.Network).Entry(s.Seal(wire.KindEntry, payload)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("with a key of another id: %v", err)
	}
	key := "\x00\xff not UTF-8"
	e.Key, e.ID = key, feedring.NewEntryID(e.Feed, key, "", "")
	if got, _, err := wire.DecodeEntry(wiretest.SealEntry(t, s, e, [32]byte{})); err != nil || got.Key != key {
		t.Errorf("with the hash of a content: %+v, %v", got, err)
	}
}

func TestLongContentIsCut(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	e := wiretest.SampleEntry(s.ID())
	e.ContentHTML = strings.Repeat("<p>漢字 and more</p>", 40_000)
	seal := wiretest.SealEntry(t, s, e, [32]byte{})
	if size := len(seal.Payload); size > feedring.MaxEntry || size < feedring.MaxEntry-1024 {
		t.Errorf("payload of %d bytes", size)
	}
	if !e.Truncated || !utf8.ValidString(e.ContentHTML) || strings.LastIndexByte(e.ContentHTML, '<') > strings.LastIndexByte(e.ContentHTML, '>') {
		t.Errorf("truncated %v, ends with %q", e.Truncated, e.ContentHTML[len(e.ContentHTML)-20:])
	}
	if _, _, err := wire.DecodeEntry(seal); err != nil {
		t.Error(err)
	}
}

func TestEntryThatCannotBe(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	for name, spoil := range map[string]func(*feedring.Entry){
		"id":           func(e *feedring.Entry) { e.ID = "12" },
		"another key":  func(e *feedring.Entry) { e.Key = "other" },
		"another feed": func(e *feedring.Entry) { e.Feed = "https://example.net/feed.xml" },
		"long key": func(e *feedring.Entry) {
			e.Key = strings.Repeat("k", feedring.MaxKey+1)
			e.ID = feedring.NewEntryID(e.Feed, e.Key, "", "")
		},
		"publisher":         func(e *feedring.Entry) { e.Publisher = "" },
		"sequence":          func(e *feedring.Entry) { e.Position.Sequence = 0 },
		"epoch":             func(e *feedring.Entry) { e.Position.Epoch = 0 },
		"version":           func(e *feedring.Entry) { e.Version = 0 },
		"provider":          func(e *feedring.Entry) { e.Provider = "a b" },
		"published":         func(e *feedring.Entry) { e.Published = time.Time{} },
		"seen":              func(e *feedring.Entry) { e.Seen = time.Time{} },
		"from the future":   func(e *feedring.Entry) { e.Published = e.Seen.Add(time.Second) },
		"theme":             func(e *feedring.Entry) { e.Theme = "News!" },
		"feed":              func(e *feedring.Entry) { e.Feed = "ftp://example.org/" },
		"feed not readable": func(e *feedring.Entry) { e.Feed = "https://example.org/\xff" },
	} {
		e := wiretest.SampleEntry(s.ID())
		spoil(e)
		if _, err := wire.EncodeEntry(e, [32]byte{}); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForgedEntryIsRefused(t *testing.T) {
	s, other := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2)
	v := wire.NewVerifier(wiretest.Network)
	good := wiretest.SealEntry(t, s, wiretest.SampleEntry(s.ID()), [32]byte{})
	for range 2 { // the second time from memory
		if _, _, err := v.Entry(good); err != nil {
			t.Fatal(err)
		}
		for name, forge := range map[string]func(*feedring.Seal){
			"signer":    func(f *feedring.Seal) { f.Signer = other.ID() },
			"no signer": func(f *feedring.Seal) { f.Signer = "" },
			"payload":   func(f *feedring.Seal) { f.Payload = append([]byte{}, f.Payload...); f.Payload[20] ^= 1 },
			"signature": func(f *feedring.Seal) { f.Signature = append([]byte{}, f.Signature...); f.Signature[3] ^= 1 },
			"cut":       func(f *feedring.Seal) { f.Signature = f.Signature[:63] },
		} {
			forged := *good
			forge(&forged)
			if _, _, err := v.Entry(&forged); !errors.Is(err, wire.ErrSignature) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := v.Verify(wire.KindRow, good); !errors.Is(err, wire.ErrSignature) {
			t.Errorf("as a row: %v", err)
		}
	}
	if _, _, err := wire.NewVerifier("elsewhere").Entry(good); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("on another network: %v", err)
	}
	if _, _, err := v.Entry(nil); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("nothing: %v", err)
	}
}

func TestCheckNext(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	held := feedring.Head{Feed: wiretest.SampleEntry(s.ID()).Ref(), Position: feedring.Position{Epoch: 1000, Sequence: 4}, Hash: [32]byte{4}}
	unknown, nothing, elsewhere := held, feedring.Head{Feed: held.Feed}, held
	unknown.Hash = [32]byte{}
	elsewhere.Feed.URL += "x"
	at := func(epoch, sequence uint64) feedring.Position {
		return feedring.Position{Epoch: epoch, Sequence: sequence}
	}
	for _, test := range []struct {
		name     string
		last     feedring.Head
		at       feedring.Position
		previous [32]byte
		jump, ok bool
	}{
		{"next", held, at(1000, 5), [32]byte{4}, false, true},
		{"wrong hash", held, at(1000, 5), [32]byte{5}, false, false},
		{"wrong hash, a jump allowed", held, at(1000, 5), [32]byte{5}, true, false},
		{"unknown hash", unknown, at(1000, 5), [32]byte{5}, false, true},
		{"gap", held, at(1000, 6), [32]byte{5}, false, false},
		{"gap in what is past freshness", held, at(1000, 6), [32]byte{5}, true, true},
		{"again", held, at(1000, 4), [32]byte{3}, true, false},
		{"old epoch", held, at(999, 70), [32]byte{4}, true, false},
		{"new epoch", held, at(1001, 1), [32]byte{}, false, true},
		{"new epoch that follows something", held, at(1001, 1), [32]byte{4}, false, false},
		{"new epoch without its beginning", held, at(1001, 2), [32]byte{4}, false, false},
		{"new epoch, its beginning past freshness", held, at(1001, 2), [32]byte{4}, true, true},
		{"the first", nothing, at(1000, 1), [32]byte{}, false, true},
		{"not the first", nothing, at(1000, 2), [32]byte{1}, false, false},
		{"not the first, past freshness", nothing, at(1000, 2), [32]byte{1}, true, true},
		{"other feed", elsewhere, at(1000, 5), [32]byte{4}, true, false},
	} {
		e := wiretest.SampleEntry(s.ID())
		e.Position = test.at
		if err := wire.CheckNext(test.last, e, test.previous, test.jump); (err == nil) != test.ok || err != nil && !errors.Is(err, wire.ErrChain) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
