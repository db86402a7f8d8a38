package client

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/feedring/feedring"
)

// onEvent takes one event of a session.
func (f *follower) onEvent(e event) error {
	g := f.group(e.session.grant.Theme)
	if _, current := g.sessions[e.session]; !current {
		return nil // let go: the cursor brings the rest from another
	}
	if e.session.aim == summaries {
		f.onSummary(g, e)
		return nil
	}
	if e.ended != nil {
		return f.lost(g, e)
	}
	if e.item != nil {
		f.madeGood(g, e)
		g.audit.recent.Add(*e.item)
	}
	if e.entry != nil {
		if err := f.show(g, e); err != nil {
			return err
		}
	}
	switch {
	case e.mark != nil:
		g.advance(e.mark)
	case e.caught:
		g.sessions[e.session], e.session.by = true, e.served
		g.failures, g.behind = 0, nil
		delete(g.unreached, e.session.grant.Provider.ID)
		if !e.session.grant.Own {
			g.stuck = time.Time{}
		}
		f.servedBy(g, e)
		g.served = g.served[max(0, len(g.served)-1):] // only a query reads them all
	}
	f.dirty = true
	if g.sessions[e.session] && !g.lacking {
		g.heard = time.Now()
	}
	return nil
}

// show shows an entry that is new, and only then lets the cursor pass it.
func (f *follower) show(g *group, e event) (err error) {
	entry := e.entry
	// What a provider sends after a cursor comes in the order of positions;
	// the newest of a first answer do not: marks follow them.
	passed := feedring.Cursor(nil)
	if e.session.want.Cursor != nil || g.sessions[e.session] {
		passed = feedring.Cursor{entry.Ref(): entry.Position}
	}
	if at, ok := g.cursor[entry.Ref()]; passed != nil && ok && entry.Position.Compare(at) <= 0 {
		return nil // of a feed that was given up: all that is held comes
	}
	news := entry.NewSince(f.began)
	wanted, supersedes := f.shown.Wants(entry, news)
	if !wanted {
		f.shown.Count(entry)
	} else {
		entry.Supersedes = supersedes
		next := group{cursor: g.cursor}
		next.advance(passed)
		if err = f.call(entry, news, f.cursor(g, next.cursor)); err != nil && !errors.Is(err, ErrEnough) {
			return err
		}
		if !news && f.options.History == nil {
			f.shown.Pass(entry)
		} else {
			f.shown.Add(entry)
		}
	}
	f.dirty = true
	if passed != nil {
		g.advance(passed)
	}
	return err
}

// call calls who takes an entry, or a retraction.
func (f *follower) call(e *feedring.Entry, news bool, at feedring.Cursor) error {
	switch {
	case !e.Retracted && news:
		return f.each(*e, at)
	case !e.Retracted:
		f.older.add(e)
		if f.options.History != nil {
			return f.options.History(*e, at)
		}
	case f.options.Retracted != nil:
		return f.options.Retracted(*e, at)
	}
	return nil
}

// lost replaces a provider: by an alternate at once, else by a search.
func (f *follower) lost(g *group, e event) error {
	g.stop(e.session)
	if errors.Is(e.ended, ErrBadQuery) {
		return e.ended
	}
	f.client.log.Debug("provider lost", "theme", g.theme, "peer", e.served, "why", e.ended)
	f.banForger(e)
	g.behind = cmp.Or(behind(e.ended), g.behind)
	if e.served == "" && e.session.grant.Own { // others list a publisher that is out of this client's reach
		g.unreached[e.session.grant.Provider.ID] = true
	}
	if f.useAlternate(e.session, e.served) || g.asking {
		return nil
	}
	g.lacking = true
	due := time.Now().Add(min(backOffMost, backOffLeast<<min(g.failures, 16)))
	if g.due.IsZero() || due.Before(g.due) {
		g.due = due
	}
	g.failures++
	return nil
}

// firstWhole calls First for a follower that resumed, when everything that
// came meanwhile was shown, or took too long.
func (f *follower) firstWhole() error {
	if !f.first || f.options.First == nil || f.waiting() && time.Since(f.started) < f.options.Within {
		return nil
	}
	if f.waiting() {
		f.final.Status = feedring.Incomplete
	}
	f.first = false
	return f.options.First(Answer{Final: f.final, Cursor: f.cursorOrNil()})
}

