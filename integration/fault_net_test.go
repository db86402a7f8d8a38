package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// faultyNet is peers on machines of their own, each with a ledger that it publishes,
// and readers on other machines.
type faultyNet struct {
	*network
	hosts   map[*peer]*machine
	ledgers map[*peer]*ledger
	readers []*reader
}

// reader is a follower of a theme, or of all.
type reader struct {
	*process
	theme string
}

// newFaultyNet starts a peer for each theme, in turn, and waits until all groups
// are there. Each peer publishes f0, f1 … every half second at most.
func newFaultyNet(t testing.TB, refresh string, build func(string) *machine, themes ...string) *faultyNet {
	t.Helper()
	w := emptyNet(t, refresh)
	groups := make(map[string]int)
	for i, theme := range themes {
		w.join(build(fmt.Sprintf("h%d", i)), theme)
		groups[theme]++
	}
	for theme, size := range groups {
		w.settled(theme, size, w.of(theme)...)
	}
	return w
}

func emptyNet(t testing.TB, refresh string) *faultyNet {
	return &faultyNet{
		network: newNetwork(t, refresh, "--interval", "500ms"),
		hosts:   make(map[*peer]*machine), ledgers: make(map[*peer]*ledger),
	}
}

// join starts a peer on a machine, that joins through the first and publishes
// a ledger of its own.
func (w *faultyNet) join(m *machine, theme string) {
	w.t.Helper()
	l := newLedger(theme, fmt.Sprintf("f%d", len(w.peers)))
	p := m.peer(w.network, w.peers[:min(1, len(w.peers))], l.spec(m.origin()))
	l.publish("the first of the network") // what is dated before its peer began is history, and no follower is told of it
	w.hosts[p], w.ledgers[p] = m, l
}

// of is the peers that publish a theme.
func (w *faultyNet) of(theme string) (all []*peer) {
	for _, p := range w.peers {
		if w.ledgers[p].theme == theme {
			all = append(all, p)
		}
	}
	return all
}

// follow starts a reader on a machine, that knows all peers, and waits for its
// first answer.
func (w *faultyNet) follow(at *machine, theme string) *reader {
	w.t.Helper()
	args := []string{"follow", "--json"}
	if theme != "" {
		args = append(args, "--theme", theme)
	}
	for _, p := range w.peers {
		args = append(args, "--peer", p.addr)
	}
	r := &reader{at.start(args...), theme}
	r.event(w.t, 30*time.Second, "the first answer", func(o object) bool { return o["event"] != nil })
	w.readers = append(w.readers, r)
	return r
}

// publish adds an entry at each of the peers and returns the titles.
func (w *faultyNet) publish(peers ...*peer) (titles []string) {
	for _, p := range peers {
		titles = append(titles, w.ledgers[p].publish("news of the network"))
	}
	return titles
}

// shown waits until a reader printed all of these.
func (r *reader) shown(t testing.TB, within time.Duration, titles []string) {
	t.Helper()
	for _, title := range titles {
		r.event(t, within, title, func(o object) bool { return o.str("title") == title })
	}
}

// role is what a peer last said that it is in a theme's group, and its term.
func (p *peer) role(theme string) (role string, term int) {
	for _, l := range slices.Backward(p.output()) {
		var o object
		if strings.Contains(l.text, `"role"`) && json.Unmarshal([]byte(l.text), &o) == nil &&
			o.str("event") == "role" && o.str("theme") == theme {
			return o.str("role"), o.num("term")
		}
	}
	return "", 0
}

// ended reports whether the process is no more.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// managers are those that say they are.
func managers(theme string, among ...*peer) (all []*peer) {
	for _, p := range among {
		if role, _ := p.role(theme); role == "manager" {
			all = append(all, p)
		}
	}
	return all
}

// alone waits until exactly one of the peers says that it manages, and returns
// it.
func (w *faultyNet) alone(within time.Duration, theme string, among ...*peer) *peer {
	w.t.Helper()
	until(w.t, within, fmt.Sprintf("one manager of %d peers", len(among)), func() bool { return len(managers(theme, among...)) == 1 })
	return managers(theme, among...)[0]
}

// settled waits until all these peers see one group of this size under one
// manager among them, which has a secondary, and returns the manager.
func (w *faultyNet) settled(theme string, size int, peers ...*peer) (manager *peer) {
	w.t.Helper()
	until(w.t, 60*time.Second, fmt.Sprintf("%s: one group of %d", theme, size), func() bool {
		by := managers(theme, peers...)
		if len(by) != 1 {
			return false
		}
		manager = by[0]
		for _, p := range peers {
			c := w.ownView(p, theme)
			if c == nil || len(c.list("peers")) != size || c.str("manager") != manager.id || size > 1 && c.str("secondary") == "" {
				return false
			}
		}
		return true
	})
	return manager
}

// secondary is the peer that the manager names.
func (w *faultyNet) secondary(manager *peer, theme string) *peer {
	c := w.ownView(manager, theme)
	for _, p := range w.peers {
		if c != nil && p.id == c.str("secondary") {
			return p
		}
	}
	return nil
}

// history is what happened so far.
func (w *faultyNet) history() *history {
	h := &history{}
	for _, l := range w.ledgers {
		h.take(l)
	}
	for i, r := range w.readers {
		h.readers = append(h.readers, readResult{fmt.Sprintf("reader %d", i), r.theme, objects(r.output())})
	}
	return h
}

// complete waits until everything in the documents is acknowledged and every
// reader was shown what was, and checks the history.
func (w *faultyNet) complete(within time.Duration, queries ...asking) {
	w.t.Helper()
	until(w.t, within, "publishers that acknowledge everything", func() bool {
		for _, l := range w.ledgers {
			if !l.settled() {
				return false
			}
		}
		return true
	})
	begun, tick := time.Now(), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for time.Since(begun) < within && !w.served() {
		<-tick.C
	}
	h := w.history()
	h.queries = queries
	for _, wrong := range h.wrongs() {
		w.t.Error(wrong)
	}
}

// served reports whether readers lack nothing.
func (w *faultyNet) served() bool {
	h := w.history()
	for _, r := range h.readers {
		if len(h.lost(r)) > 0 {
			return false
		}
	}
	return true
}
