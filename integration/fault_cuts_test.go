package integration

import (
	"testing"
	"time"
)

// cut is a fault of the network between the peers of a group.
type cut struct {
	peers int
	// make cuts, given the group, its manager and its secondary, and returns
	// what heals.
	make func(w *faultyNet, all []*peer, manager, secondary *peer) (heal func())
	// meanwhile waits for what the cut must lead to, and returns those who
	// must serve among themselves while it lasts.
	meanwhile func(w *faultyNet, all []*peer, manager, secondary *peer) []*peer
}

// TestCuts has the network between the peers of a group fail in different ways,
// each silently: packets vanish. While it lasts those who hear each other serve
// (a follower of one who is cut off waits, until it asks anew or all is healed);
// when it is healed there is one manager again within the three periods that
// the protocol grants (L1) and a second or two for a busy machine, and followers
// lost nothing and saw nothing twice.
func TestCuts(t *testing.T) {
	t.Parallel()
	const r = 2 * time.Second // within a quarter of it those who live must answer, on a busy machine too
	for name, c := range map[string]cut{
		"halves":              {4, cutHalves, eachHalfManages},
		"manager-unheard":     {3, func(w *faultyNet, all []*peer, m, _ *peer) func() { return w.silence(m, others(all, m)...) }, othersManage},
		"manager-deaf":        {3, cutDeaf, othersPublish},
		"managers-cable":      {3, cutCable, othersManage},
		"two-do-not-see-each": {3, cutPair, managerStays},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInternet(t)
			themes := []string{"news", "news", "news", "news"}[:c.peers]
			w := newFaultyNet(t, r.String(), i.public, themes...)
			at := i.public("reader")
			w.follow(at, "news")
			m := w.settled("news", c.peers, w.peers...)
			s := w.secondary(m, "news")

			heal := c.make(w, w.peers, m, s)
			w.publish(w.peers...)
			queries := w.answering(at, c.meanwhile(w, w.peers, m, s))
			heal()
			begun := time.Now()
			w.alone(20*time.Second, "news", w.peers...)
			if took := time.Since(begun); took > 3*r+2*time.Second {
				t.Errorf("one manager only %s after the network was healed", took)
			} else {
				t.Logf("one manager after %s", took)
			}
			w.settled("news", c.peers, w.peers...)
			w.publish(w.peers...)
			w.complete(30*time.Second, queries...)
		})
	}
}

// answering publishes at each of these and asks one of them, until all of it is
// served.
func (w *faultyNet) answering(at *machine, peers []*peer) (queries []asking) {
	w.t.Helper()
	titles := w.publish(peers...)
	until(w.t, 40*time.Second, "an answer with what was published meanwhile", func() bool {
		r := at.feedring("query", "--json", "--theme", "news", "--timeout", "5s", "--peer", peers[0].addr)
		queries = append(queries, asking{"during the cut", "news", r})
		had := make(map[string]bool)
		for _, e := range r.entries() {
			had[e.str("title")] = true
		}
		for _, title := range titles {
			if !had[title] {
				return false
			}
		}
		return true
	})
	return queries
}

// silence lets nobody of those hear p, in any group.
func (w *faultyNet) silence(p *peer, to ...*peer) (heal func()) {
	w.t.Helper()
	var machines []*machine
	for _, o := range to {
		machines = append(machines, w.hosts[o])
	}
	w.hosts[p].mute(machines...)
	return func() { w.hosts[p].unmute(machines...) }
}

// apart lets no two of different sides hear each other.
func (w *faultyNet) apart(one, other []*peer) (heal func()) {
	w.t.Helper()
	var heals []func()
	for _, p := range one {
		heals = append(heals, w.silence(p, other...))
	}
	for _, p := range other {
		heals = append(heals, w.silence(p, one...))
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// halves puts manager and secondary on different sides.
func halves(all []*peer, manager, secondary *peer) (one, other []*peer) {
	rest := others(others(all, manager), secondary)
	return append([]*peer{manager}, rest[:len(rest)/2]...), append([]*peer{secondary}, rest[len(rest)/2:]...)
}

func cutHalves(w *faultyNet, all []*peer, manager, secondary *peer) func() {
	return w.apart(halves(all, manager, secondary))
}

func eachHalfManages(w *faultyNet, all []*peer, manager, secondary *peer) []*peer {
	w.t.Helper()
	one, other := halves(all, manager, secondary)
	w.alone(20*time.Second, "news", one...)
	w.alone(20*time.Second, "news", other...)
	return other
}

func cutDeaf(w *faultyNet, all []*peer, manager, _ *peer) func() {
	var heals []func()
	for _, p := range others(all, manager) {
		heals = append(heals, w.silence(p, manager))
	}
	return func() {
		for _, heal := range heals {
			heal()
		}
	}
}

// othersPublish: whether a manager that is heard but hears nobody stays is not
// said anywhere; what the others publish goes on among them.
func othersPublish(_ *faultyNet, all []*peer, manager, _ *peer) []*peer { return others(all, manager) }

func cutCable(w *faultyNet, _ []*peer, manager, _ *peer) func() {
	w.hosts[manager].cable("down")
	return func() { w.hosts[manager].cable("up") }
}

func othersManage(w *faultyNet, all []*peer, manager, _ *peer) []*peer {
	w.t.Helper()
	w.alone(20*time.Second, "news", others(all, manager)...)
	return others(all, manager)
}

func cutPair(w *faultyNet, _ []*peer, manager, secondary *peer) func() {
	return w.apart([]*peer{manager}, []*peer{secondary})
}

// managerStays: the third peer reaches the manager and objects, until the
// secondary asks to be replaced.
func managerStays(w *faultyNet, all []*peer, manager, secondary *peer) []*peer {
	w.t.Helper()
	_, term := manager.role("news")
	until(w.t, 30*time.Second, "another secondary", func() bool {
		s := w.secondary(manager, "news")
		return s != nil && s != secondary
	})
	for _, p := range others(all, manager) {
		if role, _ := p.role("news"); role == "manager" {
			w.t.Error("a manager that a third peer reaches was deposed")
		}
	}
	if role, now := manager.role("news"); role != "manager" || now != term {
		w.t.Errorf("the manager of term %d is %s of term %d", term, role, now)
	}
	return others(others(all, manager), secondary)
}
