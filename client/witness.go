package client

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/truth"
	"github.com/feedring/feedring/internal/match"
)

// A provider that says it has nothing, or nothing more, cannot be held to it: nobody signs
// what is not there. So its word is not enough where somebody else may know.

const (
	askedLastFor  = time.Hour   // a provider that kept back what another gave comes last
	mostAskedLast = 1000        // such providers
	spreadWithin  = time.Minute // an entry that is younger may not be everywhere yet
)

// askedLast is the providers that kept entries back. It is safe for concurrent use.
type askedLast struct {
	mu    sync.Mutex
	until map[feedring.PeerID]time.Time
}

// note has a provider asked last for a while.
func (d *askedLast) note(p feedring.PeerID, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.until, func(_ feedring.PeerID, until time.Time) bool { return !now.Before(until) })
	if d.until == nil {
		d.until = make(map[feedring.PeerID]time.Time)
	}
	if len(d.until) < mostAskedLast {
		d.until[p] = now.Add(askedLastFor)
	}
}

// last puts providers that kept entries back behind the others.
func (d *askedLast) last(providers []feedring.PeerInfo, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.until) == 0 {
		return
	}
	slices.SortStableFunc(providers, func(a, b feedring.PeerInfo) int {
		return d.rank(a.ID, now) - d.rank(b.ID, now)
	})
}

func (d *askedLast) rank(p feedring.PeerID, now time.Time) int {
	if now.Before(d.until[p]) {
		return 1
	}
	return 0
}

// unconfirmed is a first answer that a second provider of the same grant is asked about.
type unconfirmed struct {
	first   *session
	served  feedring.PeerID // who gave it
	lacking []feedring.Hint // what others hold and it has not; nil: it has nothing at all
	alone   bool            // nobody else is asked for the same group
}

// proves reports whether an entry that another gave should have been in an answer that
// was given now: it matches, and it was published long enough ago to be everywhere.
func proves(q *feedring.Query, e *feedring.Entry, now time.Time) bool {
	if e.Retracted || now.Sub(e.Seen) < spreadWithin {
		return false
	}
	expr, err := match.Parse(q.Words)
	return err == nil && (q.Stem || expr.Match(match.TextOf(e)))
}

// firstAnswer is what becomes of one.
type firstAnswer struct {
	hints  []feedring.Hint // what should be in it, as far as somebody told
	summed bool            // hints is of the very question, words included
	summer *session        // is to tell them; nil: none, or it did
	first  *session        // gave the answer; nil: it is not there yet
	answer *truth.Answer
	served feedring.PeerID
	empty  bool
}

// startFirst attaches to one of a grant's providers for a first answer, which is checked. Whoever
// made the grant does not know the words; another provider is asked at the same time what it
// would answer to them.
func (r *round) startFirst(grant feedring.Grant) {
	g, c := r.group(grant.Theme), &firstAnswer{}
	g.checks = append(g.checks, c)
	r.start(grant, nil).check = c
	switch {
	case grant.Own, g.cursor != nil:
	case r.query.Words != "" || r.query.Vouched || sampled() && beyond(&r.query, grant.Hints):
		rest := session{client: r.client, grant: grant, aim: summaries, skip: map[feedring.PeerID]bool{grant.Provider.ID: true}}
		if !trusted(&grant, grant.Provider.ID) && grant.Provider.ID != r.client.transport.ID() && len(rest.providers()) > 0 {
			c.summer = r.begin(grant, rest.skip, &session{aim: summaries, check: c})
		}
	case grant.Hints != nil:
		c.hints = grant.Hints.Copies
	}
}

// sampled is true once in 16 times.
func sampled() bool { return rand.N(16) == 0 }

// beyond reports whether a query is for what is older than all that hints name.
func beyond(q *feedring.Query, h *feedring.Hints) bool {
	return h != nil && len(h.Copies) == feedring.MaxHints && !q.Until.IsZero() && !h.Copies[len(h.Copies)-1].Published.Before(q.Until)
}

// trusted reports whether a peer made the grant: what it says is not held against what it
// says.
func trusted(g *feedring.Grant, p feedring.PeerID) bool {
	return g.Ticket.Seal != nil && g.Ticket.Seal.Signer == p
}

