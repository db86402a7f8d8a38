package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// reader follows and keeps what it was shown. Its fields are read only while
// everything else is at rest.
type reader struct {
	titles []string
	first  *client.Answer
	err    error
	ended  bool
	saved  client.Resume
	stop   context.CancelFunc
	block  chan struct{} // each waits for it
}

func follow(t *testing.T, c *client.Client, q feedring.Query, o client.FollowOptions, block chan struct{}) *reader {
	ctx, cancel := context.WithCancel(t.Context())
	r := &reader{stop: cancel, block: block}
	t.Cleanup(cancel)
	o.First = func(a client.Answer) error {
		r.first = &a
		r.titles = append(r.titles, titles(a.Entries)...)
		return nil
	}
	o.Save = func(s client.Resume) { r.saved = s }
	go func() {
		r.err = c.Follow(ctx, q, o, func(e feedring.Entry, _ feedring.Cursor) error {
			if r.block != nil {
				<-r.block
			}
			title := e.Title
			if e.Supersedes {
				title += " supersedes"
			}
			r.titles = append(r.titles, title)
			return nil
		})
		r.ended = true
	}()
	return r
}

// rest lets virtual time pass, and then everything come to rest.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *reader) wants(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.titles, want) {
		t.Errorf("shown %q, want %q", r.titles, want)
	}
}

// end stops the reader, so that the bubble can end.
func (r *reader) end() {
	r.stop()
	synctest.Wait()
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		w.publish(p, "news", "old")
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
		rest(time.Second)
		r.wants(t, "old")
		w.publish(p, "news", "one")
		w.publish(p, "news", "two")
		rest(10 * time.Millisecond)
		r.wants(t, "old", "one", "two")
		rest(time.Hour)
		if p.served != 1 {
			t.Errorf("the provider was attached to %d times", p.served)
		}
		r.end()
		if !errors.Is(r.err, context.Canceled) {
			t.Errorf("it ended with %v", r.err)
		}
	})
}

func TestFollowShowsUpdates(t *testing.T) {
	for _, updates := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.provider()
			r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{Updates: updates}, nil)
			rest(time.Second)
			w.publish(p, "news", "one")
			w.publish(p, "news", "one", func(e *feedring.Entry) { e.Version = 2 })
			w.publish(p, "news", "one", func(e *feedring.Entry) { e.Version = 2 })
			rest(time.Second)
			if want := map[bool]int{false: 1, true: 2}[updates]; len(r.titles) != want {
				t.Errorf("updates %v: shown %q", updates, r.titles)
			}
			r.end()
		})
	}
}

// Providers are killed, fall silent, forge, refuse and come back; entries come
// all the while. The follower is shown every entry once, in each feed's order.
func TestFollowLosesAndRepeatsNothing(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { survive(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func survive(t *testing.T, random *rand.Rand) {
	w := newWorld(t)
	entry := w.peer(2)
	providers := []*fakePeer{w.peer(3), w.peer(4), w.peer(5)}
	source := rand.New(rand.NewPCG(random.Uint64(), 2)) // of another goroutine
	entry.final = func(ask wire.Ask) feedring.Final {
		w.mu.Lock()
		order := slices.Clone(providers)
		source.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		w.mu.Unlock()
		return w.answers(themes{"news": order})(ask)
	}
	r := follow(t, w.client(entry), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
	rest(time.Second)
	var want []string
	for i := range 200 {
		title := fmt.Sprint(i)
		want = append(want, title)
		w.publish(providers[i%2], "news", title)
		victim := providers[random.IntN(3)]
		switch random.IntN(8) {
		case 0:
			victim.kill()
		case 1:
			victim.change(func(p *fakePeer) { p.mute = true })
			victim.kill()
			victim.change(func(p *fakePeer) { p.down = false })
		case 2:
			victim.change(func(p *fakePeer) { p.refuse = feedringv1.RefusedKind_REFUSED_KIND_BEHIND })
		case 3:
			victim.change(func(p *fakePeer) { p.cut = 1 + random.IntN(5) })
		default:
			victim.change(func(p *fakePeer) { p.down, p.mute, p.refuse, p.cut = false, false, 0, 0 })
		}
		rest(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
	for _, p := range providers {
		p.change(func(p *fakePeer) { p.down, p.mute, p.refuse, p.cut = false, false, 0, 0 })
	}
	rest(time.Minute)
	got := slices.Clone(r.titles)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d entries shown", len(got), len(want))
	}
	for parity := range 2 {
		last := -1
		for _, title := range r.titles {
			var n int
			if _, err := fmt.Sscan(title, &n); err != nil || n%2 != parity {
				continue
			}
			if n < last {
				t.Errorf("%d was shown after %d of the same feed", n, last)
			}
			last = n
		}
	}
	r.end()
}

// A provider that forges is left for good, and nothing of it is shown.
func TestFollowLeavesAForger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, forger, honest := w.peer(2), w.peer(3), w.peer(4)
		entry.final = w.answers(themes{"news": {forger, honest}})
		r := follow(t, w.client(entry), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
		rest(time.Second)
		forger.change(func(p *fakePeer) { p.forge = true })
		w.publish(honest, "news", "true")
		rest(time.Second)
		r.wants(t, "true")
		served := forger.served
		honest.kill()
		honest.change(func(p *fakePeer) { p.down = false })
		w.publish(honest, "news", "more")
		rest(time.Minute)
		r.wants(t, "true", "more")
		if forger.served != served {
			t.Error("the forger was asked again")
		}
		r.end()
	})
}

// A follower that stopped goes on where it was: what appeared meanwhile comes
// first, once.
func TestFollowResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.peer(2)
		p.final = w.answers(themes{"news": {p}, "sport": {p}})
		w.publish(p, "news", "old")
		r := follow(t, w.client(p), feedring.Query{}, client.FollowOptions{}, nil)
		rest(time.Second)
		w.publish(p, "news", "one")
		rest(time.Second)
		r.end()
		text, err := json.Marshal(r.saved)
		if err != nil {
			t.Fatal(err)
		}
		w.publish(p, "news", "two")
		w.publish(p, "sport", "three")
		rest(48 * time.Hour)
		var resume client.Resume
		if err := json.Unmarshal(text, &resume); err != nil {
			t.Fatal(err)
		}
		again := follow(t, w.client(p), feedring.Query{}, client.FollowOptions{Resume: &resume}, nil)
		rest(time.Second)
		w.publish(p, "sport", "four")
		rest(time.Second)
		slices.Sort(again.titles)
		again.wants(t, "four", "three", "two")
		if again.first == nil || again.first.Final.Status != feedring.Answered {
			t.Errorf("first: %+v", again.first)
		}
		again.end()
	})
}

