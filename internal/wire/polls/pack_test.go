package polls_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// samplePart is the answer with some entries of one feed, and the dictionary of
// who holds what is before them.
func samplePart(t testing.TB, entries int) (*feedringv1.PollPart, polls.Dictionary) {
	t.Helper()
	s := wiretest.NewSealer(t, 1)
	e := wiretest.SampleEntry(s.ID())
	seal := wiretest.SealEntry(t, s, e, [32]byte{1})
	words := polls.NewDictionary(e.Ref(), seal.Payload, wire.EntryHash(seal))
	part := &feedringv1.PollPart{}
	for n := range entries {
		e.Key = fmt.Sprint(n)
		e.ID, e.Title = feedring.NewEntryID(e.Feed, e.Key, "", ""), fmt.Sprintf("A title, the %dth", n)
		e.ContentHTML, e.Position.Sequence = "", e.Position.Sequence+1
		seal = wiretest.SealEntry(t, s, e, wire.EntryHash(seal))
		part.Items = append(part.Items, wire.SealTo(seal))
	}
	part.Head = wire.PositionTo(e.Position)
	return part, words
}

func TestPackAndUnpack(t *testing.T) {
	var packer polls.Packer
	for _, entries := range []int{1, 2, 64, 1} { // again and again with the same
		want, words := samplePart(t, entries)
		part := proto.CloneOf(want)
		if err := packer.Pack(part, words, words.Name()); err != nil {
			t.Fatal(err)
		}
		if len(part.Packed) == 0 || part.Bare || proto.Size(part) > proto.Size(want)*2/3 {
			t.Errorf("%d entries of %d bytes became %d", entries, proto.Size(want), proto.Size(part))
		}
		if err := packer.Unpack(part, words); err != nil || !proto.Equal(part, want) {
			t.Errorf("%d entries: %v, %v", entries, part, err)
		}
	}
}

// TestPackForAnother: who asks knows another entry than who answers, or does not
// know that answers are packed.
func TestPackForAnother(t *testing.T) {
	var packer polls.Packer
	want, own := samplePart(t, 3)
	asked := polls.NewDictionary(wiretest.SampleEntry(wiretest.NewSealer(t, 1).ID()).Ref(), []byte("another entry"), [32]byte{2})
	part := proto.CloneOf(want)
	if err := packer.Pack(part, own, asked.Name()); err != nil || !part.Bare {
		t.Errorf("packed with what the other does not know: %v", err)
	}
	if err := packer.Unpack(part, asked); err != nil || !proto.Equal(part, want) {
		t.Errorf("%v, %v", part, err)
	}
	for name, of := range map[string]*feedringv1.PollPart{"": want, own.Name(): {Head: want.Head, More: true}} {
		part := proto.CloneOf(of)
		if err := packer.Pack(part, own, name); err != nil || !proto.Equal(part, of) {
			t.Errorf("named %x: %v, %v", name, part, err)
		}
	}
	if err := packer.Unpack(part, own); err != nil || !proto.Equal(part, want) {
		t.Errorf("a part that was not packed: %v, %v", part, err)
	}
}

// TestPackLeavesWhatTheOtherRefuses: an entry that says one thing thousands of
// times comes as it is.
func TestPackLeavesWhatTheOtherRefuses(t *testing.T) {
	var packer polls.Packer
	words := polls.NewDictionary(feedring.FeedRef{URL: "x"}, nil, [32]byte{})
	for _, payload := range [][]byte{make([]byte, 200_000), noise(200_000)} {
		part := &feedringv1.PollPart{Items: []*feedringv1.Sealed{{Payload: payload}}}
		if err := packer.Pack(part, words, words.Name()); err != nil || len(part.Packed) > 0 {
			t.Errorf("%d bytes became %d: %v", len(payload), len(part.Packed), err)
		}
	}
}

