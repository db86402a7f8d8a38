package group

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// announced publishes once from each of some peers of a large group, and counts
// notifies and polls. It returns how long the last peer waited.
func (c *cluster) announced(t *testing.T, ids, from []feedring.PeerID, within time.Duration) (notifies, polls int, longest time.Duration) {
	t.Helper()
	lost := c.loss
	c.loss = func(a, b feedring.PeerID, m Message) bool {
		if _, ok := m.(Notify); ok {
			notifies++
		}
		return lost != nil && lost(a, b, m)
	}
	c.polled = func(feedring.PeerID) { polls++ }
	for _, id := range from {
		ref := feedring.FeedRef{URL: c.nodes[id].feeds[0].URL, Publisher: id}
		before := len(c.nodes[id].store[ref])
		c.publish(id, ref.URL)
		began := c.now
		for c.lacking(ids, ref, before+1) > 0 && c.now.Sub(began) < within {
			c.run(time.Millisecond)
		}
		longest = max(longest, c.now.Sub(began))
		if n := c.lacking(ids, ref, before+1); n > 0 {
			t.Errorf("%d lack what %s published %s ago", n, id, within)
		}
		c.run(50 * time.Millisecond)
	}
	c.loss, c.polled = lost, nil
	return notifies, polls, longest
}

func (c *cluster) lacking(ids []feedring.PeerID, ref feedring.FeedRef, entries int) int {
	n := 0
	for _, id := range ids {
		if node := c.nodes[id]; node.up && len(node.store[ref]) < entries {
			n++
		}
	}
	return n
}

// FeedEx announces seven times for each bundle that is received; here it is at
// most three times for two, all peers together. In a group of this size no entry travels in
// a notify: it is sent where it is polled, on average no more than once to a peer, and at most twice.
func TestAnnouncementsInLargeGroup(t *testing.T) {
	c := newCluster(17)
	ids := c.group(161)
	c.run(3 * time.Second)
	count := c.sends()
	notifies, polls, longest := c.announced(t, ids, ids[:40], time.Second)
	received := 40 * (len(ids) - 1)
	t.Logf("%.2f notifies for each of %d entries received; the last after %s", float64(notifies)/float64(received), received, longest)
	if float64(notifies) > 1.5*float64(received) {
		t.Errorf("%d notifies for %d entries", notifies, received)
	}
	if most, _, all := count(); polls > received || most > 2 || all < received {
		t.Errorf("%d polls for %d entries, and one was sent %d times to one peer", polls, received, most)
	}
	if longest > 60*time.Millisecond {
		t.Errorf("the last peer waited %s", longest)
	}
}

// sends counts how often each entry is sent to each peer, in notifies and in answers to
// polls. The function that it returns gives the most for one entry and peer, how many were
// sent one more than once, and ends the count.
func (c *cluster) sends() func() (most, twice, all int) {
	type sent struct {
		to  feedring.PeerID
		ref feedring.FeedRef
		pos feedring.Position
	}
	counts := make(map[sent]int)
	c.brought = func(to feedring.PeerID, of feedring.FeedRef, e testEntry) { counts[sent{to, of, e.pos}]++ }
	c.sent = func(s Send) {
		if n, ok := s.Message.(Notify); ok && len(n.Answer) > 0 {
			counts[sent{s.To, n.Head.Feed, n.Head.Position}]++
		}
	}
	return func() (most, twice, all int) {
		c.brought, c.sent = nil, nil
		for _, n := range counts {
			if most = max(most, n); n > 1 {
				twice++
			}
			all += n
		}
		return most, twice, all
	}
}

