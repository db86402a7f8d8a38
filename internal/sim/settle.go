package sim

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// settle lets quiet time pass and holds it against the liveness invariants:
// everybody is there, nothing is lost, and origins and readers go on for half
// of it.
func (s *scenario) settle() {
	if s.wide {
		s.acquainted()
	}
	r, t0 := s.cfg.Peer.Refresh, s.now
	due := s.dues(t0)
	if !s.agree(due) {
		return
	}
	if !s.until(s.now+r, "L1", s.seconded) {
		return
	}
	groups := len(s.inhabited())
	rounds := time.Duration(2 * bits.Len(uint(groups-1)))
	told := s.now + rounds*r/3 + r
	told = max(told, due.last(t0, r))       // who was forgotten claims anew where its old rows hide it
	if len(s.inhabited()) < len(s.themes) { // nobody is left of a group: it is to be marked lost
		told = max(told, t0+mourning)
		if len(s.inhabited()) == 1 { // who is left hears nobody, and doubts itself first
			told = max(told, t0+2*mourning)
		}
	}
	if !s.until(told, "L6", func() string { return s.round(true) }) {
		return
	}
	// A mere member asks somebody once in r, who may not have heard either.
	if !s.until(told+r, "L6", func() string { return s.round(false) }) {
		return
	}
	since := s.now
	if !s.until(since+2*r, "L2", func() string { return s.level(since) }) {
		return
	}
	s.Run(max(s.now, t0+3*r)) // a claim of the last moments may still be under way
	if !s.agree(due) {
		return
	}
	leaders := s.leaders()
	s.witness.Settled()
	s.keeps(leaders, 10*r)
	if s.shares() {
		s.looks(leaders)
	}
	s.quiet = true
	s.keeps(leaders, 10*r)
	if s.Violation() == nil {
		s.finish()
	}
}

// until lets time pass until nothing is missing, and fails where that takes
// too long.
func (s *scenario) until(end time.Duration, invariant string, missing func() string) bool {
	for s.Violation() == nil {
		why := missing()
		if why == "" {
			return true
		}
		if s.now >= end {
			s.witness.Fail(invariant, "%s, %.0f s after the faults", why, (s.now - s.calm).Seconds())
			return false
		}
		s.Run(min(end, s.now+s.cfg.Peer.Refresh/4))
	}
	return false
}

func (s *scenario) leaders() map[feedring.Theme]int32 {
	all := map[feedring.Theme]int32{}
	for _, theme := range s.inhabited() {
		all[theme], _ = s.witness.Leader(theme, s.indexes(theme))
	}
	return all
}

func (s *scenario) seconded() string {
	for theme, lead := range s.leaders() {
		if len(s.members(theme)) == 1 {
			continue // there is nobody
		}
		if lead < 0 || s.witness.Secondary(theme, lead) < 0 {
			return string(theme) + " has no secondary"
		}
	}
	return ""
}

// round checks the maps of all, or of those that manage a group.
func (s *scenario) round(managers bool) string {
	leaders := s.leaders()
	manages := func(n *node) bool {
		for _, lead := range leaders {
			if lead == n.index {
				return true
			}
		}
		return false
	}
	for _, n := range s.left() {
		if managers && !manages(n) {
			continue
		}
		if why := s.witness.Round(n.index, leaders); why != "" {
			return fmt.Sprintf("the map of %s: %s", n.id, why)
		}
	}
	return ""
}

// level checks that what was published until then is everywhere.
func (s *scenario) level(then time.Duration) string {
	for _, theme := range s.inhabited() {
		if why := s.witness.Level(theme, s.indexes(theme), then); why != "" {
			return string(theme) + ": " + why
		}
	}
	return s.bereft()
}

// told checks that the rows of all are everywhere.
func (s *scenario) told() string {
	for _, theme := range s.inhabited() {
		if why := s.witness.Told(theme, s.indexes(theme)); why != "" {
			return string(theme) + ": " + why
		}
	}
	return ""
}

// keeps lets time pass in which nobody takes another's place, and what is
// published is everywhere two periods later.
func (s *scenario) keeps(leaders map[feedring.Theme]int32, d time.Duration) {
	for end := s.now + d; s.now < end && s.Violation() == nil; {
		s.Run(s.now + s.cfg.Peer.Refresh)
		for _, theme := range s.inhabited() {
			lead, why := s.witness.Leader(theme, s.indexes(theme))
			if why != "" || lead != leaders[theme] {
				s.witness.Fail("L1", "%s does not keep its manager: %s", theme, why)
			}
			s.witness.Marks(theme, s.indexes(theme))
		}
		if why := s.level(s.now - 2*s.cfg.Peer.Refresh); why != "" {
			s.witness.Fail("L2", "%s, published two periods ago", why)
		}
	}
}

