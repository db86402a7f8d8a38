package wire_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
)

// history is what one publisher signs of a feed.
type history struct {
	t     testing.TB
	by    *wire.Sealer
	last  feedring.Position
	hash  [32]byte
	seals []*feedring.Seal
}

// add signs the next entry, of this epoch or a later one.
func (h *history) add(epoch uint64, change func(*feedring.Entry)) *feedring.Seal {
	h.t.Helper()
	e := wiretest.SampleEntry(h.by.ID())
	if epoch != h.last.Epoch {
		h.last, h.hash = feedring.Position{Epoch: epoch}, [32]byte{}
	}
	h.last.Sequence++
	e.Position, e.Title = h.last, fmt.Sprint("entry ", h.last)
	if change != nil {
		change(e)
	}
	seal := wiretest.SealEntry(h.t, h.by, e, h.hash)
	h.hash, h.seals = wire.EntryHash(seal), append(h.seals, seal)
	return seal
}

// branch is the same history, to go on in another way.
func (h *history) branch() *history {
	b := *h
	b.seals = slices.Clone(h.seals)
	return &b
}

func titled(title string) func(*feedring.Entry) { return func(e *feedring.Entry) { e.Title = title } }

func TestForkOfTwoEntries(t *testing.T) {
	h := &history{t: t, by: wiretest.NewSealer(t, 1)}
	h.add(7, nil)
	h.add(7, nil)
	b := h.branch()
	three, other := h.add(7, nil), b.add(7, titled("another"))
	four, otherFour := h.add(7, nil), b.add(7, titled("another"))
	at := func(n uint64) feedring.Position { return feedring.Position{Epoch: 7, Sequence: n} }
	for name, c := range map[string]struct {
		a, b *feedring.Seal
		at   feedring.Position
	}{
		"at one position":                         {three, other, at(3)},
		"one right after the other":               {other, four, at(3)},
		"the later one first":                     {four, other, at(3)},
		"at one position, of which both say more": {four, otherFour, at(3)},
	} {
		fork, err := wire.ForkOf(c.a, c.b)
		if err != nil || fork.At != c.at || fork.Feed.Publisher != h.by.ID() {
			t.Errorf("%s: %+v, %v", name, fork, err)
		}
	}
	stranger := &history{t: t, by: wiretest.NewSealer(t, 2)}
	for name, pair := range map[string][2]*feedring.Seal{
		"one entry":           {three, three},
		"one after the other": {three, four},
		"with one in between": {h.seals[1], four},
		"two publishers":      {h.seals[0], stranger.add(7, nil)},
		"two epochs":          {h.seals[0], h.branch().add(8, nil)},
		"two feeds": {three, func() *feedring.Seal {
			b := b.branch()
			b.last = at(2)
			return b.add(7, func(e *feedring.Entry) {
				e.Feed = "https://example.org/other.xml"
				e.ID = feedring.NewEntryID(e.Feed, e.Key, "", "")
			})
		}()},
		"an entry of no theme": {three, func() *feedring.Seal {
			b := h.branch()
			b.last = at(2)
			return b.add(7, func(e *feedring.Entry) { e.Theme = "" })
		}()},
	} {
		if fork, err := wire.ForkOf(pair[0], pair[1]); !errors.Is(err, wire.ErrChain) {
			t.Errorf("%s: %+v, %v", name, fork, err)
		}
	}
}

// TestHonestHistoryIsNoFork signs histories as publishers do, with versions, retractions and epochs, and compares all of
// each with all.
func TestHonestHistoryIsNoFork(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		h := &history{t: t, by: wiretest.NewSealer(t, byte(1+r.IntN(3)))}
		epoch := uint64(1)
		var taken []feedring.Taken
		for range 2 + r.IntN(20) {
			if r.IntN(6) == 0 {
				epoch += 1 + r.Uint64N(3)
			}
			if len(taken) > 0 && r.IntN(4) == 0 {
				h.add(epoch, func(e *feedring.Entry) {
					*e = feedring.Entry{ID: e.ID, Key: e.Key, Feed: e.Feed, Provider: e.Provider, Theme: e.Theme, Publisher: e.Publisher,
						Position: e.Position, Published: e.Published, Seen: e.Seen.Add(time.Hour), Version: 9, Retracted: true, Takes: taken}
				})
				taken = nil
				continue
			}
			version := uint32(1 + r.IntN(3))
			h.add(epoch, func(e *feedring.Entry) { e.Version = version })
			taken = append(taken, feedring.Taken{Position: h.last, Hash: h.hash, Seen: wiretest.Noon.Add(2 * time.Hour)})
		}
		for _, a := range h.seals {
			for _, b := range h.seals {
				if fork, err := wire.ForkOf(a, b); !errors.Is(err, wire.ErrChain) {
					t.Fatalf("an honest history is taken for a fork at %v: %v", fork.At, err)
				}
			}
		}
	}
}

// TestNobodyElseForks alters a signature as anybody can: the entry has another hash then, which the next one does not
// name, but the signature is refused.
func TestNobodyElseForks(t *testing.T) {
	h := &history{t: t, by: wiretest.NewSealer(t, 1)}
	first := h.add(7, nil)
	second := h.add(7, nil)
	altered := &feedring.Seal{Signer: first.Signer, Payload: first.Payload, Signature: slices.Clone(first.Signature)}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	half := slices.Clone(altered.Signature[32:])
	slices.Reverse(half)
	sum := new(big.Int).Add(new(big.Int).SetBytes(half), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	copy(altered.Signature[32:], sum)
	if _, err := wire.ForkOf(first, altered); !errors.Is(err, wire.ErrChain) {
		t.Errorf("one payload with two signatures: %v", err)
	}
	if _, err := wire.ForkOf(altered, second); err != nil {
		t.Errorf("an altered entry and the next one do not contradict each other: %v", err)
	}
	for range 40 { // the check is another one for keys that sign often
		if err := wire.Verify(wiretest.Network, wire.KindEntry, first); err != nil {
			t.Fatal(err)
		}
		if err := wire.Verify(wiretest.Network, wire.KindEntry, altered); !errors.Is(err, wire.ErrSignature) {
			t.Fatalf("an altered signature is good: %v", err)
		}
	}
}

func FuzzForkOf(f *testing.F) {
	h := &history{t: f, by: wiretest.NewSealer(f, 1)}
	h.add(7, nil)
	b := h.branch()
	f.Add(h.add(7, nil).Payload, b.add(7, titled("another")).Payload)
	f.Add(h.seals[0].Payload, b.add(7, nil).Payload)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		one, two := &feedring.Seal{Signer: h.by.ID(), Payload: a, Signature: make([]byte, 64)}, &feedring.Seal{Signer: h.by.ID(), Payload: b, Signature: make([]byte, 64)}
		there, err := wire.ForkOf(one, two)
		back, otherErr := wire.ForkOf(two, one)
		if (err == nil) != (otherErr == nil) || there.At != back.At || there.Feed != back.Feed {
			t.Errorf("%v, %v in one order, %v, %v in the other", there.At, err, back.At, otherErr)
		}
		if err == nil && (there.At.Sequence == 0 || there.At.Epoch == 0) {
			t.Errorf("a fork at %v", there.At)
		}
	})
}
