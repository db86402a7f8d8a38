package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

type themes = map[feedring.Theme][]*fakePeer

func titles(entries []feedring.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Title)
	}
	return all
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func published(at time.Time) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.Published = at.UTC().Truncate(time.Second) }
}

func TestQueryMergesGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, b := w.peer(2), w.peer(3)
		a.final = w.answers(themes{"news": {a}, "sport": {b}})
		now := time.Now()
		for i := range 5 {
			w.publish(a, "news", fmt.Sprint("news ", i), published(now.Add(-time.Duration(10-2*i)*time.Minute)))
			w.publish(b, "sport", fmt.Sprint("sport ", i), published(now.Add(-time.Duration(9-2*i)*time.Minute)))
		}
		answer, err := w.client(a).Query(within(t, 5*time.Second), feedring.Query{Limit: 3})
		if err != nil || answer.Final.Status != feedring.Answered {
			t.Fatalf("%v, %v", answer.Final.Status, err)
		}
		if got := titles(answer.Entries); !slices.Equal(got, []string{"sport 4", "news 4", "sport 3"}) {
			t.Errorf("got %q", got)
		}
		if answer.Entries[0].Via != b.id || answer.Entries[1].Via != a.id {
			t.Error("via does not name who served")
		}
	})
}

// An entry that two publishers mirror is shown once: vouched for, if one is.
func TestQueryDropsDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a, b := w.peer(2), w.peer(3)
		a.final = w.answers(themes{"news": {a}})
		w.publish(a, "news", "same", func(e *feedring.Entry) { e.Version = 3 })
		w.publish(b, "news", "same", func(e *feedring.Entry) { e.VouchedBy = "news.example" })
		w.publish(a, "news", "other", func(e *feedring.Entry) { e.Summary = "old" })
		w.publish(a, "news", "other", func(e *feedring.Entry) { e.Version, e.Summary = 2, "new" })
		answer, err := w.client(a).Query(within(t, 5*time.Second), feedring.Query{Theme: "news"})
		if err != nil || len(answer.Entries) != 2 {
			t.Fatalf("%d entries, %v", len(answer.Entries), err)
		}
		for _, e := range answer.Entries {
			if e.Title == "same" && e.VouchedBy == "" || e.Title == "other" && e.Summary != "new" {
				t.Errorf("shown: %+v", e)
			}
		}
	})
}

func TestQueryGoesToAnAlternate(t *testing.T) {
	for name, spoil := range map[string]func(*fakePeer){
		"unreachable": func(p *fakePeer) { p.down = true },
		"silent":      func(p *fakePeer) { p.mute = true },
		"busy":        func(p *fakePeer) { p.refuse = feedringv1.RefusedKind_REFUSED_KIND_BUSY },
		"leaving":     func(p *fakePeer) { p.refuse = feedringv1.RefusedKind_REFUSED_KIND_LEAVING },
		"ticket":      func(p *fakePeer) { p.refuse = feedringv1.RefusedKind_REFUSED_KIND_TICKET },
		"of later":    func(p *fakePeer) { p.refuse = 99 }, // a kind that this version does not know
		"cut":         func(p *fakePeer) { p.cut = 3 },
		"forging":     func(p *fakePeer) { p.forge = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				entry, first, second := w.peer(2), w.peer(3), w.peer(4)
				entry.final = w.answers(themes{"news": {first, second}})
				for i := range 6 {
					w.publish(second, "news", fmt.Sprint(i))
				}
				spoil(first)
				start := time.Now()
				answer, err := w.client(entry).Query(within(t, 10*time.Second), feedring.Query{Theme: "news"})
				if err != nil || answer.Final.Status != feedring.Answered || len(answer.Entries) != 6 {
					t.Fatalf("%d entries, %+v, %v", len(answer.Entries), answer.Final, err)
				}
				if took := time.Since(start); took > time.Second {
					t.Errorf("it took %s", took)
				}
				if got := answer.Final.Grants[0].Provider.ID; got != second.id {
					t.Errorf("the final names %s", got)
				}
			})
		})
	}
}

// All providers of a grant fail: the client asks again, under the next attempt.
func TestQueryAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, bad, good := w.peer(2), w.peer(3), w.peer(4)
		bad.down = true
		entry.final = func(ask wire.Ask) feedring.Final {
			if ask.Attempt < 3 {
				return w.answers(themes{"news": {bad}})(ask)
			}
			return w.answers(themes{"news": {good}})(ask)
		}
		w.publish(good, "news", "here")
		answer, err := w.client(entry).Query(within(t, 10*time.Second), feedring.Query{Theme: "news"})
		if err != nil || len(answer.Entries) != 1 || answer.Final.Attempt != 3 {
			t.Fatalf("%+v, %v", answer, err)
		}
		for i, ask := range w.asks {
			if ask.ID != w.asks[0].ID || ask.Attempt != uint32(i+1) || ask.Query.Words != "" {
				t.Errorf("question %d: %+v", i, ask)
			}
		}
	})
}

