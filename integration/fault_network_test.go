package integration

import (
	"fmt"
	"testing"
	"time"
)

// TestEntriesArriveUnderNetworkFaults runs a group over a network that delays every packet by 30 to 70
// ms, overtakes and loses one in twenty: nobody is deposed who lives, what is
// published reaches everybody, and a follower is shown all of it once.
func TestEntriesArriveUnderNetworkFaults(t *testing.T) {
	t.Parallel()
	const (
		refresh   = 2 * time.Second
		refreshes = 8
	)
	s := newLossyNet(t, 1, conditions{delay: 50 * time.Millisecond, jitter: 20 * time.Millisecond, loss: 0.05})
	w := newFaultyNet(t, refresh.String(), s.machine, "news", "news", "news", "news")
	w.follow(s.machine("reader"), "news")
	m := w.settled("news", 4, w.peers...)
	_, term := m.role("news")

	beat := time.NewTicker(refresh)
	defer beat.Stop()
	for range refreshes {
		w.publish(w.peers...)
		<-beat.C
	}
	for _, p := range w.peers {
		if role, now := p.role("news"); now != term || (role == "manager") != (p == m) {
			t.Errorf("%d refreshes later the manager of term %d, or another, is %s of term %d", refreshes, term, role, now)
		}
	}
	w.complete(30 * time.Second)
	for i, p := range w.peers {
		until(t, 30*time.Second, fmt.Sprintf("peer %d holds everything", i), func() bool { return w.holds(p) })
	}
}

// holds reports whether a peer has on its own disk everything that was
// acknowledged by anybody of its group, and nothing that was not published.
func (w *faultyNet) holds(p *peer) bool {
	acked, count := 0, 0
	for _, o := range w.of(w.ledgers[p].theme) {
		acked += len(w.ledgers[o].acknowledged())
		count += w.ledgers[o].count()
	}
	r := command(w.t, "status", "--json", "--data", p.data)
	if r.code != 0 || len(r.objects) != 1 {
		return false
	}
	has := r.objects[0].num("entries")
	return has >= acked && has <= count
}
