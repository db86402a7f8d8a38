package ring

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A row of which the number of clients alone changed is told after three
// periods, and pushed to nobody: the exchanges bring it. What else changes is
// told and pushed at once.
func TestCountsOfClientsWait(t *testing.T) {
	w := newNetwork(t)
	w.grow(4)
	w.run(10*refresh, nil)
	m, now := w.peers[w.names[0]].Machine, w.now
	g := theme(0).Group()
	told := func() Row { row, _, _ := m.Row(g); return row }
	pushed := func(outs []Output) bool {
		for _, out := range outs {
			if s, ok := out.(*Send); ok && s.Message.Verb() == "ring-rows" {
				return true
			}
		}
		return false
	}
	row := told()
	row.Peers = 5
	if !pushed(m.Step(now, Announce{Row: row})) || told().Peers != 5 {
		t.Error("another number of peers is not pushed")
	}
	row.Clients = 7
	if pushed(m.Step(now, Announce{Row: row})) || told().Clients != 0 {
		t.Error("a number of clients is told at once")
	}
	for end := now.Add(4 * refresh); told().Clients != 7; { // no message comes: what a tick pushes is its own
		if now = m.Deadline(); now.After(end) {
			t.Fatal("a number of clients is never told")
		}
		if pushed(m.Step(now, Tick{})) {
			t.Error("a number of clients is pushed")
		}
	}
	if now.Before(w.now.Add(3 * refresh)) {
		t.Errorf("a number of clients is told after %v", now.Sub(w.now))
	}
}

// In a large map no count is pushed, and each group tells its own so seldom that all
// together tell no more than those of a small one.
func TestCountsOfLargeMapsWait(t *testing.T) {
	w := newNetwork(t)
	w.grow(2)
	w.run(10*refresh, nil)
	m, now := w.peers[w.names[0]].Machine, w.now
	m.fill(2, 4*countsAtOnce, func(int) feedring.PeerID { return "x" })
	row, _, _ := m.Row(theme(0).Group())
	pushed := func(outs []Output) bool {
		return slices.ContainsFunc(outs, func(out Output) bool {
			s, ok := out.(*Send)
			if !ok {
				return false
			}
			rows, ok := s.Message.(Rows)
			return ok && slices.ContainsFunc(rows.Rows, func(r *Row) bool { return r.Group == row.Group })
		})
	}
	row.Secondary, row.Deputy.ID = "p001", "p001"
	if !pushed(m.Step(now, Announce{Row: row})) {
		t.Error("another secondary is not pushed")
	}
	row.Peers, row.Feeds = 5, 7
	outs := m.Step(now, Announce{Row: row})
	wait := m.countsWait(row.Group)
	if wait < 6*refresh || wait > 18*refresh {
		t.Errorf("counts wait for %v", wait)
	}
	for ; now.Before(w.now.Add(wait)); now = m.Deadline() {
		if pushed(outs) {
			t.Fatalf("another number of peers is pushed after %v", now.Sub(w.now))
		}
		if told, _, _ := m.Row(row.Group); told.Peers != 1 {
			t.Fatalf("a number of peers is told after %v", now.Sub(w.now))
		}
		outs = m.Step(now, Tick{})
	}
	m.Step(now.Add(refresh), Tick{})
	if told, _, _ := m.Row(row.Group); told.Peers != 5 || told.Feeds != 7 {
		t.Errorf("after %v it tells %d peers and %d feeds", now.Sub(w.now), told.Peers, told.Feeds)
	}
	together := map[time.Duration]int{} // by refresh period
	for _, g := range m.ringMap.Groups() {
		if n := m.countsWait(g) / refresh; together[n] < 2*countsAtOnce/countsEvery {
			together[n]++
		} else {
			t.Errorf("more than %d groups tell counts in one period", together[n])
		}
	}
}