// summed takes a summary, or that there will be none.
func (r *round) summed(g *group, e event) {
	g.stop(e.session)
	if c := e.session.check; c != nil && c.summer == e.session {
		c.summer, c.hints, c.summed = nil, e.hints, e.hints != nil
		r.verify(g, c)
	}
}

// confirm checks a first answer that is whole.
func (r *round) confirm(g *group, e event) {
	if c := e.session.check; c != nil && e.session.want.Cursor == nil {
		c.first, c.answer, c.served, c.empty = e.session, e.answer, e.served, e.entries == 0
		r.verify(g, c)
	}
}

// verify asks a second provider about a first answer that is empty or lacks what somebody
// holds. It stands where there is nobody else to ask, or the provider is this very peer.
func (r *round) verify(g *group, c *firstAnswer) {
	if c.first == nil || c.summer != nil || c.served == r.client.transport.ID() {
		return
	}
	d := unconfirmed{first: c.first, served: c.served, alone: len(g.checks) == 1}
	if !trusted(&c.first.grant, c.served) {
		d.lacking = slices.DeleteFunc(c.answer.Lacks(c.hints), func(h feedring.Hint) bool {
			return slices.ContainsFunc(g.checks, func(o *firstAnswer) bool { return o.answer != nil && o.answer.Has(h) })
		})
	}
	if len(d.lacking) > 0 || c.empty && (!c.summed || len(c.hints) > 0) {
		r.askSecond(g, d, c.first.skip, c.served)
	}
}

// askSecond asks the providers that are left of its grant. It reports whether there
// are any.
func (r *round) askSecond(g *group, d unconfirmed, skip map[feedring.PeerID]bool, served feedring.PeerID) bool {
	rest := session{client: r.client, grant: d.first.grant, skip: skipping(skip, served)}
	if served == "" || len(rest.providers()) == 0 {
		return false
	}
	s := &session{aim: confirms}
	if len(d.lacking) > 0 || !d.alone {
		s.expected = make(map[uint64]bool)
	}
	for _, h := range d.lacking {
		s.expected[h.Copy] = d.alone // a part of a group may lack what another part has
	}
	g.unconfirmed[r.begin(rest.grant, rest.skip, s)] = d
	return true
}

func skipping(skip map[feedring.PeerID]bool, p feedring.PeerID) map[feedring.PeerID]bool {
	all := map[feedring.PeerID]bool{p: true}
	maps.Copy(all, skip)
	return all
}

// answered takes the second answer. One that has what the first lacks refutes
// it: a follower goes on at whoever gave that. What nobody has who is left was never there.
func (r *round) answered(g *group, d unconfirmed, e event) {
	g.stop(e.session)
	if len(d.lacking) > 0 {
		rest := d
		rest.lacking = e.answer.Lacks(d.lacking)
		if len(rest.lacking) > 0 && !trusted(&d.first.grant, e.served) {
			r.askSecond(g, rest, e.session.skip, e.served)
		}
	}
	if e.entries == 0 || len(d.lacking) > 0 && !e.proof { // what came completes the answer
		return
	}
	if e.proof {
		r.client.askedLast.note(d.served, time.Now())
		r.banned[d.served] = true
		r.client.log.Warn("a provider kept entries back", "theme", g.theme, "peer", d.served, "shown by", e.served)
	}
	g.served = slices.DeleteFunc(g.served, func(p feedring.PeerID) bool { return p == d.served })
	if r.follow {
		g.stop(d.first)
		g.cursor = nil // it is as far as the first provider said
		c := &firstAnswer{}
		if d.first.check != nil {
			c.hints = d.first.check.hints
		}
		g.checks = []*firstAnswer{c}
		r.start(d.first.grant, skipping(d.first.skip, d.served)).check = c
	}
}

// unanswered deals with a second provider that gave no answer: another is asked. If
// there is none, nobody confirms the empty answer.
func (r *round) unanswered(g *group, d unconfirmed, e event) {
	r.banForger(e)
	if !r.askSecond(g, d, e.session.skip, e.served) {
		g.failed = true
	}
}
