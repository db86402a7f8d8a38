package charter

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// skew is how far the clocks of two peers may be apart: a statement is good so long
// before the time from which it is valid.
const skew = 10 * time.Minute

// MaxRoll is how many statements a roll holds beside removals.
const MaxRoll = 10_000

// Roll is the statements about a network's members. It is never changed, so it may
// be used concurrently: Merge makes another.
type Roll struct {
	charter     *Charter
	statements  map[ID]Statement
	grants      map[feedring.PeerID][]grant
	expelled    map[feedring.PeerID][]ID // expulsions that end a credential of the peer
	credentials map[feedring.PeerID][]*Credential
	expulsions  map[feedring.PeerID][]*Expulsion // that stand, of each subject
	removals    map[Target][]*Removal            // that are in force, of each folded target
	hash, whole ID
}

// grant is what one chain gives its subject, and when.
type grant struct {
	rights      Rights
	from, until time.Time
	chain       []ID // from the subject to a root
}

func (g *grant) holds(now time.Time) bool {
	return !now.Before(g.from.Add(-skew)) && now.Before(g.until)
}

// NewRoll returns an empty roll.
func NewRoll(c *Charter) *Roll {
	r := &Roll{charter: c, statements: make(map[ID]Statement)}
	r.judge()
	return r
}

// Merge returns a roll with what is new of more, too, and without what ended before
// now; itself, if that is the same. What no root stands behind is left out, and so are
// removals dated ahead, which would outlive the right that they were signed by. It is
// commutative, associative and idempotent: of too many statements all rolls keep
// the same.
func (r *Roll) Merge(more []Statement, now time.Time) *Roll {
	union := maps.Clone(r.statements)
	for _, s := range more {
		if !s.ends().Before(now) && (s.Removal == nil || !s.Removal.At.After(now.Add(skew))) {
			union[s.ID()] = s
		}
	}
	r.shrink(union, now)
	if len(union) == len(r.statements) && !slices.ContainsFunc(more, func(s Statement) bool {
		_, had := r.statements[s.ID()]
		_, has := union[s.ID()]
		return has && !had
	}) {
		return r
	}
	next := &Roll{charter: r.charter, statements: union}
	next.judge()
	return next
}

// shrink takes out what may not be in a roll.
func (r *Roll) shrink(union map[ID]Statement, now time.Time) {
	lifted := make(map[ID]bool) // expulsions that are held
	admins := make(map[feedring.PeerID]Rights)
	for id, s := range union {
		if s.Expulsion != nil {
			lifted[id] = true
		} else if s.Credential != nil && r.isRoot(s.Credential.Seal.Signer) {
			admins[s.Credential.Subject] |= s.Credential.Rights
		}
	}
	maps.DeleteFunc(union, func(_ ID, s Statement) bool {
		is := s.about()
		return !r.isRoot(is.seal.Signer) && !admins[is.seal.Signer].Has(is.needs) || is.ends.Before(now) &&
			(s.Credential == nil || !slices.ContainsFunc(s.Credential.Lifts, func(id ID) bool { return lifted[id] }))
	})
	r.fit(union)
}

// sorted puts first what a full roll keeps: what roots signed, then expulsions, then
// what is valid longest.
func (r *Roll) sorted(union map[ID]Statement) []Statement {
	rank := func(s Statement) int {
		switch {
		case r.isRoot(s.Seal().Signer):
			return 0
		case s.Expulsion != nil:
			return 1
		case s.Credential != nil:
			return 2
		}
		return 3
	}
	type placed struct {
		is   Statement
		ends time.Time
		id   ID
		rank int
	}
	order := make([]*placed, 0, len(union)) // of pointers, sorting has no code of its own: 20 kB
	for id, s := range union {
		order = append(order, &placed{s, s.ends(), id, rank(s)})
	}
	slices.SortFunc(order, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), b.ends.Compare(a.ends), bytes.Compare(a.id[:], b.id[:]))
	})
	list := make([]Statement, len(order))
	for i := range order {
		list[i] = order[i].is
	}
	return list
}

// ByRoot and ByAdmin report whether statements of a signer may be part of the roll.
func (r *Roll) ByRoot(signer feedring.PeerID) bool { return r.isRoot(signer) }

// ByAdmin is for those who are no root.
func (r *Roll) ByAdmin(signer feedring.PeerID) bool {
	return !r.isRoot(signer) && (r.isAdmin(signer) || r.rootGave(signer, Moderate))
}

