package ring

import "testing"

// A row of which the number of clients alone changed is told after three
// periods, and pushed to nobody: the exchanges bring it. What else changes is
// told and pushed at once.
func TestCountsOfClientsWait(t *testing.T) {
	w := newWorld(t)
	w.grow(4)
	w.run(10*refresh, nil)
	m, now := w.peers[w.names[0]].Machine, w.now
	g := theme(0).Group()
	told := func() Row { row, _, _ := m.Row(g); return row }
	pushed := func(outs []Output) bool {
		for _, out := range outs {
			if s, ok := out.(Send); ok && s.Message.Verb() == "ring-rows" {
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