// Where nobody holds everything after the cursor, the publishers are asked for.
func TestFollowBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, cache, publisher := w.peer(2), w.peer(3), w.peer(4)
		entry.final = func(ask wire.Ask) feedring.Final {
			if ask.Query.Since.IsZero() || time.Since(ask.Query.Since) < 24*time.Hour {
				return w.answers(themes{"news": {cache}})(ask)
			}
			f := w.answers(themes{"news": {publisher}})(ask)
			f.Grants[0].Own = true
			return f
		}
		r := follow(t, w.client(entry), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
		rest(time.Second)
		cache.change(func(p *fakePeer) { p.refuse = feedringv1.RefusedKind_REFUSED_KIND_BEHIND })
		cache.kill()
		cache.change(func(p *fakePeer) { p.down = false })
		w.publish(publisher, "news", "one")
		rest(10 * time.Second)
		r.wants(t, "one")
		r.end()
	})
}

func TestFollowFindsNewGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.peer(2)
		p.final = func(ask wire.Ask) feedring.Final {
			w.mu.Lock()
			served := themes{}
			for _, theme := range w.themes {
				served[theme] = []*fakePeer{p}
			}
			w.mu.Unlock()
			return w.answers(served)(ask)
		}
		w.themes = []feedring.Theme{"news"}
		r := follow(t, w.client(p), feedring.Query{}, client.FollowOptions{}, nil)
		rest(time.Second)
		p.change(func(*fakePeer) { w.themes = []feedring.Theme{"news", "sport"} })
		w.publish(p, "sport", "goal")
		rest(time.Minute)
		w.publish(p, "sport", "again")
		rest(time.Second)
		r.wants(t, "goal", "again")
		r.end()
	})
}

func TestFollowWithoutAProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.peer(2)
		p.final = w.answers(nil)
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
		rest(time.Second)
		if r.first == nil || r.first.Final.Status != feedring.Unsatisfied || r.ended {
			t.Fatalf("first: %+v, ended %v with %v", r.first, r.ended, r.err)
		}
		w.publish(p, "news", "at last")
		p.change(func(p *fakePeer) { p.final = w.answers(themes{"news": {p}}) })
		rest(time.Minute)
		r.wants(t, "at last")
		r.end()
	})
}

// The peer that was asked dies after the provider was found: the follower asks
// the providers that it met.
func TestFollowSurvivesTheAskedPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, provider, other := w.peer(2), w.peer(3), w.peer(4)
		entry.final = w.answers(themes{"news": {provider}})
		provider.final = w.answers(themes{"news": {other}})
		r := follow(t, w.client(entry), feedring.Query{Theme: "news"}, client.FollowOptions{}, nil)
		rest(time.Second)
		entry.kill()
		for s := range provider.streams {
			s.Close()
		}
		w.publish(provider, "news", "one")
		rest(10 * time.Second)
		r.wants(t, "one")
		r.end()
	})
}

// A reader that takes nothing holds its provider back, and is given everything
// in the end.
func TestFollowSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		block := make(chan struct{})
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{}, block)
		rest(time.Second)
		var want []string
		for i := range 300 {
			want = append(want, fmt.Sprint(i))
			w.publish(p, "news", fmt.Sprint(i))
		}
		rest(10 * time.Minute)
		close(block)
		rest(10 * time.Second)
		r.wants(t, want...)
		r.end()
	})
}
