package transport

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/wire"
)

// bounded returns limits of equal peers.
func bounded(of map[feedring.Verb]Bound) *limits {
	l := newLimits(&Credit{})
	for verb, b := range of {
		l.bound(verb, b)
	}
	return l
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLimitsOfOnePeer(t *testing.T) {
	for verb, most := range map[feedring.Verb]int{
		wire.VerbPoll: 24, wire.VerbInfo: 16, wire.VerbAttach: 1024, wire.VerbAsk: 64, "place": keptStreams,
	} {
		l := bounded(map[feedring.Verb]Bound{wire.VerbPoll: {64, 24}, wire.VerbInfo: {32, 16}, wire.VerbAttach: {4096, 1024}, wire.VerbAsk: {4096, 64}})
		for range most {
			check(t, l.take(t.Context(), "stranger", verb))
		}
		if err := l.take(t.Context(), "stranger", verb); !errors.Is(err, errItsShare) {
			t.Errorf("%s: one more than %d: %v", verb, most, err)
		}
		check(t, l.take(t.Context(), "another", verb))
		l.give("stranger", verb)
		check(t, l.take(t.Context(), "stranger", verb))
	}
}

// TestWhoComesThroughAPeerHasItsPlaces: clients that come by way of one peer, each under a key
// of its own, have together the places that the peer has, beside its own streams.
func TestWhoComesThroughAPeerHasItsPlaces(t *testing.T) {
	s := &Server{ServerConfig: ServerConfig{Counts: new(refusals.Counts)}, ctx: t.Context(), limits: bounded(map[feedring.Verb]Bound{wire.VerbAsk: {64, 3}})}
	check(t, s.limits.take(t.Context(), "relay", wire.VerbAsk))
	var served []feedring.PeerID
	var nest func(clients ...feedring.PeerID) error
	nest = func(clients ...feedring.PeerID) error {
		if len(clients) == 0 {
			return nil
		}
		return s.Within("relay", clients[0], wire.VerbAsk, HandlerFunc(func(from feedring.PeerID, _ *wire.Stream) error {
			served = append(served, from)
			return nest(clients[1:]...) // while this one is open
		}), nil)
	}
	if err := nest("a", "b", "c"); !errors.Is(err, errItsShare) || fmt.Sprint(served) != "[a b]" {
		t.Errorf("%v were served: %v", served, err)
	}
	check(t, nest("d"))
	s.Blocks = blocked("d")
	if err := nest("d"); !errors.Is(err, errBlocked) {
		t.Errorf("a key that is blocked: %v", err)
	}
}

type blocked feedring.PeerID

func (b blocked) RefusePeer(id feedring.PeerID) bool { return id == feedring.PeerID(b) }

func TestLimitsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bounded(map[feedring.Verb]Bound{wire.VerbPoll: {2, 2}})
		check(t, l.take(t.Context(), "a", wire.VerbPoll))
		check(t, l.take(t.Context(), "b", wire.VerbPoll))
		began := time.Now()
		if err := l.take(t.Context(), "c", wire.VerbPoll); !errors.Is(err, errManyStreams) || time.Since(began) != limitWait {
			t.Errorf("no place: %v after %s", err, time.Since(began))
		}
		time.AfterFunc(limitWait/2, func() { l.give("a", wire.VerbPoll) })
		check(t, l.take(t.Context(), "c", wire.VerbPoll))
		l.give("b", wire.VerbPoll)
		l.give("c", wire.VerbPoll)
		synctest.Wait() // for the one that gives "a" back
		if len(l.open) != 0 {
			t.Errorf("still counted: %v", l.open)
		}
	})
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bounded(nil)
		began := time.Now()
		p := l.pace("flood")
		for range messageBurst + messagesRate {
			check(t, p.Wait(context.Background()))
		}
		if took := time.Since(began); took < 900*time.Millisecond || took > 2*time.Second {
			t.Errorf("a second's messages beyond the burst took %s", took)
		}
		l.unpace(p)
		if l.pace("flood") != p {
			t.Error("coming anew gives a new burst")
		}
		l.unpace(p)
		time.Sleep(time.Minute)
		for i := range 2 * ratesKept {
			l.unpace(l.pace(feedring.PeerID(fmt.Sprint(i))))
		}
		if len(l.rates) > ratesKept || l.rates["flood"] != nil {
			t.Errorf("%d paces are kept", len(l.rates))
		}
	})
}

// Where all places are taken, who took much and gave nothing waits behind the
// others, but not for ever.
func TestFreeRiderIsServedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Credit{}
		d.Take(group.Owing{Group: feedring.GroupID{1}, Owed: []group.Balance{{Peer: "rider", Entries: 200}, {Peer: "giver", Entries: -50}}})
		l := newLimits(d)
		l.bound(wire.VerbPoll, Bound{1, 8})
		check(t, l.take(t.Context(), "first", wire.VerbPoll))
		served := make(chan feedring.PeerID, 8)
		ask := func(p feedring.PeerID) {
			go func() {
				if l.take(t.Context(), p, wire.VerbPoll) == nil {
					served <- p
				}
			}()
			synctest.Wait()
		}
		next := func(was, want feedring.PeerID) {
			t.Helper()
			l.give(was, wire.VerbPoll)
			synctest.Wait()
			if got := <-served; got != want {
				t.Errorf("after %s came %s, not %s", was, got, want)
			}
		}
		for _, p := range []feedring.PeerID{"rider", "stranger", "giver", "another"} {
			ask(p)
		}
		next("first", "giver")
		next("giver", "stranger")
		time.Sleep(limitWait * 3 / 4) // the rider and another wait for half of their time
		ask("giver")
		next("stranger", "rider")
		next("rider", "another")
		next("another", "giver")
		d.Leave(feedring.GroupID{1})
		if d.Counts(feedring.GroupID{1}) || d.Balance("rider") != 0 {
			t.Error("a group that was left counts")
		}
	})
}
