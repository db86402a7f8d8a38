package chain_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/chain"
	"github.com/feedring/feedring/internal/wire/wiretest"
)

// run is a run of entries of one feed and epoch, oldest first. A change may
// alter the seal of an entry before the next one names it.
func run(t testing.TB, s *wire.Sealer, epoch uint64, count int, change func(n int, seal *feedring.Seal)) []*feedring.Seal {
	t.Helper()
	var seals []*feedring.Seal
	var previous [32]byte
	for n := range count {
		e := wiretest.SampleEntry(s.ID())
		e.Title, e.Position = fmt.Sprint(n), feedring.Position{Epoch: epoch, Sequence: uint64(n + 1)}
		seal := wiretest.SealEntry(t, s, e, previous)
		if change != nil {
			change(n, seal)
		}
		previous = wire.EntryHash(seal)
		seals = append(seals, seal)
	}
	return seals
}

// spoilt is a seal whose own signature is wrong: that it is taken shows that it
// was proven by the chain alone.
func spoilt(seal *feedring.Seal) { seal.Signature[0] ^= 1 }

func backwards(seals []*feedring.Seal) []*feedring.Seal {
	seals = slices.Clone(seals)
	slices.Reverse(seals)
	return seals
}

// titlesOf opens seals and returns the titles of what holds, in order.
func titlesOf(v *chain.Reader, seals ...*feedring.Seal) (titles []string) {
	for _, o := range v.Open(seals) {
		if o.Err == nil {
			titles = append(titles, o.Entry.Title)
		}
	}
	return titles
}

// The signature of the newest entry of a run proves all of it, whatever the
// order in which the run came.
func TestOpenProvesRun(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	seals := run(t, s, 7, 9, func(n int, seal *feedring.Seal) {
		if n < 8 {
			spoilt(seal)
		}
	})
	orders := map[string][]*feedring.Seal{"oldest first": seals, "newest first": backwards(seals), "mixed": slices.Clone(seals)}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(seals), func(i, j int) { orders["mixed"][i], orders["mixed"][j] = orders["mixed"][j], orders["mixed"][i] })
	for name, order := range orders {
		got := chain.NewReader(wiretest.Network).Open(order)
		for i, o := range got {
			want, _, err := wire.DecodeEntry(order[i])
			if o.Err != nil || err != nil || o.Entry.Title != want.Title {
				t.Errorf("%s: %d: %v", name, i, o.Err)
			}
		}
	}
}

// Newest first, a run may come in pieces. Oldest first the pieces know nothing
// of each other.
func TestOpenInPieces(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	seals := run(t, s, 7, 6, func(n int, seal *feedring.Seal) {
		if n < 5 {
			spoilt(seal)
		}
	})
	v := chain.NewReader(wiretest.Network)
	for n, seal := range slices.Backward(seals) {
		if got := titlesOf(v, seal); len(got) != 1 {
			t.Errorf("newest first, one by one: %d was refused", n)
		}
	}
	v = chain.NewReader(wiretest.Network)
	if got := titlesOf(v, seals[:5]...); got != nil {
		t.Errorf("taken without proof: %q", got)
	}
	if err := v.Open(seals[:1])[0].Err; !errors.Is(err, wire.ErrSignature) {
		t.Errorf("taken without proof: %v", err)
	}
}

