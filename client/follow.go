package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/seen"
	"github.com/feedring/feedring/internal/membership"
)

// FollowOptions says how to follow. The zero value begins with a first answer
// and shows each entry once.
type FollowOptions struct {
	Updates bool // new versions of entries too, and what was taken back
	// Cursor goes on from there instead of a first answer: what came meanwhile
	// is shown first. Nil: begin.
	Cursor feedring.Cursor
	// Began is when the reader began to follow: see History. Zero: now.
	Began time.Time
	// Resume goes on from what Save was given another time. Nil: begin.
	Resume *Resume
	// Retracted is called, with Updates, for an entry that was shown and that its
	// publisher took back: its id, feed, provider and theme, and no text. Where a
	// Cursor began, which does not say what was shown, it is called for others
	// too. It is what each is otherwise. Nil: nobody is told.
	Retracted func(e feedring.Entry, at feedring.Cursor) error
	// History is called for an entry that came after the first answer and is no
	// news to this reader (Entry.NewSince): it was there before its publisher
	// looked at the feed for the first time. It is what each is otherwise. Nil:
	// nobody is told of each.
	History func(e feedring.Entry, at feedring.Cursor) error
	// Older is called where such entries came, a moment after the last, with how
	// many. Nil: nobody is told.
	Older func(o Older, at feedring.Cursor) error
	// First is called once, with the first answer, or where Cursor or Resume
	// made it superfluous, when everything that came meanwhile was shown. An
	// error ends Follow. Nil: the entries of the first answer go to each.
	First func(Answer) error
	// Save is called with what to resume from, every second at most and at the
	// end. It must not block for long. Nil: nobody keeps it.
	Save func(Resume)
	// Gap is called where entries of a feed are given up: see Gap. Nil: nobody is
	// told.
	Gap func(Gap)
	// Unserved is called where nobody serves some groups for seconds, with all of
	// them, and when that changes: with an empty list that is not nil where all
	// are served again. Where a query names a provider and no theme, groups that
	// never served it do not count. While nothing comes through a relay nobody is
	// told: a group may be served all the same. Nil: nobody is told.
	Unserved func(themes []feedring.Theme)
	// Within is how long the first answer may take; 0: 10 s.
	Within time.Duration
}

const (
	defaultWithin = 10 * time.Second
	searchWithin  = 10 * time.Second // for one search while following
	backOffLeast  = 50 * time.Millisecond
	backOffMost   = 2 * time.Second
	// absentMost is for what nobody serves: a search goes round the whole ring.
	absentMost   = 30 * time.Second
	lookForNew   = 30 * time.Second // for groups that were founded since
	lookForOwn   = time.Minute      // for publishers that came since, where each serves its own
	saveEvery    = time.Second
	searchMargin = time.Minute // how far back from the last sign of life a new provider must be complete
)

// ErrEnough is returned by callbacks of Follow that took what they were given
// and want no more.
var ErrEnough = errors.New("enough was shown")