// cursor is the cursor over all groups, with instead for that of a group; nil: of
// none.
func (f *follower) cursor(of *group, instead feedring.Cursor) feedring.Cursor {
	if of != nil && len(f.groups) == 1 {
		return instead
	}
	all := make(feedring.Cursor)
	for _, g := range f.groups {
		cursor := g.cursor
		if g == of {
			cursor = instead
		}
		for ref, at := range cursor {
			// A peer of two groups may tell of both: the lower is certain.
			if have, ok := all[ref]; !ok || at.Compare(have) < 0 {
				all[ref] = at
			}
		}
	}
	return all
}

// cursorOrNil is the cursor after a first answer, or nil where nobody gave one: from
// an empty cursor a reader would be sent all that is held.
func (f *follower) cursorOrNil() feedring.Cursor {
	if at := f.cursor(nil, nil); len(at) > 0 {
		return at
	}
	return nil
}

// save tells where to resume.
func (f *follower) save() {
	if f.saved = time.Now(); f.options.Save == nil || !f.dirty {
		return
	}
	f.dirty = false
	f.options.Save(f.resume())
}

// resume is where the follower stands.
func (f *follower) resume() Resume {
	resume := Resume{At: time.Now().UTC().Truncate(time.Second), Began: f.began.UTC().Truncate(time.Second), Peers: f.client.peers.Known()}
	for _, c := range f.shown.Newest() {
		resume.Shown = append(resume.Shown, Shown(c))
	}
	for _, g := range f.groups {
		if g.cursor == nil {
			continue
		}
		if g.heard.Before(resume.At) && !g.heard.IsZero() {
			resume.At = g.heard.UTC().Truncate(time.Second)
		}
		resume.Groups = append(resume.Groups, GroupCursor{g.theme, g.cursor})
	}
	sort.Slice(resume.Groups, func(i, j int) bool { return resume.Groups[i].Theme < resume.Groups[j].Theme })
	return resume
}

// unservedAfter is how long nobody serves a group before that is told: another
// provider takes less.
const unservedAfter = 3 * time.Second

// tellUnserved tells which groups nobody serves, where they are others than were
// told last.
func (f *follower) tellUnserved() {
	if f.options.Unserved == nil {
		return
	}
	now, silent := time.Now(), false
	themes := []feedring.Theme{}
	for _, g := range f.groups {
		switch {
		case f.query.Theme == "" && f.query.Provider != "" && g.cursor == nil:
		case slices.Contains(slices.Collect(maps.Values(g.sessions)), true): // one has caught up
			g.idle = time.Time{}
		case g.idle.IsZero():
			g.idle = now
		case f.client.relaySilent(g.idle): // the time counts from when one is there
			g.idle, silent = now, true
		case now.Sub(g.idle) >= unservedAfter:
			themes = append(themes, g.theme)
		}
	}
	f.tellRelay(silent, now)
	slices.Sort(themes)
	if !slices.Equal(themes, f.unserved) {
		f.unserved = themes
		f.options.Unserved(slices.Clone(themes))
	}
}

// olderAfter is how long no more history of a feed comes before it is told how
// much there was, so that it is told once.
const olderAfter = 500 * time.Millisecond

// Older says that entries of one feed came that are no news: FollowOptions.History.
type Older struct {
	Theme    feedring.Theme
	Provider feedring.Provider
	Feed     feedring.FeedRef
	Count    int
}

// older counts history by feeds until it is told. The zero older is empty.
type older struct{ feeds []olderFeed }

type olderFeed struct {
	Older
	due time.Time
}

func (o *older) add(e *feedring.Entry) {
	due := time.Now().Add(olderAfter)
	for i := range o.feeds {
		if f := &o.feeds[i]; f.Feed == e.Ref() {
			f.Count, f.due = f.Count+1, due
			return
		}
	}
	o.feeds = append(o.feeds, olderFeed{Older{e.Theme, e.Provider, e.Ref(), 1}, due})
}

// wait is how long the next one to tell can wait, and most at most.
func (o *older) wait(most time.Duration) time.Duration {
	for i := range o.feeds {
		most = min(most, max(0, time.Until(o.feeds[i].due)))
	}
	return most
}

// tellOlder tells of feeds of which no more history came for a moment.
func (f *follower) tellOlder() error {
	now := time.Now()
	waiting := f.older.feeds[:0]
	for _, o := range f.older.feeds {
		if now.Before(o.due) {
			waiting = append(waiting, o)
		} else if f.options.Older != nil {
			if err := f.options.Older(o.Older, f.cursorOrNil()); err != nil {
				return err
			}
		}
	}
	clear(f.older.feeds[len(waiting):])
	f.older.feeds = waiting
	return nil
}