// What was not in the chain is refused, and spoils nothing beside it.
func TestOpenRefusesForged(t *testing.T) {
	s, other := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2)
	good := run(t, s, 7, 5, nil)
	resealed := func(by *wire.Sealer, n int, previous [32]byte) *feedring.Seal {
		e := wiretest.SampleEntry(s.ID())
		e.Title, e.Position = "forged", feedring.Position{Epoch: 7, Sequence: uint64(n + 1)}
		seal := wiretest.SealEntry(t, by, e, previous)
		seal.Signer = s.ID()
		return seal
	}
	for name, c := range map[string]struct {
		forged *feedring.Seal
		in     int
		want   []string
	}{
		"in the middle":                      {resealed(other, 2, wire.EntryHash(good[1])), 2, []string{"0", "1", "3", "4"}},
		"the newest, over a right one":       {resealed(other, 4, wire.EntryHash(good[3])), 4, []string{"0", "1", "2", "3"}},
		"the oldest":                         {resealed(other, 0, [32]byte{}), 0, []string{"1", "2", "3", "4"}},
		"a right payload, a wrong signature": {&feedring.Seal{Signer: s.ID(), Payload: good[2].Payload, Signature: good[3].Signature}, 2, []string{"0", "1", "3", "4"}},
		"another signer beside right bytes":  {&feedring.Seal{Signer: other.ID(), Payload: good[2].Payload, Signature: good[2].Signature}, 2, []string{"0", "1", "3", "4"}},
		"a cut moved into the signature": {&feedring.Seal{
			Signer: s.ID(), Payload: slices.Concat(good[2].Payload, good[2].Signature[:1]), Signature: good[2].Signature[1:],
		}, 2, []string{"0", "1", "3", "4"}},
		"no seal": {nil, 2, []string{"0", "1", "3", "4"}},
	} {
		seals := slices.Clone(good)
		seals[c.in] = c.forged
		if got := titlesOf(chain.NewReader(wiretest.Network), seals...); !slices.Equal(got, c.want) {
			t.Errorf("%s, oldest first: %q", name, got)
		}
		slices.Reverse(c.want)
		if got := titlesOf(chain.NewReader(wiretest.Network), backwards(seals)...); !slices.Equal(got, c.want) {
			t.Errorf("%s, newest first: %q", name, got)
		}
	}
}

// A forged entry that names a spoilt one proves nothing, also later.
func TestOpenTakesNoWordOfForger(t *testing.T) {
	s, other := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2)
	seals := run(t, s, 7, 2, func(n int, seal *feedring.Seal) { spoilt(seal) })
	v := chain.NewReader(wiretest.Network)
	if got := titlesOf(v, seals...); got != nil {
		t.Errorf("taken: %q", got)
	}
	// Nor does the chain of another publisher, who says it rightly of itself.
	theirs := wiretest.SampleEntry(other.ID())
	theirs.Title, theirs.Position = "theirs", feedring.Position{Epoch: 7, Sequence: 3}
	if got := titlesOf(v, wiretest.SealEntry(t, other, theirs, wire.EntryHash(seals[1])), seals[1]); !slices.Equal(got, []string{"theirs"}) {
		t.Errorf("taken: %q", got)
	}
	if got := titlesOf(v, seals[1], seals[0]); got != nil {
		t.Errorf("taken later: %q", got)
	}
}

// Over a gap, and from one epoch or feed to another, each is checked by itself.
func TestOpenChecksBesideGaps(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	old, seals := run(t, s, 6, 2, nil), run(t, s, 7, 5, nil)
	spoilt(old[1])
	gap := []*feedring.Seal{old[0], old[1], seals[0], seals[2], seals[4]}
	if got := titlesOf(chain.NewReader(wiretest.Network), gap...); !slices.Equal(got, []string{"0", "0", "2", "4"}) {
		t.Errorf("taken: %q", got)
	}
	spoilt(seals[0])
	if got := titlesOf(chain.NewReader(wiretest.Network), seals[0], seals[2], seals[4]); !slices.Equal(got, []string{"2", "4"}) {
		t.Errorf("over a gap: %q", got)
	}
	if got := titlesOf(chain.NewReader("elsewhere"), seals...); got != nil {
		t.Errorf("of another network: %q", got)
	}
}

// Who passes entries on takes none by the chain alone.
func TestEntryChecksEach(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	seals := run(t, s, 7, 2, func(n int, seal *feedring.Seal) {
		if n == 0 {
			spoilt(seal)
		}
	})
	v := wire.NewVerifier(wiretest.Network)
	for n, want := range []error{wire.ErrSignature, nil} {
		if _, _, err := v.Entry(seals[n]); !errors.Is(err, want) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if _, _, err := v.Entry(seals[0]); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("after the newer one: %v", err)
	}
}

// BenchmarkOpen opens a run of ten entries that were never seen.
func BenchmarkOpen(b *testing.B) {
	seals := run(b, wiretest.NewSealer(b, 1), 7, 10, nil)
	for _, together := range []bool{true, false} {
		b.Run(map[bool]string{true: "run", false: "each"}[together], func(b *testing.B) {
			for b.Loop() {
				if together {
					chain.NewReader(wiretest.Network).Open(seals)
					continue
				}
				v := wire.NewVerifier(wiretest.Network)
				for _, seal := range seals {
					if _, _, err := v.Entry(seal); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
