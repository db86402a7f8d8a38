package integration

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// TestStoppedRoles stops the manager, the secondary and the peer that serves a
// follower, one after the other, as a machine that swaps would, and lets each go
// on. The others go on meanwhile, and the follower is shown everything once.
func TestStoppedRoles(t *testing.T) {
	t.Parallel()
	const r = time.Second
	i := newInternet(t)
	w := newFaultyNet(t, r.String(), i.public, "news", "news", "news", "news")
	reading := w.follow(i.public("reader"), "news")
	for _, victim := range []string{"manager", "secondary", "provider"} {
		m := w.settled("news", 4, w.peers...)
		s := w.secondary(m, "news")
		p := map[string]*peer{"manager": m, "secondary": s, "provider": w.provider(reading)}[victim]
		p.signal(syscall.SIGSTOP)
		rest := others(w.peers, p)
		switch p {
		case m:
			w.alone(20*time.Second, "news", rest...)
		case s:
			until(t, 20*time.Second, "another secondary", func() bool {
				now := w.secondary(m, "news")
				return now != nil && now != s
			})
		}
		reading.shown(t, 30*time.Second, w.publish(rest...))
		w.publish(p)
		p.signal(syscall.SIGCONT)
		begun := time.Now()
		w.alone(20*time.Second, "news", w.peers...)
		if took := time.Since(begun); took > 3*r+2*time.Second {
			t.Errorf("the %s went on: one manager only %s later", victim, took)
		}
	}
	w.settled("news", 4, w.peers...)
	w.complete(30 * time.Second)
}

// provider is who served the last entry that a follower printed.
func (w *faultyNet) provider(r *reader) *peer {
	w.t.Helper()
	titles := w.publish(w.peers[0])
	o, _ := r.event(w.t, 20*time.Second, titles[0], func(o object) bool { return o.str("title") == titles[0] })
	p := w.byID(o.str("via"))
	if p == nil {
		w.t.Fatalf("served by nobody: %v", o)
	}
	return p
}

// restart starts a peer that ended on its machine again.
func (w *faultyNet) restart(p *peer) {
	w.t.Helper()
	p.process = w.hosts[p].start(p.args...)
	w.ready(p)
}

// TestKilledPublisher kills a publisher at moments that fall anywhere between
// its looks and its writes. What it acknowledged reaches the follower, though it
// left the origin's document long before: once and in order. (That the kernel
// has what is acknowledged, not that the disk has it: see TestSyncedFirst.)
func TestKilledPublisher(t *testing.T) {
	t.Parallel()
	const kills = 8
	random := rand.New(rand.NewPCG(1, 1))
	i := newInternet(t)
	w := newFaultyNet(t, "1s", i.public, "news", "news")
	w.follow(i.public("reader"), "news")
	p := w.peers[1]
	l := w.ledgers[p]
	for range kills {
		before, more := len(l.acknowledged()), random.IntN(30)
		l.publishUntil(t, func() bool { return len(l.acknowledged()) > before })
		l.publishUntil(t, func() bool { more--; return more < 0 })
		p.kill()
		for range inDocument {
			l.publish("not seen by anybody, or by the next process")
		}
		w.restart(p)
	}
	w.complete(30 * time.Second)
}