func (r *Roll) isRoot(id feedring.PeerID) bool { return slices.Contains(r.charter.Roots, id) }

// judge works out what the statements come to.
func (r *Roll) judge() {
	r.credentials, r.grants = make(map[feedring.PeerID][]*Credential), make(map[feedring.PeerID][]grant)
	ids := slices.SortedFunc(maps.Keys(r.statements), func(a, b ID) int { return bytes.Compare(a[:], b[:]) })
	sum, whole := sha256.New(), sha256.New()
	for _, id := range ids {
		whole.Write(id[:])
		if r.statements[id].Removal == nil {
			sum.Write(id[:])
		}
		if c := r.statements[id].Credential; c != nil {
			r.credentials[c.Subject] = append(r.credentials[c.Subject], c)
		}
	}
	copy(r.hash[:], sum.Sum(nil))
	copy(r.whole[:], whole.Sum(nil))
	r.expulsions, r.expelled = r.stand(ids), make(map[feedring.PeerID][]ID)
	for _, id := range ids {
		if c := r.statements[id].Credential; c != nil {
			r.grant(id, c)
		}
	}
	r.judgeRemovals(ids)
}

// grant adds what a credential gives.
func (r *Roll) grant(id ID, c *Credential) {
	for _, e := range r.expulsions[c.Subject] {
		if !r.lifted(e, c.NotBefore) {
			r.expelled[c.Subject] = append(r.expelled[c.Subject], IDOf(e.Seal))
			return
		}
	}
	if r.isRoot(c.Seal.Signer) {
		r.grants[c.Subject] = append(r.grants[c.Subject], grant{c.Rights & all, c.NotBefore, c.Expires, []ID{id}})
		return
	}
	if r.ended(id, c.Seal.Signer, c.NotBefore) {
		return
	}
	for _, by := range r.credentials[c.Seal.Signer] {
		if !r.isRoot(by.Seal.Signer) || !by.Rights.Has(Admit) {
			continue
		}
		g := grant{c.Rights & Invited, latest(c.NotBefore, by.NotBefore), earliest(c.Expires, by.Expires), []ID{id, IDOf(by.Seal)}}
		if g.from.Before(g.until) {
			r.grants[c.Subject] = append(r.grants[c.Subject], g)
		}
	}
}

// lifted reports whether a root took an expulsion back for what was signed for, or
// by, its subject at a time.
func (r *Roll) lifted(e *Expulsion, at time.Time) bool {
	id := IDOf(e.Seal)
	return slices.ContainsFunc(r.credentials[e.Subject], func(c *Credential) bool {
		return r.isRoot(c.Seal.Signer) && slices.Contains(c.Lifts, id) && !at.Before(c.NotBefore)
	})
}

