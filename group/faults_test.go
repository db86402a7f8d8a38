package group

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var (
	faultSeeds = flag.Int("seeds", 200, "how many random runs TestFaults makes; thousands after a change of the rules")
	faultSeed  = flag.Uint64("seed", 0, "the only run that TestFaults makes, with its trace")
)

// TestFaults runs small groups through crashes, stops, partitions, loss and
// leaving, checks the safety rules after every step, and then that they agree.
func TestFaults(t *testing.T) {
	if *faultSeed != 0 {
		c := newCluster(*faultSeed)
		c.answers = *faultSeed%2 == 1
		c.trace = func(f string, args ...any) {
			fmt.Printf("%7.3f %s\n", c.now.Sub(testStart).Seconds(), fmt.Sprintf(f, args...))
		}
		if err := faultRun(c); err != nil {
			t.Fatal(err)
		}
		return
	}
	bad, slow := 0, 0
	for seed := range uint64(*faultSeeds) {
		c := newCluster(seed + 1)
		c.answers = seed%2 == 0
		err := faultRun(c)
		if c.slow {
			slow++
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
			if bad++; bad == 5 {
				return
			}
		}
	}
	if slow > 1+*faultSeeds/200 {
		t.Errorf("L1: in %d of %d runs there was no one manager by 3r", slow, *faultSeeds)
	}
}

// witness watches the safety rules.
type witness struct {
	c        *cluster
	accepted map[feedring.PeerID]feedring.Term
	served   map[feedring.Term]string
	err      error
}

func (w *witness) look() {
	for _, n := range w.c.nodes {
		if !n.up || w.err != nil {
			continue
		}
		m := n.m
		if m.disk.Term.Compare(w.accepted[n.id]) < 0 {
			w.fail("S1: %s fell from %v to %v", n.id, w.accepted[n.id], m.disk.Term)
		}
		w.accepted[n.id] = m.disk.Term
		if m.lead.serving && !n.departed {
			who := fmt.Sprintf("%s in life %d", n.id, n.life)
			if was := w.served[m.lead.claim.Term]; was != "" && was != who || m.manager() != n.id {
				w.fail("S2: %v is served by %s and %s", m.lead.claim.Term, was, who)
			}
			w.served[m.lead.claim.Term] = who
		}
		if m.lead.claim.Term.Compare(m.disk.Term) < 0 && m.lead.claim.Term != (feedring.Term{}) {
			w.fail("S4: %s obeys %v below %v", n.id, m.lead.claim.Term, m.disk.Term)
		}
		lookups, _ := m.placer.Lookups("")
		if m.timers.Len() > 60 || len(m.probes) > maxProbes || len(m.members) > 10 || len(m.replicator.Heads) > 20 || lookups > 0 {
			w.fail("S12: %s keeps %d alarms, %d probes, %d members", n.id, m.timers.Len(), len(m.probes), len(m.members))
		}
	}
}

func (w *witness) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %s", w.c.now.Sub(testStart), fmt.Sprintf(format, args...))
	}
}

// holders checks S9: up to its head, a peer has every entry seen after its mark.
func (w *witness) holders() {
	for _, n := range w.c.alives() {
		row := n.m.me().row
		mark := row.From
		if fresh := w.c.now.Add(-24 * time.Hour); mark.Before(fresh) {
			mark = fresh
		}
		for _, p := range w.c.ids() {
			for ref, entries := range w.c.nodes[p].store {
				if ref.Publisher != p || slices.Contains(row.Backfilling, ref) {
					continue
				}
				have := map[feedring.Position]bool{}
				for _, e := range n.store[ref] {
					have[e.pos] = true
				}
				for _, e := range entries {
					if e.seen.After(mark) && e.pos.Compare(n.head(ref).Position) <= 0 && !have[e.pos] {
						w.fail("S9: %s lacks %v of %v", n.id, e.pos, ref)
					}
				}
			}
		}
	}
}

func faultRun(c *cluster) error {
	w := &witness{c: c, accepted: map[feedring.PeerID]feedring.Term{}, served: map[feedring.Term]string{}}
	c.check = w.look
	c.delay = func() time.Duration {
		if c.rng.IntN(50) == 0 {
			return time.Duration(c.rng.IntN(300)) * time.Millisecond
		}
		return time.Duration(1+c.rng.IntN(10)) * time.Millisecond
	}
	ids := c.group(2 + c.rng.IntN(5))
	loss := 0.0
	c.loss = func(feedring.PeerID, feedring.PeerID, Message) bool { return c.rng.Float64() < loss }
	c.at(0, c.gossip)
	for range 12 {
		c.fault(ids, &loss)
		c.run(time.Duration(c.rng.IntN(2000)) * time.Millisecond)
		if w.holders(); w.err != nil {
			return w.err
		}
	}
	return c.agree(w, ids, &loss)
}