// Follow asks, then calls each for every entry that is new, until ctx ends,
// each or First returns an error, or nobody at all could be asked at first.
// It survives the loss of providers and of the peers that it asks. No entry is
// shown twice, and none is lost: the cursor passes an entry only after each
// returned nil or ErrEnough, which ends Follow without an error. Where that
// comes amid a first answer, Save is told what was shown of it, and the next
// time a first answer is asked for again and the rest of it shown. Callbacks
// come one at a time, on the caller's goroutine; while they block, providers
// wait. at is where the reader stands after the entry; it must not be changed.
func (c *Client) Follow(ctx context.Context, q feedring.Query, o FollowOptions, each func(e feedring.Entry, at feedring.Cursor) error) error {
	if err := check(&q); err != nil {
		return err
	}
	if o.Within <= 0 {
		o.Within = defaultWithin
	}
	if c.via != nil && q.Theme == "" {
		return fmt.Errorf("%w: %w", ErrBadQuery, ErrViaAll)
	}
	begin, cancel := context.WithTimeout(ctx, o.Within)
	c, err := c.through(begin, q.Theme)
	cancel()
	if err != nil {
		return err
	}
	r := c.newRound(ctx, q)
	defer r.close()
	r.follow, r.options = true, o
	f := &follower{round: r, each: each, shown: seen.New(o.Updates), started: time.Now()}
	defer f.save()
	f.restore()
	err = f.begin(ctx)
	if err == nil {
		err = f.run(ctx)
	}
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// follower is a round that goes on.
type follower struct {
	*round
	each      func(feedring.Entry, feedring.Cursor) error
	shown     *seen.Entries
	began     time.Time // to follow, perhaps another time
	older     older
	started   time.Time
	saved     time.Time
	ringAsked time.Time // for new groups
	themes    chan []feedring.Theme
	first     bool             // First is still due
	unserved  []feedring.Theme // that nobody serves
	dirty     bool             // there is something to save
	resumed   bool
	refused   bool      // that nobody serves this side was told
	noRelay   time.Time // since when the relay passes nothing on; zero: it does
	silent    lostRelay
}

// restore takes up where Resume or Cursor say.
func (f *follower) restore() {
	f.themes = make(chan []feedring.Theme)
	f.began = f.started
	if !f.options.Began.IsZero() {
		f.began = f.options.Began
	}
	if resume := f.options.Resume; resume != nil {
		f.resumed = len(resume.Groups) > 0
		if f.resumed && !resume.At.IsZero() {
			f.began = resume.At // an earlier version did not keep when it began
		}
		if f.resumed && !resume.Began.IsZero() {
			f.began = resume.Began
		}
		for _, p := range resume.Peers {
			f.client.meet(p)
		}
		for _, c := range resume.Shown {
			f.shown.Restore(seen.Copy(c))
		}
		for _, g := range resume.Groups {
			f.group(g.Theme).cursor = maps.Clone(g.Cursor)
			f.group(g.Theme).heard = resume.At
		}
	}
	if f.options.Cursor != nil {
		f.resumed = true
		f.shown.HasOthers()
		if f.query.Theme != "" {
			f.group(f.query.Theme).cursor = maps.Clone(f.options.Cursor)
		}
	}
}

// begin shows the first answer, or where there is a cursor what came after it.
func (f *follower) begin(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, f.options.Within)
	defer cancel()
	if f.resumed {
		close(f.live)
		f.first = true
		return f.goOnFromCursor(within)
	}
	answer, err := f.gather(within)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	answer.Entries = slices.DeleteFunc(answer.Entries, func(e feedring.Entry) bool {
		wanted, _ := f.shown.Wants(&e, true)
		return !wanted
	})
	if err := f.showFirst(answer); err != nil {
		return err
	}
	close(f.live)
	f.planAll()
	return nil
}

// showFirst shows a first answer. ErrEnough where the reader took all that it
// wants.
func (f *follower) showFirst(answer Answer) error {
	if f.options.First != nil {
		for i := range answer.Entries {
			f.shown.Add(&answer.Entries[i])
		}
		resume := f.resume()
		answer.Cursor, answer.Resume = f.cursorOrNil(), &resume
		err := f.options.First(answer)
		f.dirty = err == nil || errors.Is(err, ErrEnough)
		return err
	}
	f.dirty = true
	for i := range answer.Entries {
		e := &answer.Entries[i]
		err := f.each(*e, f.cursor(nil, nil))
		if err == nil || errors.Is(err, ErrEnough) {
			f.shown.Add(e)
		}
		if err != nil {
			if i+1 < len(answer.Entries) || !errors.Is(err, ErrEnough) {
				for _, g := range f.groups {
					g.cursor = nil // it is beyond what was shown
				}
			}
			return err
		}
	}
	return nil
}

// goOnFromCursor asks for providers to go on from the cursor.
func (f *follower) goOnFromCursor(ctx context.Context) error {
	var since []time.Time
	for _, g := range f.groups {
		since = append(since, f.sinceOf(g))
	}
	if len(since) > 0 {
		f.question.since = slices.MinFunc(since, time.Time.Compare)
	}
	final, err := f.client.find(ctx, f.question)
	if err != nil {
		return err
	}
	f.final = final
	for _, grant := range final.Grants {
		if g := f.group(grant.Theme); g.cursor == nil {
			g.cursor = maps.Clone(f.options.Cursor) // of a query over all groups
		}
		f.start(grant, nil)
	}
	f.planAll()
	return f.firstWhole()
}

// planAll plans what is not served yet.
func (f *follower) planAll() {
	f.ringAsked = time.Now()
	if f.query.Theme != "" {
		f.group(f.query.Theme)
	}
	for _, g := range f.groups {
		g.failures = 0
		f.plan(g, backOffLeast, backOffMost)
	}
}

// plan says when to search for a group again.
func (f *follower) plan(g *group, least, most time.Duration) {
	now := time.Now()
	switch {
	case len(g.sessions) == 0, g.failed:
		g.failed, g.lacking = false, true
		g.due = now.Add(min(most, least<<min(g.failures, 16)))
	case g.own():
		g.due = now.Add(lookForOwn)
	default:
		g.due = time.Time{}
	}
}

