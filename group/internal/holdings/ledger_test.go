package holdings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func ref(n int) feedring.FeedRef {
	return feedring.FeedRef{URL: fmt.Sprintf("https://%04d", n), Publisher: feedring.PeerID(fmt.Sprint("p", n%3))}
}

// The digest that is kept step by step is the one counted afresh, whatever
// rows list and whatever moves.
func TestDigestIsTheSumOfWhatIsListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	l, now := NewLedger(), start
	rows := map[feedring.PeerID]*catalogue.Row{"p0": {}, "p1": {}, "p2": {}}
	for range 3000 {
		now = now.Add(time.Second)
		switch r := ref(rng.IntN(9)); rng.IntN(3) {
		case 0:
			row := &catalogue.Row{Left: rng.IntN(4) == 0}
			for n := range 9 {
				if rng.IntN(2) == 0 && ref(n).Publisher == r.Publisher {
					row.Feeds = append(row.Feeds, feedring.Feed{URL: ref(n).URL})
				}
			}
			l.Relist(r.Publisher, rows[r.Publisher], row)
			rows[r.Publisher] = row
		case 1:
			if l.Of(r) == nil {
				l.Open(r, rows[r.Publisher].Lists(r.URL))
			}
			l.Advance(r, feedring.Position{Epoch: 1, Sequence: rng.Uint64N(50) + 1}, [32]byte{}, now)
		default:
			l = l.Clone()
		}
		var want uint64
		var listed []feedring.Head
		for _, h := range l.All() {
			if rows[h.Feed.Publisher].Lists(h.Feed.URL) {
				want += sum(h.Feed, h.Position)
				listed = append(listed, h)
			}
		}
		if got := l.Older(nil); got != want {
			t.Fatalf("digest %x, want %x", got, want)
		}
		told, older := l.Recent(now.Add(-10 * time.Second))
		if older != l.Older(told) {
			t.Fatalf("all but %v: %x, want %x", told, l.Older(told), older)
		}
		if heads, more := l.After(feedring.FeedRef{}); more || !slices.Equal(heads, listed) {
			t.Fatalf("%v, want %v", heads, listed)
		}
	}
}

// A list is cut where both sides see that it was, and goes on from there.
func TestRangesMeet(t *testing.T) {
	l := NewLedger()
	const feeds = 2*MaxHeads + 5
	for n := range feeds {
		l.Open(ref(n), true)
		l.Advance(ref(n), feedring.Position{Epoch: 1, Sequence: 1}, [32]byte{}, start)
	}
	var all []feedring.Head
	for after := (feedring.FeedRef{}); ; {
		heads, more := l.After(after)
		if more != (len(all)+len(heads) < feeds) || more && !Full(heads) {
			t.Fatal(len(heads), more)
		}
		if all = append(all, heads...); !more {
			break
		}
		after = heads[len(heads)-1].Feed
	}
	if !slices.Equal(all, l.All()) {
		t.Error(len(all))
	}
	if heads, _ := l.Recent(start); len(heads) != MaxHeads {
		t.Errorf("%d heads in one message", len(heads))
	}
	if heads, older := l.Recent(start.Add(1)); len(heads) > 0 || older != l.Older(nil) {
		t.Errorf("%d heads are still recent", len(heads))
	}
}

func TestListStaysAsItIs(t *testing.T) {
	l := NewLedger()
	l.Open(ref(1), true)
	l.Advance(ref(1), feedring.Position{Epoch: 1, Sequence: 1}, [32]byte{}, start)
	all := l.All()
	l.Advance(ref(1), feedring.Position{Epoch: 1, Sequence: 2}, [32]byte{}, start)
	if all[0].Position.Sequence != 1 || l.All()[0].Position.Sequence != 2 {
		t.Error(all)
	}
}
