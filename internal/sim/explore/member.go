package explore

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fingerprint"
)

// present is when everything happens to a machine: what passes is taken from
// what it remembers.
var present = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

const (
	theme = feedring.Theme("news")
	// refresh is r, so that a unit of time is a second.
	refresh = unitsPerRefresh * time.Second
	unit    = refresh / unitsPerRefresh
	// nonces is how many intentions of a peer differ by their nonces.
	nonces = 2
)

// Group is the machine of package group, as it ships.
type Group struct{}

// Start lets the first peer found and the others join it.
func (Group) Start(n int) (peers []Peer, sent [][]Sent) {
	hasher := fingerprint.NewHasher()
	for i := range n {
		var in group.Input = group.Establish{}
		if i > 0 {
			in = group.Enter{Via: []feedring.PeerID{idOf(0)}}
		}
		p, out := (&member{n: n, index: i, hasher: hasher}).begin(in)
		peers, sent = append(peers, p), append(sent, out)
	}
	return peers, sent
}

func idOf(i int) feedring.PeerID { return feedring.PeerID(rune('a' + i)) }

func indexOf(id feedring.PeerID) int {
	if id == "" {
		return -1
	}
	return int(id[0] - 'a')
}

// member is a peer with a machine and a disk.
type member struct {
	n, index int
	hasher   *fingerprint.Hasher // of all peers of an exploration
	machine  *group.Machine      // nil: it is down
	disk     group.State
	writing  *group.State // what is on its way to the disk
	chance   uint64       // how many intentions it had, modulo nonces
	role     feedring.Role
	term     feedring.Term
	hash     uint64
}

// begin starts the peer with what is on its disk.
func (p *member) begin(in group.Input) (Peer, []Sent) {
	m, err := group.New(group.Config{
		Theme: theme, Self: idOf(p.index), Refresh: refresh, Attempts: 3, Freshness: 24 * time.Hour,
	}, p.disk, present)
	if err != nil {
		panic("explore: " + err.Error()) // the configuration is fixed above
	}
	next := &member{n: p.n, index: p.index, hasher: p.hasher, machine: m, disk: p.disk, chance: p.chance}
	return next.step(group.Holding{}, group.Describe{}, in)
}

// step hands ins to the machine, which is the member's own.
func (p *member) step(ins ...group.Input) (Peer, []Sent) {
	var sent []Sent
	intends := false
	for _, in := range ins {
		for _, out := range p.machine.Step(present, in) {
			switch o := out.(type) {
			case *group.Send:
				msg := o.Message
				if i, ok := msg.(group.Intention); ok {
					i.Elapsed, intends = 0, true // nobody reads it
					msg = i
				}
				if to := indexOf(o.To); to >= 0 && to < p.n {
					sent = append(sent, Sent{To: to, Message: newLetter(msg.(group.Message), p.hasher)})
				}
			case group.Persist:
				state := o.State
				p.writing = &state
				sent = append(sent, Sent{To: p.index, Message: written{}})
			}
		}
	}
	if intends {
		p.chance = (p.chance + 1) % nonces
	}
	p.role, p.term = p.machine.Status()
	p.settle(0)
	return p, sent
}

// settle ends a change: nothing in the member changes any more.
func (p *member) settle(by time.Duration) {
	p.machine.Rebase(by, p.chance)
	p.hash = mix(p.hasher.Of(p.machine) ^ mix(p.diskHash()+p.chance))
}

func (p *member) diskHash() uint64 {
	h := hashState(p.disk)
	if p.writing != nil {
		h = mix(h) ^ hashState(*p.writing)
	}
	return h
}

func hashState(s group.State) uint64 {
	h := uint64(indexOf(s.Term.Claimant) + 1)
	for _, n := range []uint64{s.Term.Number, s.Highest, s.Incarnation, uint64(s.From.Unix())} {
		h = mix(h ^ n)
	}
	return h
}

// branch returns a copy whose machine may be changed.
func (p *member) branch() *member {
	c := *p
	c.machine = p.machine.Clone()
	return &c
}

func (p *member) Hash() uint64 { return p.hash }
func (p *member) Up() bool     { return p.machine != nil }

func (p *member) Status() Status {
	return Status{Manager: indexOf(p.term.Claimant), Serving: p.role == feedring.RoleManager}
}

func (p *member) String() string {
	return fmt.Sprintf("%s of %d.%s", p.role, p.term.Number, p.term.Claimant)
}

func (p *member) Due() bool {
	if p.machine == nil {
		return false
	}
	at := p.machine.Deadline()
	return !at.IsZero() && !at.After(present)
}

func (p *member) Fire() (Peer, []Sent) { return p.branch().step(group.Tick{}) }

func (p *member) Elapse() Peer {
	c := p.branch()
	c.settle(unit)
	return c
}

func (p *member) Receive(from int, msg Message) (Peer, []Sent) {
	c := p.branch()
	if l, ok := msg.(*letter); ok {
		return c.step(group.Receive{From: idOf(from), Message: l.msg})
	}
	c.disk, c.writing = *p.writing, nil
	return c.step(group.Persisted{})
}

// Crash leaves what is on the disk, with or without what was being written.
func (p *member) Crash() []Peer {
	states := []group.State{p.disk}
	if p.writing != nil {
		states = append(states, *p.writing)
	}
	var after []Peer
	for _, s := range states {
		c := &member{n: p.n, index: p.index, hasher: p.hasher, disk: s, chance: p.chance}
		c.hash = mix(mix(c.diskHash()+p.chance) ^ uint64(p.index+1)<<56)
		after = append(after, c)
	}
	return after
}

// Restart makes the peer join through all others.
func (p *member) Restart() (Peer, []Sent) {
	var via []feedring.PeerID
	for i := range p.n {
		if i != p.index {
			via = append(via, idOf(i))
		}
	}
	return p.begin(group.Enter{Via: via})
}

func (p *member) Rival(other Peer) (Peer, []Sent) {
	v := other.(*member).machine.Clone().View()
	return p.branch().step(group.Rival{Term: v.Term, Acknowledged: v.Acknowledged, Peers: []feedring.PeerID{v.Self}})
}
