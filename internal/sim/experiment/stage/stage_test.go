package stage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

func newStage() *stage.Stage {
	return stage.New(stage.Config{Seed: 1, Delay: 20 * time.Millisecond, Sync: 2 * time.Millisecond,
		Peer: peer.Config{Refresh: 3 * time.Second, Attempts: 3, Freshness: time.Minute}})
}

func add(s *stage.Stage, i int, theme feedring.Theme, through ...*stage.Host) *stage.Host {
	url := fmt.Sprintf("https://p%d.example/rss", i)
	return s.Add(feedring.PeerID(fmt.Sprintf("peer%02d", i)), map[feedring.Theme][]feedring.Feed{
		theme: {{URL: url, Provider: feedring.ProviderOf(url)}}}, through...)
}

func managers(s *stage.Stage, theme feedring.Theme) (found []*stage.Host) {
	for _, h := range s.Hosts() {
		if h.Role(theme) == feedring.RoleManager {
			found = append(found, h)
		}
	}
	return found
}

// five returns a group of five that is at rest.
func five(t *testing.T) *stage.Stage {
	t.Helper()
	s := newStage()
	first := add(s, 0, "news")
	for i := 1; i < 5; i++ {
		add(s, i, "news", first)
	}
	s.Run(2 * time.Minute)
	if m := managers(s, "news"); len(m) != 1 {
		t.Fatalf("%d managers", len(m))
	}
	return s
}

func TestEntryReachesAll(t *testing.T) {
	s := five(t)
	var at []time.Duration
	s.Held = func(_ *stage.Host, head feedring.Head) { at = append(at, s.Now()) }
	began := s.Now()
	s.Hosts()[3].Publish("news", "https://p3.example/rss")
	s.Run(5 * time.Second)
	if len(at) != 5 {
		t.Fatalf("%d of 5 peers hold the entry", len(at))
	}
	// A write, a notify, a poll there and back, a write.
	if least := 3*20*time.Millisecond + 2*2*time.Millisecond; at[1]-began < least || at[4]-began > least+time.Second {
		t.Errorf("others held it %v to %v later, the way takes %v", at[1]-began, at[4]-began, least)
	}
	if n := s.Hosts()[3].Received[stage.Poll]; n != 4 {
		t.Errorf("the publisher was polled %d times", n)
	}
}

func TestClientIsServed(t *testing.T) {
	s := five(t)
	var final feedring.Final
	s.Ask("client", s.Hosts()[1], feedring.Query{Theme: "news"}, 5*time.Second, func(f feedring.Final) { final = f })
	s.Run(2 * time.Second)
	if final.Status != feedring.Answered || len(final.Grants) != 1 {
		t.Fatalf("answered %+v", final)
	}
	g := final.Grants[0]
	admitted := 0
	s.Attach(s.Host(g.Provider.ID), g.Ticket, func(ok bool) {
		if ok {
			admitted++
		}
	})
	s.Run(time.Second)
	if admitted != 1 {
		t.Errorf("admitted %d times", admitted)
	}
}

func TestCrashAndReturn(t *testing.T) {
	s := five(t)
	old := managers(s, "news")[0]
	s.Hosts()[2].Publish("news", "https://p2.example/rss")
	s.Run(5 * time.Second)
	ref := feedring.FeedRef{URL: "https://p2.example/rss", Publisher: "peer02"}
	before := old.Head(ref)
	old.Crash()
	if !s.RunUntil(10*time.Second, func() bool { return len(managers(s, "news")) == 1 }) {
		t.Fatal("nobody took over")
	}
	old.Start(s.Hosts()[2])
	s.Run(10 * time.Second)
	if m := managers(s, "news"); len(m) != 1 || m[0] == old && old != s.Hosts()[2] {
		t.Errorf("%d managers", len(m))
	}
	if old.Head(ref) != before || before.IsZero() {
		t.Errorf("the disk holds %v, it was %v", old.Head(ref), before)
	}
	if old.Role("news") == feedring.RoleNone {
		t.Error("who came back is in no group")
	}
}

// The same seed gives the same messages.
func TestSameAgain(t *testing.T) {
	count := func() string {
		s := five(t)
		text := ""
		for _, h := range s.Hosts() {
			text += fmt.Sprint(h.Sent[group.Beacon{}.Verb()], h.Received[group.BeaconAnswer{}.Verb()], " ")
		}
		return text
	}
	if a, b := count(), count(); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}

// Members of a group above 64 pass beacons on, and only signed ones.
func TestLargeGroupStaysTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("a group of 66 takes some seconds")
	}
	s := newStage()
	first := add(s, 0, "news")
	for i := 1; i < 66; i++ {
		add(s, i, "news", first)
		s.Run(50 * time.Millisecond)
	}
	s.Run(30 * time.Second)
	for _, h := range s.Hosts() {
		if v := h.View().Memberships["news"]; v == nil || len(v.Members) != 66 {
			t.Fatalf("%s does not see all 66 members", h.ID)
		}
	}
}

