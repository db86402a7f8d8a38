package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// Limits of the exchange of maps.
const (
	maxMet      = 64 // peers remembered though no row names them
	maxPulls    = 64 // exchanges under way
	maxRowsEach = 1000
	// A message is at most 4 MiB on the wire: with what is wanted and one group
	// more it stays below.
	maxBytesEach = 1 << 20
	fanout       = 4                     // whom news is pushed to
	pushPause    = 20 * time.Millisecond // between pushes, so that a storm of joins is bundled
	meetAtOnce   = 3
)

// gossip is the state of the exchanges: push-pull in even time, and news at
// once. Push alone misses 5 % of the peers at N = 20.
type gossip struct {
	next   time.Time
	rounds uint64
	met    []feedring.PeerID
	synced bool
	pulls  map[feedring.PeerID][]feedring.GroupID // what was asked of whom
	news   map[feedring.GroupID]feedring.PeerID   // from whom it came
	pushed time.Time
	last   time.Time // when anybody was heard
	heard  map[feedring.PeerID]heard
	swept  time.Time // when the old ones were last dropped from heard
}

func newGossip() gossip {
	return gossip{pulls: map[feedring.PeerID][]feedring.GroupID{}, news: map[feedring.GroupID]feedring.PeerID{},
		heard: map[feedring.PeerID]heard{}}
}

// interval is r/3 for peers that the ring depends on or that still look for a
// map, and r for the others.
func (m *Machine) interval() time.Duration {
	if len(m.entries) > 0 || !m.gossip.synced && len(m.gossip.met) > 0 || m.isSecondary() {
		return m.cfg.Refresh / 3
	}
	return m.cfg.Refresh
}

func (m *Machine) isSecondary() bool {
	_, leads := slices.BinarySearch(m.ringMap.Leaders().Present, m.cfg.Self)
	return leads && m.ringMap.IsSecondary(m.cfg.Self)
}

// meet swaps maps with peers that somebody named, at once with some of them.
func (m *Machine) meet(peers []feedring.PeerID) {
	swaps := 0
	for _, p := range peers {
		if !m.gossip.synced && p != "" && len(m.points) < maxPoints && !slices.Contains(m.points, p) {
			m.points = append(m.points, p)
		}
		if p == "" || p == m.cfg.Self || slices.Contains(m.gossip.met, p) && m.gossip.synced {
			continue
		}
		m.remember(p)
		if swaps++; swaps <= meetAtOnce {
			m.send(p, m.swap())
		}
	}
}

func (m *Machine) remember(p feedring.PeerID) {
	switch {
	case p == m.cfg.Self || slices.Contains(m.gossip.met, p):
	case len(m.gossip.met) < maxMet:
		m.gossip.met = append(m.gossip.met, p)
	default:
		m.gossip.met[m.random.IntN(maxMet)] = p
	}
}

// gossipDue opens the exchanges of one round.
func (m *Machine) gossipDue() {
	if m.now.Before(m.gossip.next) {
		return
	}
	m.gossip.next = m.now.Add(m.interval())
	m.gossip.rounds++
	m.ringMap.Expire(m.now)
	m.findUnheard()
	m.forgetIncumbents()
	clear(m.gossip.pulls)
	swap := m.swap()
	partner := m.partner()
	if partner != "" {
		m.sendAs(partner, swap, m.gossip.rounds%4 == 0)
	}
	for _, p := range m.probe() {
		if p != partner {
			m.sendAs(p, swap, true)
		}
	}
}

// swap opens an exchange. One who looks for a map needs all of it.
func (m *Machine) swap() Swap {
	return Swap{Hash: m.ringMap.Hash(m.now), Parts: m.gossip.synced && m.ringMap.Large(m.now)}
}

// partner chooses the peer to swap maps with: mostly a manager or secondary of the map.
// Every fourth time it is a peer met elsewhere or lost: otherwise two halves of a
// network that marked each other lost would never meet again.
func (m *Machine) partner() feedring.PeerID {
	if m.gossip.rounds%4 == 0 {
		if p := m.anyMet(slices.Concat(m.absent(), m.gossip.met)); p != "" {
			return p
		}
	}
	if p := m.anyOf(m.present(), m.proofs.Places.OfPrefix); p != "" {
		return p
	}
	return m.anyMet(slices.Concat(m.gossip.met, m.absent()))
}

// anyMet draws one of peers that the map does not place: each prefix has as many as are there.
func (m *Machine) anyMet(peers []feedring.PeerID) feedring.PeerID {
	of := map[standing.Prefix]int{}
	for _, p := range peers {
		of[m.gossip.heard[p].prefix]++
	}
	return m.anyOf(peers, func(prefix standing.Prefix) int { return of[prefix] })
}

// draws is how many peers are looked at for one that is drawn by prefix.
const draws = 64

// anyOf draws one of peers so that each prefix is as likely as a peer without one, however many
// keys it has: a peer of a prefix with n of them is taken once in n times that it is met.
func (m *Machine) anyOf(peers []feedring.PeerID, of func(standing.Prefix) int) (p feedring.PeerID) {
	if len(peers) == 0 {
		return ""
	}
	for range draws {
		p = peers[m.random.IntN(len(peers))]
		prefix := m.gossip.heard[p].prefix
		if n := of(prefix); prefix == "" || n < 2 || m.random.IntN(n) == 0 {
			return p
		}
	}
	return p
}

// present returns the managers and secondaries of the ring but this peer,
// absent those of groups that are not reached. The results must not be changed.
func (m *Machine) present() []feedring.PeerID {
	return m.leading.but(m.cfg.Self, m.ringMap.Leaders().Present)
}

func (m *Machine) absent() []feedring.PeerID {
	return m.unreached.but(m.cfg.Self, m.ringMap.Leaders().Absent)
}

// withoutSelf remembers a list without this peer: few are on one.
type withoutSelf struct{ of, others []feedring.PeerID }

func (b *withoutSelf) but(self feedring.PeerID, of []feedring.PeerID) []feedring.PeerID {
	if len(of) == 0 {
		return of
	}
	if !sameList(b.of, of) {
		b.of, b.others = of, of
		if i, here := slices.BinarySearch(of, self); here {
			b.others = slices.Concat(of[:i], of[i+1:])
		}
	}
	return b.others
}

// others lists the peers of groups but this one, in order.
func (m *Machine) others(groups []feedring.GroupID) []feedring.PeerID {
	all := make([]feedring.PeerID, 0, 2*len(groups))
	for _, g := range groups {
		all = m.ringMap.At(g).Effective().Row.Leaders(all)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(p feedring.PeerID) bool { return p == m.cfg.Self })
}

// onSwap answers an exchange that another peer opened.
func (m *Machine) onSwap(from feedring.PeerID, s Swap) {
	m.remember(from)
	answer := Versions{Hash: m.ringMap.Hash(m.now)}
	switch {
	case s.Hash == answer.Hash:
	case s.Parts && m.ringMap.Large(m.now):
		answer.Parts = m.ringMap.Parts(m.now)
	default:
		answer.Have = m.ringMap.Versions(m.now)
	}
	m.send(from, answer)
}
