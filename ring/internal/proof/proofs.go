package proof

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// Proofs is what one peer knows of the groups of its map by itself, and what it asks. The
// zero value is that of a peer that heard nobody.
type Proofs struct {
	Places  Places
	Waiting Waiting
	Unheard Unheard
}

// Question asks a peer for its rows of some groups.
type Question struct {
	To     feedring.PeerInfo // without addresses: those are known
	Groups []feedring.GroupID
}

// Forget gives up what nobody answered, and what is settled otherwise: rows that are known
// by now, and groups that are not led by whom this peer took for their leaders. It returns
// the groups of the map that nobody answered for.
func (p *Proofs) Forget(now time.Time, known func(*ringmap.Row) bool, leads func(feedring.GroupID, feedring.PeerID) bool) (unanswered []feedring.GroupID) {
	p.Waiting.forget(now, known)
	return p.Unheard.forget(now, leads)
}

// Questions returns whom to ask now: the claimants. Each is asked again after pause.
func (p *Proofs) Questions(now time.Time, pause time.Duration) []Question {
	p.Waiting.stirred = false
	return append(p.Waiting.questions(now, pause), p.Unheard.questions(now, pause)...)
}

// Sought returns the groups for which others are to be asked in place of the claimants. Who
// believes others asks nobody else.
func (p *Proofs) Sought(now time.Time, pause time.Duration) []feedring.GroupID {
	p.Waiting.stirred, p.Unheard = false, Unheard{}
	return p.Waiting.sought(now, pause)
}

// Due is when there is something to ask or to forget; zero: never.
func (p *Proofs) Due(now time.Time) (at time.Time) {
	if p.Waiting.stirred {
		return now
	}
	earlier := func(next time.Time) {
		if at.IsZero() || next.Before(at) {
			at = next
		}
	}
	for _, c := range p.Waiting.all {
		if c.chosen {
			earlier(c.next)
		}
	}
	for _, it := range p.Unheard.all {
		if it.next.IsZero() {
			return now
		}
		earlier(it.next)
	}
	return at
}

// Clone returns a copy that changes apart from p.
func (p *Proofs) Clone() Proofs {
	return Proofs{Places: p.Places.clone(), Waiting: p.Waiting.clone(), Unheard: p.Unheard.clone()}
}
