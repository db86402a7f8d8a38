package client

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// A provider that says it has nothing cannot be held to it: nobody signs what is not
// there. So its word is not enough where the grant names somebody else who may know.

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

// unconfirmed is an empty answer that a second provider of the same grant is asked about.
type unconfirmed struct {
	first  *session
	served feedring.PeerID // who gave it
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

// confirm asks a second provider about an empty first answer, which stands where there is
// nobody else to ask, or the provider is this very peer.
func (r *round) confirm(g *group, e event) {
	if e.entries == 0 && e.session.want.Cursor == nil && e.served != r.client.transport.ID() {
		r.askSecond(g, unconfirmed{e.session, e.served}, e.session.skip, e.served)
	}
}

// askSecond asks the providers that are left of its grant. It reports whether there
// are any.
func (r *round) askSecond(g *group, d unconfirmed, skip map[feedring.PeerID]bool, served feedring.PeerID) bool {
	rest := session{client: r.client, grant: d.first.grant, skip: skipping(skip, served)}
	if served == "" || len(rest.providers()) == 0 {
		return false
	}
	g.unconfirmed[r.begin(rest.grant, rest.skip, true)] = d
	return true
}

func skipping(skip map[feedring.PeerID]bool, p feedring.PeerID) map[feedring.PeerID]bool {
	all := map[feedring.PeerID]bool{p: true}
	maps.Copy(all, skip)
	return all
}

// answered takes the second answer. One that has what the first lacks refutes
// it: a follower goes on at whoever gave that.
func (r *round) answered(g *group, d unconfirmed, e event) {
	g.stop(e.session)
	if e.entries == 0 {
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
		r.start(d.first.grant, skipping(d.first.skip, d.served))
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
