package fleetlink

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/peer"
)

type views struct {
	view    peer.View
	changes int
}

func (v *views) MembersChanged() { v.changes++ }

func (v *views) View() *peer.View { return &v.view }

func (v *views) shows(peers ...feedring.PeerID) {
	of := &group.View{Settled: true}
	for _, p := range peers {
		of.Members = append(of.Members, group.Member{Row: &group.Row{Peer: p, Capacity: 1000}})
	}
	v.view.Fleet = of
}

type records struct{ value []byte }

func (r *records) Value() ([]byte, error) { return r.value, nil }

func (r *records) Put(_ context.Context, value []byte) error {
	r.value = value
	return nil
}

type room int

func (r room) Told() int { return int(r) }

// A peer that is away keeps its slots for ten minutes, over a restart of those who saw it
// too, and none of them takes the others for away while it looks for the group.
func TestAPeerThatIsAwayKeepsItsSlotsForTenMinutes(t *testing.T) {
	v, kept := &views{}, &records{}
	open := func() *Members {
		m, err := OpenMembers(MembersConfig{
			Self: "a", Capacity: room(500), Views: v, Records: kept, Listener: v, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	is := func(m *Members, when string, want ...fleet.Member) {
		t.Helper()
		got := slices.Clone(m.Members())
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", when, got, want)
		}
		for i := range got {
			if seen := got[i].Seen; seen.Equal(want[i].Seen) {
				got[i].Seen = want[i].Seen // one that was read has no monotonic clock
			}
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", when, got[i], want[i])
			}
		}
	}
	self := fleet.Member{Peer: "a", Interests: 500, Present: true}
	m, now := open(), time.Now()
	b := func(present, gone bool) fleet.Member {
		m := fleet.Member{Peer: "b", Interests: 1000, Present: present, Gone: gone}
		if !present {
			m.Seen = now
		}
		return m
	}
	is(m, "alone", self)
	v.shows("a", "b")
	m.Look(now)
	is(m, "with another", self, b(true, false))
	m.save(t.Context(), now)
	if v.changes != 1 {
		t.Errorf("%d changes were told, want 1", v.changes)
	}
	v.shows("a")
	m.Look(now.Add(time.Second))
	is(m, "the other is away", self, b(false, false))
	m.Look(now.Add(GoneAfter - time.Second))
	is(m, "for less than ten minutes", self, b(false, false))
	m.Look(now.Add(GoneAfter))
	is(m, "for ten minutes", self, b(false, true))
	v.shows("a", "b")
	m.Look(now.Add(GoneAfter + time.Second))
	is(m, "and back", self, b(true, false))

	v.view.Fleet = nil
	restarted := open()
	is(restarted, "after a restart, before the group is found", self, b(true, false))
	restarted.Look(now.Add(meetWithin + time.Second))
	is(restarted, "where it is not found", self, b(false, false))
	restarted = open()
	v.shows("a")
	restarted.Look(now.Add(time.Second))
	is(restarted, "where it is found without the other", self, b(false, false))
	restarted.Look(now.Add(forgottenAfter + time.Minute))
	is(restarted, "after a month", self)
}

// Whoever has shown no credential has two streams, and all of them together a sixteenth.
func TestStrangersHaveFewStreams(t *testing.T) {
	var s strangers
	taken := 0
	for i := range 200 {
		if s.take(feedring.PeerID(fmt.Sprint(i % 100))) {
			taken++
		}
	}
	if taken != strangersAll || s.take("0") || s.take("new") {
		t.Errorf("%d streams of strangers", taken)
	}
	s.give("0")
	if !s.take("new") || s.take("new") {
		t.Error("a place that was given back is not free, or there are two")
	}
}
