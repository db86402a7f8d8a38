package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// claim names a term of a group.
type claim struct {
	group  feedring.GroupID
	number uint64
	by     int32
}

// made is a claim that its claimant made, in one of its lives.
type made struct {
	life   uint32
	served bool
	at     time.Duration // when it was first told
}

func (w *Witness) claimOf(s *seat, t feedring.Term) claim {
	return claim{s.group, t.Number, w.cfg.Index(t.Claimant)}
}

// beforeMessage notes what a message carries that may change terms, and what
// ends a manager's time in good order.
func (w *Witness) beforeMessage(p int32, o *observed, m group.Message) {
	switch m := m.(type) {
	case group.BeaconAnswer:
		s := o.seat(m.Group)
		s.loadTold(o.from, m, w.cfg.Now())
		s.beacons.answered(m.Number, w.cfg.Now(), w.cfg.Refresh/4)
	case group.Alive:
		s := o.seat(m.Group)
		s.probes.answered(m.Nonce, w.cfg.Now(), w.cfg.Refresh/4)
		if w.cfg.Name(o.from) == s.term.Claimant {
			s.deaf = deaf{}
		}
	case group.Assigned:
		o.seat(m.Group).tellsRoom(o.from, w.cfg.Name(o.from), m, w.cfg.Now())
	case group.Beacon:
		o.carries(m.Claim)
	case group.Refresh:
		o.carries(m.Claim)
	case group.Confirmation:
		o.carries(m.Claim)
	case group.Admitted:
		o.carries(m.Claim)
		s := o.seat(m.Group)
		s.owedBefore, s.owed = s.owed, owedHeads{m.Claim.Term, m.Heads}
	case group.Stale:
		o.carries(m.Claim)
	case group.Objection:
		o.carry = m.Claim
	case group.HandOver:
		o.seat(m.Group).yielded = w.cfg.Now()
	case group.Leave, group.Rows:
		o.seat(m.Of().Group).yielded = max(o.seat(m.Of().Group).yielded, w.leaves(m))
	case group.Join:
		if s := o.seat(m.Group); m.Row.Peer == s.term.Claimant {
			s.yielded = w.cfg.Now()
		}
	case group.Place:
		w.placeComes(p, m)
	}
}

// carries notes the claim of the message of this step.
func (o *observed) carries(c group.Claim) {
	o.claim = c
	o.carry = &o.claim
	if s := o.find(c.Group); s != nil && s.term == c.Term {
		s.deaf = deaf{} // it hears the manager
	}
}

// leaves is now where a message says that somebody left, else 0.
func (w *Witness) leaves(m group.Message) time.Duration {
	switch m := m.(type) {
	case group.Leave:
		return w.cfg.Now()
	case group.Rows:
		for i := range m.Rows {
			if m.Rows[i].Left {
				return w.cfg.Now()
			}
		}
	}
	return 0
}

// persists checks S1, and that only a claim, or an acknowledgement of its own,
// changes what a peer accepts. What was written and is replaced before the
// machine heard that it is on disk was never accepted.
func (w *Witness) persists(p int32, o *observed, out group.Persist) {
	s := o.seat(out.Group)
	was, is := s.written, out.State
	switch {
	case is.Term.Compare(s.accepted.Term) < 0:
		w.Fail("S1", "%s accepts %v after %v", w.cfg.Name(p), is.Term, s.accepted.Term)
	case is.Highest < was.Highest, is.Incarnation < was.Incarnation:
		w.Fail("S1", "%s remembers number %d and incarnation %d after %d and %d", w.cfg.Name(p), is.Highest, is.Incarnation, was.Highest, was.Incarnation)
	case is.Term.Number > is.Highest:
		w.Fail("S1", "%s accepts %v and remembers %d as its highest number", w.cfg.Name(p), is.Term, is.Highest)
	}
	if is.Term != was.Term {
		w.adopts(p, o, s, is.Term)
	}
	s.written, s.token = is, out.Token
}

func (w *Witness) adopts(p int32, o *observed, s *seat, t feedring.Term) {
	name := w.cfg.Name(p)
	if t.Claimant == name {
		if a, ok := o.given.Message.(group.BeaconAnswer); !ok || a.Header.Term != t {
			w.Fail("S2", "%s accepts its own claim %v, which nobody acknowledged", name, t)
		}
		return
	}
	if o.carry == nil || o.carry.Term != t {
		w.Fail("S2", "%s accepts %v without a claim of its claimant", name, t)
		return
	}
	w.claimed(p, s, *o.carry)
}

