package admission

import (
	"maps"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// place is how a member got into the catalogue.
type place struct {
	prefix standing.Prefix
	told   feedring.PeerID // the member that alone told of it; empty: it spoke, or the manager told
}

// accounts sum up what the catalogue holds of peers with a prefix, and on whose word.
type accounts struct {
	strange int // bytes of rows
	told    map[feedring.PeerID]int
}

func newAccounts() accounts { return accounts{told: map[feedring.PeerID]int{}} }

func (a *accounts) clone() accounts { return accounts{a.strange, maps.Clone(a.told)} }

// replace counts a row of so many bytes in place of one of was; 0: there was none, or
// there is none any more.
func (a *accounts) replace(p place, was, size int) {
	if p.prefix != "" {
		a.strange += size - was
	}
}

// leave counts what a peer out of the catalogue had.
func (a *accounts) leave(p place, size int) {
	a.replace(p, size, 0)
	if p.told == "" {
		return
	}
	if a.told[p.told]--; a.told[p.told] <= 0 {
		delete(a.told, p.told)
	}
}

// Bounds of the rows of unvouched peers with a prefix, together.
const (
	maxStrange  = 32 << 20
	pressed     = maxStrange / 2
	eachPressed = maxStrange / 8 / 16 // a key's share of what new peers are guaranteed
)

// fits reports whether a row of so many bytes of an unvouched peer may replace one of was.
// Where half of the room is taken, each peer has its share.
func (a *accounts) fits(p place, was, size int) bool {
	switch rest := a.strange - was; {
	case p.prefix == "" || rest+size <= pressed:
		return true
	case rest+size > maxStrange:
		return false
	}
	return size <= eachPressed
}

// maxTold bounds the rows that a catalogue takes on the word of members, of peers that
// it never heard.
const maxTold = 4096

// tell takes one more row on the word of a member, or reports that it does not: the word
// of who is new counts nothing.
func (a *accounts) tell(by feedring.PeerID, of standing.Class) bool {
	all := 0
	for _, n := range a.told {
		all += n
	}
	if of < standing.Settled || all >= maxTold || a.told[by] >= of.Each(maxTold) {
		return false
	}
	a.told[by]++
	return true
}