// TestPackOnce: who asks for the same gets the same bytes, and another part or another
// dictionary other ones.
func TestPackOnce(t *testing.T) {
	var packer polls.Packer
	parts := make([]*feedringv1.PollPart, 8)
	want, words := samplePart(t, 30)
	var all sync.WaitGroup
	for i := range parts {
		parts[i] = proto.CloneOf(want)
		all.Go(func() {
			if err := packer.Pack(parts[i], words, words.Name()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, part := range parts[1:] {
		if &part.Packed[0] != &parts[0].Packed[0] {
			t.Error("it was packed twice")
		}
	}
	for entries := range 12 { // more than are remembered, and the first again
		for _, named := range []string{words.Name(), "another"} {
			want, words := samplePart(t, 1+entries%10)
			part := proto.CloneOf(want)
			if err := packer.Pack(part, words, named); err != nil {
				t.Fatal(err)
			}
			if err := packer.Unpack(part, words); err != nil || !proto.Equal(part, want) {
				t.Errorf("%d entries: %v, %v", 1+entries, part, err)
			}
		}
	}
}

// noise is what cannot be packed.
func noise(size int) []byte {
	b, r := make([]byte, size), rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func deflated(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func marshaled(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUnpackRefuses(t *testing.T) {
	part, words := samplePart(t, 3)
	whole := deflated(t, marshaled(t, part))
	for name, test := range map[string]struct {
		packed []byte
		want   error
		says   string
	}{
		"a bomb":                {deflated(t, make([]byte, 3<<20)), wire.ErrTooLarge, "more than"},
		"more than a message":   {deflated(t, slices.Concat(noise(256<<10), make([]byte, 5<<20))), wire.ErrTooLarge, "more than 4194304 bytes"},
		"a small bomb":          {deflated(t, make([]byte, 65<<10)), wire.ErrTooLarge, "more than 65536 bytes"},
		"many parts":            {deflated(t, bytes.Repeat([]byte{0x0a, 0x00}, 30<<10)), nil, ""},
		"half of it":            {whole[:len(whole)/2], wire.ErrMalformed, "EOF"},
		"something after it":    {append(whole[:len(whole):len(whole)], 0), wire.ErrMalformed, "after its end"},
		"what was not deflated": {bytes.Repeat([]byte{0xff}, 100), wire.ErrMalformed, "corrupt"},
		"what is no part":       {deflated(t, []byte{0xff, 0xff}), wire.ErrMalformed, "PollPart"},
		"what is packed twice":  {deflated(t, marshaled(t, &feedringv1.PollPart{Packed: whole})), wire.ErrMalformed, "packed twice"},
	} {
		if err := new(polls.Packer).Unpack(&feedringv1.PollPart{Packed: test.packed}, words); !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzUnpack feeds answers that were packed by anybody. What is unpacked stays
// within its limits, and what it says can be packed again.
func FuzzUnpack(f *testing.F) {
	part, words := samplePart(f, 2)
	var packer polls.Packer
	f.Add(deflated(f, marshaled(f, part)), false)
	f.Add(deflated(f, make([]byte, 65<<10)), true)
	if err := packer.Pack(part, words, words.Name()); err != nil {
		f.Fatal(err)
	}
	f.Add(part.Packed, false)
	f.Fuzz(func(t *testing.T, packed []byte, bare bool) {
		got := &feedringv1.PollPart{Packed: packed, Bare: bare}
		if packer.Unpack(got, words) != nil {
			return
		}
		if size := proto.Size(got); size > max(64<<10, 32*len(packed)) {
			t.Fatalf("%d bytes out of %d", size, len(packed))
		}
		again := proto.CloneOf(got)
		if err := packer.Pack(again, words, words.Name()); err != nil {
			t.Fatal(err)
		}
		if err := packer.Unpack(again, words); err != nil || !proto.Equal(again, got) {
			t.Errorf("%v became %v, %v", got, again, err)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	for _, entries := range []int{1, 64} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			b.ReportAllocs()
			var packer polls.Packer
			plain, words := samplePart(b, entries)
			part := &feedringv1.PollPart{}
			for n := uint64(1); b.Loop(); n++ {
				part.Items, part.Packed, part.Head = plain.Items, nil, &feedringv1.Position{Sequence: n} // another each time
				if err := packer.Pack(part, words, words.Name()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnpack(b *testing.B) {
	for _, entries := range []int{1, 64} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			b.ReportAllocs()
			var packer polls.Packer
			part, words := samplePart(b, entries)
			if err := packer.Pack(part, words, words.Name()); err != nil {
				b.Fatal(err)
			}
			packed := part.Packed
			for b.Loop() {
				part.Reset()
				part.Packed = packed
				if err := packer.Unpack(part, words); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
