package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/mesh"
	"github.com/feedring/feedring/internal/clone"
)

// roster is the members of the group as this peer knows them, itself included.
type roster struct {
	owner   feedring.PeerID
	members map[feedring.PeerID]*member
	self    *member `state:"derived"` // of members
	changes uint64  // of rows and loads, for the secondary
	expired map[feedring.PeerID]RowVersion

	cachedIndex *catalogue.Index `state:"derived"` // see index; nil: to be made
	sum         *uint64          `state:"derived"` // see catalogueHash; nil: to be made
}

// member is what this peer knows of a peer of the group.
type member struct {
	row   *Row // never changed, only replaced
	hash  uint64
	first time.Time // when this peer first knew it: nobody's word counts here

	// Of the manager and, by its refreshes, of the secondary.
	heard   time.Time  // the last sign of life
	acked   bool       // it follows the present term
	away    bool       // not there for lookups
	since   time.Time  // when away, or the row's Left, began
	changed uint64     // when row or load changed, in Machine.changes
	rare    *rareState // nil: nothing of it
}

// rareState is what most members never give cause for. It is apart, since a peer knows up to thousands of members.
type rareState struct {
	probed time.Time // the last beacon to a peer that is away
	unfit  time.Time // when it asked not to be secondary
	wanted time.Time // when rows were last asked of it
	staled time.Time // when it was last told that its term is over
}

// past returns what was noted by note.
func (mem *member) past() rareState {
	if mem.rare == nil {
		return rareState{}
	}
	return *mem.rare
}

func (mem *member) note() *rareState {
	if mem.rare == nil {
		mem.rare = &rareState{}
	}
	return mem.rare
}

func newRoster(owner feedring.PeerID) roster {
	return roster{owner: owner, members: map[feedring.PeerID]*member{}, expired: map[feedring.PeerID]RowVersion{}}
}

func (r *roster) clone() roster {
	c := *r
	c.members, c.expired, c.cachedIndex, c.sum = clone.Map(r.members), maps.Clone(r.expired), nil, nil
	for _, mem := range c.members {
		if mem.rare != nil {
			rare := *mem.rare
			mem.rare = &rare
		}
	}
	c.self = c.members[r.owner]
	return c
}

// add takes this peer in.
func (r *roster) add(self *member) { r.self, r.members[r.owner] = self, self }

func (r *roster) me() *member { return r.self }

// forgetIndex forgets what is derived from who is there.
func (r *roster) forgetIndex() { r.cachedIndex, r.sum = nil, nil }

// catalogueHash is of the versions of all rows of peers that are there: those
// that left or are away are forgotten at different times by different peers.
func (r *roster) catalogueHash() uint64 {
	if r.sum == nil {
		var sum uint64
		for _, mem := range r.members {
			if !mem.row.Left && !mem.away {
				sum += mem.hash
			}
		}
		r.sum = &sum
	}
	return *r.sum
}

// versions lists what this peer holds, in order.
func (r *roster) versions() []RowVersion {
	have := make([]RowVersion, 0, len(r.members))
	for _, p := range slices.Sorted(maps.Keys(r.members)) {
		have = append(have, catalogue.VersionOf(r.members[p].row))
	}
	return have
}

func (r *roster) rowsOf(peers []feedring.PeerID) []*Row {
	var rows []*Row
	for _, p := range peers {
		if mem := r.members[p]; mem != nil {
			rows = append(rows, mem.row)
		}
	}
	return rows
}

// index is what follows from the rows as they are.
func (r *roster) index() *catalogue.Index {
	if r.cachedIndex == nil {
		rows := make([]*Row, 0, len(r.members))
		for _, mem := range r.members {
			rows = append(rows, mem.row)
		}
		r.cachedIndex = catalogue.NewIndex(r.owner, rows, func(p feedring.PeerID) bool { return r.members[p].away })
	}
	return r.cachedIndex
}

// everybody lists all peers but this one that have not left, in order of rank, those that are away included.
func (r *roster) everybody() []feedring.PeerID { return r.index().Others }

// present lists all of everybody that are not away.
func (r *roster) present() []feedring.PeerID { return r.index().Present }

// large says that the group spreads messages over a mesh.
func (r *roster) large() bool { return mesh.Needed(len(r.present())) }

// matches lists the feeds of the catalogue whose provider is the asked one, feeds of peers that are away included.
func (r *roster) matches(provider string) []catalogue.Publication {
	return r.index().Matches(provider)
}

// ahead counts the peers that are there and before this one in rank, some left out.
func (r *roster) rankBefore(but ...feedring.PeerID) int {
	n, own := r.index().Ahead, r.me().row
	for i, p := range but {
		mem := r.members[p]
		if mem != nil && !mem.away && !mem.row.Left && !slices.Contains(but[:i], p) && catalogue.CompareRank(mem.row, own) < 0 {
			n--
		}
	}
	return n
}