// agree stops all faults and checks that the group comes together again.
func (c *cluster) agree(w *witness, ids []feedring.PeerID, loss *float64) error {
	*loss = 0
	c.heal()
	for _, id := range ids {
		c.revive(id)
	}
	c.tracef("--- faults stop")
	const r = time.Second
	if !slices.ContainsFunc(c.alives(), func(n *testNode) bool { return n.m.manager() != "" }) {
		c.run(3 * r) // all started again at once: they look for the group for 2r
	}
	c.run(3 * r)
	if len(c.duplicates) > 0 {
		return fmt.Errorf("%s report a duplicate identity", c.duplicates)
	}
	lead, err := c.leader()
	if err != nil {
		// The last fault may have left only peers that doubt themselves, or
		// that followed somebody who started again as well.
		c.slow = true
		c.run(r)
		if lead, err = c.leader(); err != nil {
			return fmt.Errorf("L1: %w", err)
		}
	}
	c.run(r)
	second := c.nodes[lead].m.lead.secondary
	if len(ids) > 1 && second == "" {
		return fmt.Errorf("L1: no secondary\n%s", c.state())
	}
	c.run(r)
	if err := c.sameHeads(); err != nil {
		return err
	}
	for range 20 {
		c.run(r)
		if again, err := c.leader(); err != nil || again != lead || c.nodes[lead].m.lead.secondary != second {
			return fmt.Errorf("L1: did not last: %s, secondary %s: %w\n%s", again, second, err, c.state())
		}
	}
	for _, n := range c.alives() {
		if v := n.m.View(); len(v.Members) != len(ids) || len(v.Away) > 0 || !v.Settled {
			return fmt.Errorf("%s sees %d members of %d, away %v, settled %v: %v %v", n.id, len(v.Members), len(ids), v.Away, v.Settled, n.m.lead, n.m.me().row)
		}
		if len(n.m.me().row.Backfilling) > 0 || n.m.replicator.Backfills != 0 || len(n.m.replicator.Polls.InFlight)+len(n.m.replicator.Polls.Waiting) != 0 {
			return fmt.Errorf("%s still backfills: %v", n.id, n.m.me().row.Backfilling)
		}
	}
	w.holders()
	return w.err
}

func (c *cluster) sameHeads() error {
	for _, p := range c.alives() {
		for ref := range p.store {
			if ref.Publisher != p.id || p.head(ref).Position.IsZero() {
				continue
			}
			for _, n := range c.alives() {
				if n.head(ref).Position != p.head(ref).Position {
					return fmt.Errorf("L2: %s holds %v of %v, not %v", n.id, n.head(ref).Position, ref, p.head(ref).Position)
				}
			}
		}
	}
	return nil
}

func (c *cluster) revive(id feedring.PeerID) {
	n := c.nodes[id]
	switch {
	case n.up && n.paused && !n.departed && !n.m.leaving:
		c.tracef("--- %s goes on", id)
		c.resume(id)
	case !n.up || n.departed || n.m.leaving:
		c.tracef("--- %s starts again", id)
		c.start(id)
		var via []feedring.PeerID
		for _, o := range c.ids() {
			if o != id {
				via = append(via, o)
			}
		}
		c.rng.Shuffle(len(via), func(i, j int) { via[i], via[j] = via[j], via[i] })
		c.step(n, Enter{Via: via})
	}
}

func (c *cluster) fault(ids []feedring.PeerID, loss *float64) {
	id := ids[c.rng.IntN(len(ids))]
	n := c.nodes[id]
	switch c.rng.IntN(10) {
	case 0, 1:
		c.tracef("--- %s crashes", id)
		c.crash(id)
	case 2, 3:
		c.revive(id)
	case 4:
		if n.up {
			c.tracef("--- %s stops", id)
			n.paused = true
		}
	case 5:
		k := c.rng.IntN(len(ids))
		shuffled := slices.Clone(ids)
		c.rng.Shuffle(len(ids), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		c.tracef("--- partition %v %v", shuffled[:k], shuffled[k:])
		c.split(shuffled[:k], shuffled[k:])
	case 6:
		c.tracef("--- heals")
		c.heal()
	case 7:
		*loss = []float64{0, 0.1, 0.5}[c.rng.IntN(3)]
		c.tracef("--- loss %v", *loss)
	case 8:
		if n.up && !n.paused && !n.departed {
			c.tracef("--- %s departs", id)
			c.step(n, Depart{})
		}
	}
	for range c.rng.IntN(4) {
		if p := c.nodes[ids[c.rng.IntN(len(ids))]]; p.up && !p.paused && !p.departed {
			c.publish(p.id, p.feeds[0].URL)
		}
	}
}

// gossip is the ring's map: managers hear of each other.
func (c *cluster) gossip() {
	c.at(300*time.Millisecond, c.gossip)
	for _, a := range c.alives() {
		for _, b := range c.alives() {
			if a != b && b.m.lead.serving && c.reach(a.id, b.id) && c.reach(b.id, a.id) {
				c.step(a, Rival{Term: b.m.lead.claim.Term, Acknowledged: b.m.accepted(), Peers: []feedring.PeerID{b.id}})
			}
		}
	}
}
