package client

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// Query asks once and returns when the answer is whole or ctx ends; then what
// came is returned, as Incomplete. It blocks. Errors wrap ErrBadQuery,
// ErrNoPeer, or ctx's where the caller cancelled.
func (c *Client) Query(ctx context.Context, q feedring.Query) (Answer, error) {
	if err := check(&q); err != nil {
		return Answer{}, err
	}
	c, err := c.through(ctx, q.Theme)
	if err != nil {
		return Answer{}, err
	}
	answer, full, err := c.ask(ctx, q)
	// Copies that others signed are not shown beside the site's, yet they take places in
	// providers' answers, and the newest may all be of that kind.
	for limit := q.Limit; err == nil && full && len(answer.Entries) < q.Limit && limit < feedring.MaxLimit; {
		limit = min(wider*limit, feedring.MaxLimit)
		more := q
		more.Limit = limit
		again, stillFull, failed := c.ask(ctx, more)
		if failed != nil || again.Final.Status != feedring.Answered {
			break // what came is an answer
		}
		if full = stillFull; len(again.Entries) > len(answer.Entries) {
			answer = again
		}
	}
	answer.Entries = answer.Entries[:min(len(answer.Entries), q.Limit)]
	if err == nil && errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err()
	}
	return answer, err
}

// wider is how many times as many entries are asked for again where too few of those that
// came are shown.
const wider = 8

// ask asks once, and reports whether a provider gave as many entries as were asked for.
func (c *Client) ask(ctx context.Context, q feedring.Query) (answer Answer, full bool, err error) {
	r := c.newRound(ctx, q)
	defer r.close()
	answer, err = r.gather(ctx)
	return answer, r.full, err
}

// gather collects the first answer of all groups, within ctx.
func (r *round) gather(ctx context.Context) (Answer, error) {
	var err error
	if r.final, err = r.firstFinal(ctx); err != nil {
		return Answer{}, err
	}
	for _, grant := range r.final.Grants {
		r.startFirst(grant)
	}
	var entries duplicate.Merge
	for r.waiting() {
		select {
		case e := <-r.events:
			err = r.gathered(ctx, e, &entries)
		case p := <-r.searches:
			r.onRetryEnd(p)
		case <-ctx.Done():
			r.outOfTime()
		}
		if err != nil {
			return Answer{}, err
		}
	}
	return Answer{Entries: entries.Newest(r.query.Limit, time.Now()), Final: r.conclude()}, nil
}