// ended reports whether a statement of an admin ended with that admin's expulsion.
func (r *Roll) ended(id ID, signer feedring.PeerID, at time.Time) bool {
	return slices.ContainsFunc(r.expulsions[signer], func(e *Expulsion) bool {
		return !slices.Contains(e.Keeps, id) && !r.lifted(e, at)
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Rights is what a peer may do now, and until when at most: nothing, if it is no
// member.
func (r *Roll) Rights(p feedring.PeerID, now time.Time) (rights Rights, until time.Time) {
	for _, g := range r.grants[p] {
		if g.holds(now) {
			rights |= g.rights
			until = latest(until, g.until)
		}
	}
	return rights, until
}

// Knows reports whether the roll has a credential of a peer, valid or not.
func (r *Roll) Knows(p feedring.PeerID) bool { return len(r.credentials[p]) > 0 }

// MayHaveAdmitted reports whether the roll has a credential of a peer that let it admit others.
func (r *Roll) MayHaveAdmitted(p feedring.PeerID) bool {
	return slices.ContainsFunc(r.credentials[p], func(c *Credential) bool { return c.Rights&Admit != 0 })
}

// Expelled reports whether an expulsion ended a peer's credentials, so that none
// holds now; in the mode vouched, whether one is in force.
func (r *Roll) Expelled(p feedring.PeerID, now time.Time) bool {
	if r.charter.Mode == Vouched {
		return len(r.barring(p, now)) > 0
	}
	rights, _ := r.Rights(p, now)
	return rights == 0 && len(r.expelled[p]) > 0
}

// Proof returns what shows that a peer is a member: its chain to a root that holds
// longest; if it was expelled, what shows that.
func (r *Roll) Proof(p feedring.PeerID, now time.Time) (proof []Statement) {
	var best *grant
	for i, g := range r.grants[p] {
		if g.holds(now) && (best == nil || best.until.Before(g.until)) {
			best = &r.grants[p][i]
		}
	}
	ended := r.expelled[p]
	if r.charter.Mode == Vouched {
		ended = r.barring(p, now)
	}
	if best != nil && (len(ended) == 0 || r.charter.Mode != Vouched) {
		for _, id := range best.chain {
			proof = append(proof, r.statements[id])
		}
		return proof
	}
	for _, id := range slices.CompactFunc(slices.Clone(ended), func(a, b ID) bool { return a == b }) {
		e := r.statements[id]
		proof = append(proof, e)
		for _, c := range r.credentials[e.Seal().Signer] {
			if r.isRoot(c.Seal.Signer) {
				proof = append(proof, Statement{Credential: c})
			}
		}
	}
	for _, c := range r.credentials[p] { // for a roll of before, an expulsion ends nothing that is not there
		proof = append(proof, Statement{Credential: c})
	}
	return proof[:min(len(proof), MaxProof)]
}

// MaxProof is how many statements a proof has.
const MaxProof = 64

// Hash is the same for rolls only that are equal but for removals: peers of versions
// without them compare it.
func (r *Roll) Hash() ID { return r.hash }

// Whole is the same for equal rolls only.
func (r *Roll) Whole() ID { return r.whole }

// Has reports whether the roll holds a statement.
func (r *Roll) Has(id ID) bool {
	_, ok := r.statements[id]
	return ok
}

// Short is the beginning of an id, by which rolls are compared.
func (id ID) Short() uint64 { return binary.BigEndian.Uint64(id[:]) }

// Have lists the ids of all statements, or of all but removals.
func (r *Roll) Have(removals bool) []uint64 {
	have := make([]uint64, 0, len(r.statements))
	for id, s := range r.statements {
		if removals || s.Removal == nil {
			have = append(have, id.Short())
		}
	}
	slices.Sort(have)
	return have
}

// Compare returns what a roll that has these ids lacks, with removals or without, and
// the ids that it has and this one lacks.
func (r *Roll) Compare(have []uint64, removals bool) (lacks []Statement, wanted []uint64) {
	theirs, ours := make(map[uint64]bool, len(have)), make(map[uint64]bool, len(r.statements))
	for _, id := range have {
		theirs[id] = true
	}
	for _, s := range r.Statements() {
		short := s.ID().Short()
		ours[short] = true
		if !theirs[short] && (removals || s.Removal == nil) {
			lacks = append(lacks, s)
		}
	}
	for _, id := range have {
		if !ours[id] {
			wanted = append(wanted, id)
		}
	}
	return lacks, wanted
}

// Find returns the statements with these ids.
func (r *Roll) Find(wanted []uint64) (found []Statement) {
	these := make(map[uint64]bool, len(wanted))
	for _, id := range wanted {
		these[id] = true
	}
	for _, s := range r.Statements() {
		if these[s.ID().Short()] {
			found = append(found, s)
		}
	}
	return found
}

// Statements lists all, what others need to judge the rest by first.
func (r *Roll) Statements() []Statement { return r.sorted(r.statements) }

// Member is one peer of the roll.
type Member struct {
	Peer     feedring.PeerID
	Rights   Rights
	Until    time.Time
	Expelled bool
	Ended    bool // it is not expelled, and its time is not over, but who admitted it was expelled or may admit nobody now
}

// Members lists the peers that have a credential, by id. Of one that was expelled,
// or whose credential is not valid now, Rights and Until are the last one's.
func (r *Roll) Members(now time.Time) (members []Member) {
	for _, p := range slices.Sorted(maps.Keys(r.credentials)) {
		m := Member{Peer: p, Expelled: r.Expelled(p, now)}
		if m.Rights, m.Until = r.Rights(p, now); m.Rights == 0 {
			last := slices.MaxFunc(r.credentials[p], func(a, b *Credential) int { return a.Expires.Compare(b.Expires) })
			m.Rights, m.Until = last.Rights&all, last.Expires
			m.Ended = !m.Expelled && now.Before(last.Expires) && !now.Before(last.NotBefore)
		}
		members = append(members, m)
	}
	return members
}