// claimed checks that a claim that a peer tells was made by its claimant, and
// is on its disk (S2).
func (w *Witness) claimed(p int32, s *seat, c group.Claim) {
	if c.Term == s.sure {
		return
	}
	key := w.claimOf(s, c.Term)
	if c.Term.Claimant == w.cfg.Name(p) {
		if c.Term.Number > max(s.accepted.Highest, s.accepted.Term.Number) {
			w.Fail("S2", "%s claims %d, which is not on its disk", c.Term.Claimant, c.Term.Number)
		}
		if _, known := w.claims[key]; !known {
			w.claims[key] = made{life: w.of(p).life, at: w.cfg.Now()}
			s.claimed, s.pending = c.Term, nil // who begins to manage counts anew
		}
	} else if _, known := w.claims[key]; !known && !(key.by >= 0 && w.of(key.by).empty) {
		w.Fail("S2", "%s tells a claim %v that %s never made", w.cfg.Name(p), c.Term, c.Term.Claimant)
	}
	s.sure = c.Term
}

// header checks S4: nobody speaks under a term below the one that it accepted.
func (w *Witness) header(p int32, s *seat, h group.Header, m group.Message) {
	switch m := m.(type) {
	case group.Join:
		if m.Row.Peer != w.cfg.Name(p) {
			return // passed on as it came
		}
	case group.Replace:
		if m.Secondary != w.cfg.Name(p) {
			return
		}
	case group.Place:
		if w.cfg.Membership(p, s.theme) == nil {
			return // by the map, of a group that it has left
		}
	}
	if h.Term.Compare(s.accepted.Term) < 0 && !h.Term.IsZero() {
		w.Fail("S4", "%s sends %s under %v and accepted %v", w.cfg.Name(p), m.Verb(), h.Term, s.accepted.Term)
	}
	// A claim of its own is told before the role is: see role.
	if h.Term != s.term && h.Term != s.accepted.Term && h.Term.Claimant != w.cfg.Name(p) {
		s.follows(w, h.Term)
	}
}

// follows notes that a peer follows another term.
func (s *seat) follows(w *Witness, t feedring.Term) {
	s.term, s.since, s.intent, s.deaf = t, w.cfg.Now(), 0, deaf{}
}

// obeys checks that a peer does not answer a manager of a lower term than it
// accepted (S4).
func (w *Witness) obeys(p int32, o *observed, s *seat, h group.Header) {
	if o.carry != nil && o.carry.Term.Compare(s.accepted.Term) < 0 {
		w.Fail("S4", "%s obeys %v and accepted %v", w.cfg.Name(p), o.carry.Term, s.accepted.Term)
	}
	if o.carry != nil && h.Term == o.carry.Term && h.Term != s.term {
		s.follows(w, h.Term)
	}
}

// assigned checks that no place is kept on the word of a lower term (S4).
func (w *Witness) assigned(p int32, o *observed, s *seat, m group.Assigned) {
	if a, ok := o.given.Message.(group.Assign); ok && m.OK && a.Header.Term.Compare(s.accepted.Term) < 0 {
		w.Fail("S4", "%s keeps a place for %v and accepted %v", w.cfg.Name(p), a.Header.Term, s.accepted.Term)
	}
}

// role checks S2 and S3 where a peer begins to manage.
func (w *Witness) role(p int32, o *observed, out group.RoleChanged) {
	s := o.seat(out.Theme.Group())
	s.theme = out.Theme
	name := w.cfg.Name(p)
	if out.Role == feedring.RoleManager {
		key := w.claimOf(s, out.Term)
		was, known := w.claims[key]
		switch {
		case out.Term.Claimant != name:
			w.Fail("S2", "%s manages under %v", name, out.Term)
		case known && was.served && was.life != o.life:
			w.Fail("S2", "%s manages under %v in life %d and did so in life %d", name, out.Term, o.life, was.life)
		case out.Term.Number > s.accepted.Highest:
			w.Fail("S2", "%s manages under %v, which is not on its disk", name, out.Term)
		}
		w.claims[key] = made{life: o.life, served: true, at: was.at}
		w.deposes(p, s)
		w.replaced(s.group)
	}
	if out.Term != s.term {
		s.follows(w, out.Term)
	}
	if out.Role == feedring.RoleManager {
		w.makesNews(p, s.group, out.Term)
	}
	s.role, s.left = out.Role, out.Role == feedring.RoleNone
	s.intent = 0
	o.opened = 0
}