// firstFinal asks until there is somebody to go to, or the answer is no.
func (r *round) firstFinal(ctx context.Context) (feedring.Final, error) {
	for attempt := 1; ; attempt++ {
		final, err := r.client.find(ctx, r.question)
		if err != nil || final.Status != feedring.Incomplete || len(final.Grants) > 0 || attempt == maxAttempts {
			return final, err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < 4*retryPause {
			return final, nil
		}
		pause := time.NewTimer(retryPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return final, nil
		}
	}
}

// waiting reports whether some group's answer is not whole yet.
func (r *round) waiting() bool {
	for _, g := range r.groups {
		if g.asking || slices.Contains(slices.Collect(maps.Values(g.sessions)), false) {
			return true
		}
	}
	return false
}

// gathered takes one event of the first answer.
func (r *round) gathered(ctx context.Context, e event, entries *duplicate.Merge) error {
	g := r.group(e.session.grant.Theme)
	if _, current := g.sessions[e.session]; !current {
		return nil
	}
	if e.item != nil {
		g.audit.recent.Add(*e.item)
	}
	if e.entry != nil && !e.entry.Retracted { // what was taken back is in no answer
		entries.Add(*e.entry)
		if most := r.query.Limit; entries.Len() >= 4*most+64 {
			entries.Keep(most, time.Now())
		}
	}
	switch {
	case e.session.aim == summaries:
		if e.caught || e.ended != nil {
			r.summed(g, e)
		}
	case e.mark != nil:
		g.advance(e.mark)
	case e.caught && e.partial:
		r.client.log.Warn("a provider of an older version knows no other forms of words: some that have them may be missing", "theme", g.theme, "peer", e.served)
		if r.useAlternate(e.session, e.served) {
			g.stop(e.session)
			return nil
		}
		g.failed = true
		fallthrough
	case e.caught:
		r.full = r.full || e.full
		if d, ok := g.unconfirmed[e.session]; ok {
			r.answered(g, d, e)
		} else {
			g.sessions[e.session], e.session.by = true, e.served
			r.confirm(g, e)
		}
		g.heard = time.Now()
		r.servedBy(g, e)
	case e.ended != nil:
		return r.broken(ctx, g, e)
	}
	return nil
}

// servedBy notes who gave a whole answer.
func (r *round) servedBy(g *group, e event) {
	g.served = append(g.served, e.served)
	for _, p := range candidates(&e.session.grant) {
		if p.ID == e.served {
			r.client.meet(p)
		}
	}
}

// broken deals with a session that ended before its answer was whole: another
// provider of the grant, else a new attempt.
func (r *round) broken(ctx context.Context, g *group, e event) error {
	whole := g.sessions[e.session]
	d, second := g.unconfirmed[e.session]
	g.stop(e.session)
	if second {
		r.unanswered(g, d, e)
		return nil
	}
	if whole || errors.Is(e.ended, errWholeDone) {
		return nil
	}
	if errors.Is(e.ended, ErrBadQuery) {
		return e.ended
	}
	r.banForger(e)
	if r.useAlternate(e.session, e.served) {
		return nil
	}
	g.failures++
	g.behind = cmp.Or(behind(e.ended), g.behind)
	deadline, ok := ctx.Deadline()
	switch {
	case g.asking:
	case g.failures < maxAttempts && ctx.Err() == nil && ok:
		r.search(g, g.question, time.Until(deadline))
	default:
		g.failed = true
	}
	return nil
}

// onRetryEnd takes the final of a new attempt for one group.
func (r *round) onRetryEnd(p searchEnd) {
	g := p.group
	g.asking = false
	if p.err != nil || len(p.final.Grants) == 0 {
		g.failed = true
		return
	}
	if g.theme == r.query.Theme {
		r.final = p.final
	}
	g.missing, g.copies = p.final.Missing, p.final.Copies
	for _, grant := range p.final.Grants {
		if grant.Theme == g.theme && !slices.Contains(g.served, grant.Provider.ID) && !r.serving(g, grant.Provider.ID) {
			r.startFirst(grant)
		}
	}
}

// serving reports whether a session that was assigned to a peer is under way.
func (r *round) serving(g *group, id feedring.PeerID) bool {
	for s := range g.sessions {
		if s.grant.Provider.ID == id {
			return true
		}
	}
	return false
}

// outOfTime gives up what is not whole.
func (r *round) outOfTime() {
	for _, g := range r.groups {
		g.failed = g.failed || g.asking
		g.asking = false
		for s, whole := range g.sessions {
			if !whole {
				g.stop(s)
				g.failed = true
			}
		}
	}
}

// conclude is the final with what became of it.
func (r *round) conclude() feedring.Final {
	final := r.final
	final.Missing, final.Copies = slices.Clone(final.Missing), slices.Clone(final.Copies)
	for _, g := range r.groups {
		final.Missing = append(final.Missing, g.missing...)
		final.Copies = append(final.Copies, g.copies...)
		if g.failed {
			final.Missing = append(final.Missing, missing(g.theme, r.query.Provider)...)
			final.Copies = slices.DeleteFunc(final.Copies, func(name string) bool { return strings.HasPrefix(name, string(g.theme)+"/") })
		}
	}
	slices.Sort(final.Copies)
	final.Copies = slices.DeleteFunc(slices.Compact(final.Copies), func(name string) bool { return slices.Contains(final.Missing, name) })
	slices.Sort(final.Missing)
	final.Missing = slices.Compact(final.Missing)
	if len(final.Missing) > 0 {
		final.Status = feedring.Incomplete
	}
	final.Grants = r.whoServed(final.Grants)
	return final
}

// whoServed puts the peers that served in place of those that were assigned.
func (r *round) whoServed(grants []feedring.Grant) []feedring.Grant {
	var served []feedring.Grant
	for _, grant := range grants {
		for _, p := range candidates(&grant) {
			if slices.Contains(r.group(grant.Theme).served, p.ID) {
				grant.Provider = p
				served = append(served, grant)
				break
			}
		}
	}
	return served
}

// advance moves the cursor forward, never back. It replaces the cursor, so one
// that was handed out does not change.
func (g *group) advance(to feedring.Cursor) {
	next := make(feedring.Cursor, len(g.cursor)+len(to))
	maps.Copy(next, g.cursor)
	for ref, at := range to {
		if have, ok := next[ref]; !ok || at.Compare(have) > 0 {
			next[ref] = at
		}
		delete(g.skipped, ref)
	}
	g.cursor = next
}