// fewTables is less than any machine has.
const fewTables = 100

// finish checks what must be true in the end.
func (s *scenario) finish() {
	if why := s.level(s.now); why != "" {
		s.witness.Fail("L2", "%s", why)
	}
	if !s.until(s.now+s.cfg.Peer.Refresh, "S11", s.told) {
		return
	}
	if why := s.buried(); why != "" {
		s.witness.Fail("L1", "%s", why)
	}
	if !s.until(s.now+2*s.cfg.Peer.Refresh, "L5", s.counted) {
		return
	}
	for _, n := range s.left() {
		if !s.asks() { // a reader without an answer asks again at any time
			if tables := s.witness.Rest(n.index); tables < fewTables {
				s.witness.Fail("S12", "%s shows only %d tables: the check looks past them", n.id, tables)
			}
		}
		s.vouches(n)
		s.pruned(n)
	}
	for _, r := range s.readers {
		if r.client.here {
			s.served(r)
		}
	}
}

// asks reports whether a question is open.
func (s *scenario) asks() bool {
	return slices.ContainsFunc(s.nodes, func(n *node) bool { return len(n.asked) > 0 })
}

// counted checks that the managers know how many clients each member has (L5).
// A client of the last moments is known with its provider's next beacon.
func (s *scenario) counted() string {
	for _, theme := range s.inhabited() {
		if why := s.loads(theme); why != "" {
			return why
		}
	}
	return ""
}

func (s *scenario) loads(theme feedring.Theme) string {
	lead, _ := s.witness.Leader(theme, s.indexes(theme))
	if lead < 0 {
		return ""
	}
	v := s.World.nodes[lead].machine.Membership(theme)
	for i := range v.Members {
		n := s.World.nodes[s.indexOf(v.Members[i].Row.Peer)]
		live := 0
		for _, session := range n.sessions {
			if session.theme == theme && session.attended() {
				live++
			}
		}
		if kept := v.Members[i].Leases > live && s.witness.Keeps(n.index); v.Members[i].Known && v.Members[i].Leases != live && !kept {
			return fmt.Sprintf("%s counts %d clients at %s, which serves %d", v.Self, v.Members[i].Leases, n.id, live)
		}
	}
	return ""
}

// pruned checks that nobody caches for ever what is no longer fresh (S12): twice
// since then it was time to prune.
func (s *scenario) pruned(n *node) {
	before := n.clock.at(s.now).Add(-s.cfg.Peer.Freshness - max(3*s.cfg.Peer.Refresh, s.cfg.Peer.Freshness/16))
	for _, c := range n.disk.Copies() {
		if c != nil && c.Log.Ref.Publisher != n.id && n.role(c.Log.Group) != feedring.RoleNone && len(c.Held) > 0 && c.Held[0].Seen.Before(before) {
			s.witness.Fail("S12", "%s caches %d/%d of %s, of %v", n.id, c.Held[0].Position.Epoch, c.Held[0].Position.Sequence, c.Log.Ref, c.Held[0].Seen)
			return
		}
	}
}

// vouches checks S10: a site vouches for whom it names, and for nobody else.
func (s *scenario) vouches(n *node) {
	for theme, v := range n.machine.View().Memberships {
		for _, l := range s.logs {
			if site := v.VouchedBy(l.Ref); l.Theme == theme && site != "" && s.feeds[l.Index].origin.names != l.Ref.Publisher {
				s.witness.Fail("S10", "%s takes %s for vouched for by %s", n.id, l.Ref, site)
			}
		}
	}
}

// served checks L3: a follower was shown everything that came after it began.
func (s *scenario) served(r *reader) {
	if s.forlorn(r.client) || r.first == 0 && s.hopeless(r) {
		return
	}
	if r.first == 0 {
		s.witness.Fail("L3", "%s follows %s %q and had no answer", r.client.id, r.theme, r.provider)
		return
	}
	for _, l := range s.logs {
		if l.Theme != r.theme || !l.Provider.Matches(r.provider) || !s.isExpected(s.feeds[l.Index]) {
			continue
		}
		after := r.start.of(l)
		known := !after.IsZero()
		for _, e := range disk.After(l.Entries, after) {
			owed := (known || e.Synced > r.first) && !s.bornOld(e)
			if owed && !e.Lost && !r.shown.has(e.ID) && !r.forgone.has(e.ID) && s.now-e.Synced > 3*s.cfg.Peer.Refresh {
				s.witness.Fail("L3", "%s follows %s and was not shown %d/%d of %s", r.client.id, r.theme,
					e.Position.Epoch, e.Position.Sequence, l.Ref.URL)
				return
			}
		}
	}
}