// No entry is sent to any peer more than twice by all peers together, in notifies and in
// answers to polls: also where several publish at once, and where half of all notifies are
// lost, with what they carry.
func TestEntryIsSentTwiceAtMost(t *testing.T) {
	for _, size := range []int{9, 64, 100} {
		for _, lossy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,lossy=%t", size, lossy), func(t *testing.T) {
				c := newCluster(uint64(size))
				c.answers = true
				ids := c.group(size)
				c.run(3 * time.Second)
				if lossy {
					c.loss = func(_, _ feedring.PeerID, m Message) bool {
						_, ok := m.(Notify)
						return ok && c.rng.IntN(2) == 0
					}
				}
				count := c.sends()
				c.announced(t, ids, ids[:5], 2*time.Second)
				for _, id := range ids[:8] {
					c.publish(id, c.nodes[id].feeds[0].URL)
				}
				c.run(2 * time.Second)
				most, twice, all := count()
				received := (5 + 8) * (size - 1)
				t.Logf("%d sent for %d entries received; %d of them more than once, %d times at most", all, received, twice, most)
				if most > 2 || all < received {
					t.Errorf("an entry was sent %d times to one peer", most)
				}
			})
		}
	}
}

// Half of all notifies are lost: what the trees do not bring the beacons tell.
func TestHalfOfNotifiesLostInLargeGroup(t *testing.T) {
	c := newCluster(18)
	ids := c.group(120)
	c.run(3 * time.Second)
	c.loss = func(_, _ feedring.PeerID, m Message) bool {
		_, ok := m.(Notify)
		return ok && c.rng.IntN(2) == 0
	}
	_, _, longest := c.announced(t, ids, ids[:30], 2*time.Second)
	t.Logf("the last after %s", longest)
}

// A peer that tells nobody of anything takes nothing from others for long: who
// missed an entry because of it asks another neighbour, and is told by that one
// from then on.
func TestSilentForwarder(t *testing.T) {
	c := newCluster(19)
	ids := c.group(120)
	c.run(3 * time.Second)
	silent := map[feedring.PeerID]bool{}
	for i := 5; i < 120; i += 10 {
		silent[ids[i]] = true
	}
	c.loss = func(from, _ feedring.PeerID, m Message) bool {
		_, ok := m.(Notify)
		return ok && silent[from]
	}
	late := func() int {
		id := ids[0]
		ref := feedring.FeedRef{URL: c.nodes[id].feeds[0].URL, Publisher: id}
		c.publish(id, ref.URL)
		c.run(60 * time.Millisecond)
		n := c.lacking(ids, ref, len(c.nodes[id].store[ref]))
		c.run(time.Second)
		return n
	}
	first, last := late(), 0
	for range 4 {
		last = late()
	}
	t.Logf("%d were late at first, %d in the end", first, last)
	if first == 0 || last > 0 {
		t.Errorf("%d were late at first, %d in the end", first, last)
	}
}

// In a large group the driver is told which neighbours took much and gave nothing.
func TestBalancesAreReported(t *testing.T) {
	c := newCluster(20)
	ids := c.group(80)
	c.run(3 * time.Second)
	rider := ids[33]
	c.loss = func(from, _ feedring.PeerID, m Message) bool {
		_, ok := m.(Notify)
		return ok && from == rider
	}
	for _, id := range ids {
		for range 4 {
			c.publish(id, c.nodes[id].feeds[0].URL)
		}
		c.run(20 * time.Millisecond)
	}
	c.run(time.Second)
	if len(c.nodes[ids[0]].balances) == 0 {
		t.Fatal("nothing was told")
	}
	sum, others, first, told := 0, 0, 0, 0
	for _, id := range ids {
		for _, d := range c.nodes[id].balances {
			if d.Peer == rider {
				sum += d.Entries
				told++
				if d.Entries < slices.MaxFunc(c.nodes[id].balances, func(a, b Balance) int { return a.Entries - b.Entries }).Entries {
					first++
				}
			} else if id != rider {
				others += d.Entries
			}
		}
	}
	t.Logf("the rider owes %d to %d neighbours, %d of whom others owe more; all others %d", sum, told, first, others)
	if sum < 100 || first > told/3 {
		t.Errorf("the rider owes %d to %d neighbours, %d of whom others owe more", sum, told, first)
	}
	small := newCluster(21)
	few := small.group(5)
	small.run(3 * time.Second)
	small.step(small.nodes[few[0]], Served{To: few[1], Entries: 5})
	small.run(3 * time.Second)
	if m := small.nodes[few[0]]; m.balances != nil || m.m.linked() != nil {
		t.Error("a small group counts")
	}
}