// own reports whether publishers serve the group, each its own feeds only.
func (g *group) own() bool {
	for s := range g.sessions {
		if s.grant.Own {
			return true
		}
	}
	return false
}

// run shows what is new until ctx ends.
func (f *follower) run(ctx context.Context) error {
	for {
		wake := time.NewTimer(f.searchDue())
		var err error
		select {
		case e := <-f.events:
			err = f.onEvent(e)
		case p := <-f.searches:
			err = f.onSearchEnd(p)
		case themes := <-f.themes:
			f.onThemes(themes)
		case <-wake.C:
		case <-ctx.Done():
			err = ctx.Err()
		}
		wake.Stop()
		if err != nil {
			return err
		}
		if err := f.firstWhole(); err != nil {
			return err
		}
		if err := f.tellOlder(); err != nil {
			return err
		}
		f.tellUnserved()
		if time.Since(f.saved) >= saveEvery {
			f.save()
		}
	}
}

// searchDue starts the searches that are due, and returns how long the next
// can wait.
func (f *follower) searchDue() time.Duration {
	wait := f.older.wait(saveEvery)
	for _, g := range f.groups {
		wait = min(wait, max(0, f.auditWhenDue(g)))
		if g.asking || g.due.IsZero() {
			continue
		}
		if left := time.Until(g.due); left > 0 {
			wait = min(wait, left)
			continue
		}
		f.search(g, newQuestion(g.theme, f.query.Provider, f.sinceOf(g)), searchWithin)
	}
	if f.query.Theme == "" && time.Since(f.ringAsked) >= lookForNew {
		f.ringAsked = time.Now()
		f.askRing()
	}
	return wait
}

// sinceOf is from when on a provider must hold everything.
func (f *follower) sinceOf(g *group) time.Time {
	switch {
	case g.behind != nil:
		return time.Unix(1, 0) // older than any cache: the publishers themselves
	case g.waitedEnough(), len(g.skipped) > 0:
		return time.Time{} // whoever holds most
	case g.cursor != nil && !g.heard.IsZero() && g.heard.Add(-searchMargin).After(f.query.Since):
		return g.heard.Add(-searchMargin)
	default:
		return f.query.Since
	}
}

// askRing asks for groups that were founded since.
func (f *follower) askRing() {
	f.running.Go(func() {
		ctx, cancel := context.WithTimeout(f.ctx, searchWithin)
		defer cancel()
		groups, err := f.client.Ring(ctx)
		if err != nil {
			return // asked again
		}
		themes := make([]feedring.Theme, len(groups))
		for i, g := range groups {
			themes[i] = g.Theme
		}
		select {
		case f.themes <- themes:
		case <-f.ctx.Done():
		}
	})
}

// relayLost reports whether the one relay that this side was given is away for good.
func (f *follower) relayLost(err error) bool {
	through, ok := f.client.transport.(passed)
	switch {
	case !ok || !through.fixed || !errors.Is(err, ErrRelay):
		f.noRelay = time.Time{}
	case f.noRelay.IsZero():
		f.noRelay = time.Now()
	}
	return !f.noRelay.IsZero() && time.Since(f.noRelay) >= relayPatience
}

// onThemes takes the themes of the ring.
func (f *follower) onThemes(themes []feedring.Theme) {
	for _, theme := range themes {
		if f.groups[theme] == nil {
			f.group(theme).due = time.Now()
		}
	}
}

// onSearchEnd takes the end of a search: the new providers replace the old ones,
// which go on where those stopped.
func (f *follower) onSearchEnd(p searchEnd) error {
	g := p.group
	g.asking = false
	if f.giveUp(g, p) {
		defer func() { g.due = time.Now().Add(backOffMost) }() // publishers are given that long first
	}
	switch {
	case errors.Is(p.err, ErrBadQuery), membership.Ended(p.err), f.relayLost(p.err):
		return p.err
	case p.err != nil || p.final.Status == feedring.Incomplete && len(p.final.Grants) == 0:
		if _, refused := membership.IsRefused(p.err); refused && !f.refused {
			f.refused = true
			f.client.log.Warn("nobody who may be asked serves this side: they are asked again and again", "err", p.err)
		}
		g.failures++
		f.plan(g, backOffLeast, backOffMost)
		return nil
	case len(p.final.Grants) == 0:
		g.failures++
		f.plan(g, backOffMost, absentMost)
		return nil
	}
	for s := range g.sessions {
		g.stop(s)
	}
	g.lacking = false
	for _, grant := range p.final.Grants {
		if grant.Theme == g.theme {
			f.start(grant, nil)
		}
	}
	f.plan(g, backOffLeast, backOffMost)
	return nil
}
