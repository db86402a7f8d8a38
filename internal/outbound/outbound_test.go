package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// minutes asks as often as it may for some minutes, and counts what went out.
func minutes(t *testing.T, n int, ask func(i int) error) (out int) {
	t.Helper()
	end := time.Now().Add(time.Duration(n) * time.Minute)
	for i := 0; time.Now().Before(end); i++ {
		switch err := ask(i); {
		case err == nil:
			out++
		case !errors.Is(err, ErrSpent):
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // virtual
	}
	return out
}

func TestAccounts(t *testing.T) {
	addr := netip.MustParseAddr("198.51.100.7")
	for name, test := range map[string]struct {
		ask         func(ctx context.Context, i int) error
		least, most int // of six thousand in ten minutes
	}{
		"names of one domain":         {func(ctx context.Context, i int) error { return Request(ctx, fmt.Sprintf("n%d.victim.example", i)) }, 14, 15},
		"one host at many ports":      {func(ctx context.Context, i int) error { return Request(ctx, fmt.Sprintf("victim.example:%d", i+1)) }, 14, 15},
		"names that lead to one":      {func(ctx context.Context, _ int) error { return Connection(ctx, addr) }, 14, 15},
		"many domains":                {func(ctx context.Context, i int) error { return Request(ctx, fmt.Sprintf("site%d.example", i)) }, 199, 200},
		"names that name servers ask": {func(ctx context.Context, i int) error { return Lookup(ctx, fmt.Sprintf("site%d.example", i)) }, 199, 200},
		"this machine":                {func(ctx context.Context, _ int) error { return Request(ctx, "127.0.0.1:8080") }, 6000, 6000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := New().For(t.Context(), "peer")
				if n := minutes(t, 10, func(i int) error { return test.ask(ctx, i) }); n < test.least || n > test.most {
					t.Errorf("%d went out, want %d to %d", n, test.least, test.most)
				}
			})
		})
	}
}

// A refused request draws on no account: a flood to one domain leaves the others'.
func TestAllOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := New().For(t.Context(), "peer")
		for range 1000 {
			_ = Request(ctx, "victim.example")
		}
		for i := range 50 {
			if err := Request(ctx, fmt.Sprintf("site%d.example", i)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// All causes together send eight a second.
func TestManyCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New()
		n := minutes(t, 10, func(i int) error {
			return Request(b.For(t.Context(), fmt.Sprint(i)), fmt.Sprintf("site%d.example", i))
		})
		if most := 600*8 + allBurst; n > most || n < most-10 {
			t.Errorf("%d went out, at most %d", n, most)
		}
	})
}

func TestNobodysWord(t *testing.T) {
	for range 100 {
		if err := errors.Join(Request(t.Context(), "own.example"), Lookup(t.Context(), "own.example"), Connection(t.Context(), netip.MustParseAddr("198.51.100.7"))); err != nil {
			t.Fatal(err)
		}
	}
	if Counted(t.Context()) {
		t.Error("it is counted")
	}
}