func TestQueryIncomplete(t *testing.T) {
	for name, spoil := range map[string]func(*fakePeer){
		"provider silent": func(p *fakePeer) { p.mute = true },
		"provider gone":   func(p *fakePeer) { p.down = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a, b := w.peer(2), w.peer(3)
				a.final = w.answers(themes{"news": {a}, "weather": {b}})
				w.publish(a, "news", "here")
				spoil(b)
				start := time.Now()
				answer, err := w.client(a).Query(within(t, 2*time.Second), feedring.Query{})
				if err != nil || len(answer.Entries) != 1 {
					t.Fatalf("%+v, %v", answer, err)
				}
				if f := answer.Final; f.Status != feedring.Incomplete || !slices.Equal(f.Missing, []string{"weather"}) {
					t.Errorf("final %+v", f)
				}
				if took := time.Since(start); took > 2*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestQueryWithoutAFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		mute := w.peer(2)
		answer, err := w.client(mute).Query(within(t, 3*time.Second), feedring.Query{Theme: "news", Provider: "lemonde"})
		if err != nil || answer.Final.Status != feedring.Incomplete || !slices.Equal(answer.Final.Missing, []string{"news/lemonde"}) {
			t.Fatalf("%+v, %v", answer.Final, err)
		}
	})
}

// A program that asks a peer of another network is told which one, and where to name it.
func TestAPeerOfAnotherNetworkIsNamed(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	other, err := host.New(t.Context(), host.Config{Network: "other", Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c, err := client.New(t.Context(), client.Config{Peers: other.Addrs()[:1], Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, ask := range map[string]func() error{
		"query": func() error { _, err := c.Query(within(t, 10*time.Second), feedring.Query{Theme: "news"}); return err },
		"ring":  func() error { _, err := c.Ring(within(t, 10*time.Second)); return err },
	} {
		err := ask()
		var network *client.NetworkError
		if !errors.As(err, &network) || network.Network != "other" || !errors.Is(err, client.ErrNoPeer) || !strings.HasSuffix(err.Error(), `set client.Config.Network to "other"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQueryNeedsAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		gone, slow, good := w.peer(2), w.peer(3), w.peer(4)
		gone.down = true
		_, err := w.client(gone).Query(within(t, time.Second), feedring.Query{})
		if !errors.Is(err, client.ErrNoPeer) || !strings.Contains(err.Error(), string(gone.id)) {
			t.Errorf("the error is %v", err)
		}
		good.final = w.answers(themes{"news": {good}})
		start := time.Now()
		answer, err := w.client(gone, slow, good).Query(within(t, 10*time.Second), feedring.Query{Theme: "news"})
		if err != nil || answer.Final.Status != feedring.Answered {
			t.Errorf("%+v, %v", answer.Final, err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("a slow peer held it up for %s", took)
		}
	})
}

func TestQueryUnsatisfied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.peer(2)
		p.final = w.answers(nil)
		answer, err := w.client(p).Query(within(t, time.Second), feedring.Query{Theme: "news"})
		if err != nil || answer.Final.Status != feedring.Unsatisfied {
			t.Errorf("%+v, %v", answer.Final, err)
		}
	})
}

func TestBadQuery(t *testing.T) {
	w := newWorld(t)
	c := w.client(w.peer(2))
	for _, q := range []feedring.Query{{Words: "(europe AND"}, {Theme: "Ça"}, {Limit: 100_000}, {Words: "a\xff"}, {Provider: "a\xff"}} {
		if _, err := c.Query(t.Context(), q); !errors.Is(err, client.ErrBadQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// Many questions travel over one stream.
func TestQueriesShareAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, provider := w.peer(2), w.peer(3)
		entry.final = w.answers(themes{"news": {provider}})
		w.publish(provider, "news", "here")
		c := w.client(entry)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if answer, err := c.Query(within(t, 5*time.Second), feedring.Query{Theme: "news"}); err != nil || len(answer.Entries) != 1 {
					t.Errorf("%+v, %v", answer, err)
				}
			})
		}
		all.Wait()
		if entry.opened != 1 || provider.served != 50 {
			t.Errorf("%d streams to the asked peer, %d to the provider", entry.opened, provider.served)
		}
	})
}

func TestCatalogueOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.peer(2)
		w.themes = []feedring.Theme{"sport", "news"}
		var nobody *client.NoGroupError
		_, err := w.client(p).Catalogue(within(t, time.Second), "sprot")
		if !errors.As(err, &nobody) || !slices.Equal(nobody.Suggest, []string{"sport"}) {
			t.Errorf("%v", err)
		}
		if groups, err := w.client(p).Ring(within(t, time.Second)); err != nil || len(groups) != 2 {
			t.Errorf("%v, %v", groups, err)
		}
	})
}