// A way that loses all that one peer sends makes the others go on without it.
func TestWayLosesMessages(t *testing.T) {
	s := five(t)
	manager := managers(s, "news")[0]
	s.Way = func(from, _ *stage.Host, _ feedring.Message) (time.Duration, bool) { return s.Delay(), from != manager }
	s.Run(20 * time.Second)
	if m := managers(s, "news"); len(m) != 1 || m[0] == manager {
		t.Errorf("%d managers, and nobody hears the one there was", len(m))
	}
	s.Way = nil
	s.Run(10 * time.Second)
	if m := managers(s, "news"); len(m) != 1 {
		t.Errorf("%d managers when all is well again", len(m))
	}
}

// A starved peer does everything in the time that it is given.
func TestStarvedRunsInItsTime(t *testing.T) {
	s := five(t)
	const every, runs, phase = time.Second, 100 * time.Millisecond, 250 * time.Millisecond
	starved := s.Hosts()[2]
	starved.Starve(every, runs, phase)
	s.Run(2 * time.Second)
	messages := 0
	s.Way = func(from, _ *stage.Host, _ feedring.Message) (time.Duration, bool) {
		if from == starved {
			messages++
			if in := (s.Now() + phase) % every; in >= runs {
				t.Errorf("it sent at %v", s.Now())
			}
		}
		return s.Delay(), true
	}
	s.Run(20 * time.Second)
	if messages == 0 || len(managers(s, "news")) != 1 {
		t.Errorf("%d messages, %d managers", messages, len(managers(s, "news")))
	}
}

func TestDepartureHandsOver(t *testing.T) {
	s := five(t)
	manager := managers(s, "news")[0]
	manager.Depart()
	s.Run(2 * time.Second)
	if m := managers(s, "news"); manager.Up || len(m) != 1 || m[0] == manager {
		t.Errorf("up: %v, %d managers", manager.Up, len(m))
	}
}

// A stage in slices plays what one without plays, but for the order of what
// happens at one time; and the same again.
func TestSlices(t *testing.T) {
	play := func(inSlices bool) (messages int, steps uint64, late time.Duration) {
		s := stage.New(stage.Config{Seed: 1, Delay: 20 * time.Millisecond, Sync: 2 * time.Millisecond, Slices: inSlices,
			Peer: peer.Config{Refresh: 3 * time.Second, Attempts: 3, Freshness: time.Minute}})
		first := add(s, 0, "news")
		for i := 1; i < 12; i++ {
			s.Run(s.Delay())
			add(s, i, "news", first)
		}
		s.Run(2 * time.Minute)
		held, began := 0, s.Now()
		s.Held = func(*stage.Host, feedring.Head) { held, late = held+1, s.Now()-began }
		s.Messages, s.Steps = 0, 0
		s.Hosts()[3].After(0, func() { s.Hosts()[3].Publish("news", "https://p3.example/rss") })
		s.Run(2 * time.Minute)
		if held != 12 || len(managers(s, "news")) != 1 {
			t.Fatalf("in slices %v: %d of 12 peers hold the entry, %d managers", inSlices, held, len(managers(s, "news")))
		}
		return s.Messages, s.Steps, late
	}
	want, _, by := play(false)
	got, steps, late := play(true)
	if diff := got - want; max(diff, -diff) > want/50 || max(late-by, by-late) > 500*time.Millisecond {
		t.Errorf("%d messages, the entry everywhere after %v; without slices %d and %v", got, late, want, by)
	}
	if again, more, _ := play(true); again != got || more != steps {
		t.Errorf("%d messages and %d steps, then %d and %d", got, steps, again, more)
	}
}

// What a stage in slices plays on two processors is the same each time.
func TestSlicesOfGroups(t *testing.T) {
	const groups, members = 5, 4
	play := func() (told string) {
		s := stage.New(stage.Config{Seed: 1, Delay: 20 * time.Millisecond, Sync: 2 * time.Millisecond, Slices: true,
			Peer: peer.Config{Refresh: 3 * time.Second, Attempts: 3, Freshness: time.Minute}})
		held := 0
		s.Held = func(h *stage.Host, _ feedring.Head) { held, told = held+1, told+string(h.ID) }
		s.Role = func(h *stage.Host, theme feedring.Theme, role feedring.Role) {
			told += fmt.Sprint(h.ID, theme, role, s.Now(), " ")
		}
		for i := range groups * members {
			s.Run(s.Delay())
			add(s, i, feedring.Theme(fmt.Sprint("theme", i%groups)), s.Hosts()[i%groups*min(i/groups, 1):][:min(i, 1)]...)
		}
		s.Run(time.Minute)
		for _, h := range s.Hosts()[:groups] {
			h.After(0, func() { h.Publish(feedring.Theme("theme"+h.ID[5:]), "https://p"+string(h.ID[5:])+".example/rss") })
		}
		s.Run(10 * time.Second)
		if held != groups*members {
			t.Errorf("%d peers hold an entry of their group", held)
		}
		manager := s.Hosts()[0]
		s.After(0, manager.Depart)
		s.Run(10 * time.Second)
		if manager.Up || len(managers(s, "theme0")) != 1 {
			t.Errorf("up: %v, %d managers", manager.Up, len(managers(s, "theme0")))
		}
		for _, h := range s.Hosts()[1:] {
			if seen := len(h.View().Ring); seen != groups {
				t.Errorf("%s sees %d groups", h.ID, seen)
			}
		}
		return told + fmt.Sprint(s.Messages, s.Steps)
	}
	if a, b := play(), play(); a != b {
		t.Errorf("%s, then %s", a, b)
	}
}
