package client

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/truth"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/stem"
	"github.com/feedring/feedring/internal/wire"
)

const (
	maxAttempts = 3 // of one query, while its time lasts
	// retryPause lets a group that lost its manager find another.
	retryPause = 300 * time.Millisecond
)

// round is one query or follow: the groups that serve it, and what they sent.
// One goroutine owns it; sessions and searches report to it.
type round struct {
	client  *Client
	query   feedring.Query
	options FollowOptions
	follow  bool

	question *question // of the query as it was put
	final    feedring.Final
	groups   map[feedring.Theme]*group
	events   chan event
	searches chan searchEnd
	banned   map[feedring.PeerID]bool // sent what it must not
	live     chan struct{}            // closed when the first answer was shown
	full     bool                     // a provider gave as many entries as were asked for

	ctx     context.Context // of sessions and searches
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// group is one group that the round is served by, or was.
type group struct {
	theme       feedring.Theme
	question    *question
	sessions    map[*session]bool        // the value: its first answer is whole
	unconfirmed map[*session]unconfirmed // by the session that is to end it
	checks      []*firstAnswer           // of its first answers
	audit       audit                    // of a follower's provider
	served      []feedring.PeerID        // who gave a whole answer
	asking      bool
	failed      bool // given up, in a query
	missing     []string
	copies      []string

	cursor  feedring.Cursor           // nil: nothing was shown yet
	heard   time.Time                 // until then nothing is missing
	idle    time.Time                 // since when no session is whole; zero: one is, or nobody looked
	lacking bool                      // a provider was lost and none took its place yet
	behind  *wire.RefusedError        // nobody holds everything after the cursor but the publishers; nil: not so
	stuck   time.Time                 // since when nobody was found who holds all after the cursor; zero: not so
	skipped map[feedring.FeedRef]bool // given up: what is still held of them is taken
	// unreached is the publishers that gave nothing when they were last tried.
	unreached map[feedring.PeerID]bool
	failures  int
	due       time.Time // when to ask again; zero: no need
}

// searchEnd is the end of a search for one group.
type searchEnd struct {
	group *group
	final feedring.Final
	err   error
}

func (c *Client) newRound(ctx context.Context, q feedring.Query) *round {
	r := &round{
		client: c, query: q, question: newQuestion(q.Theme, q.Provider, q.Since),
		groups: make(map[feedring.Theme]*group), events: make(chan event), searches: make(chan searchEnd),
		banned: make(map[feedring.PeerID]bool), live: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// close ends all sessions and waits for them.
func (r *round) close() {
	r.cancel()
	r.running.Wait()
}

func (r *round) group(theme feedring.Theme) *group {
	g := r.groups[theme]
	if g == nil {
		g = &group{
			theme: theme, question: r.question, sessions: make(map[*session]bool), unconfirmed: make(map[*session]unconfirmed),
			skipped: make(map[feedring.FeedRef]bool), unreached: make(map[feedring.PeerID]bool),
		}
		if theme != r.query.Theme {
			g.question = newQuestion(theme, r.query.Provider, r.query.Since)
		}
		r.groups[theme] = g
	}
	return g
}

// start attaches to one of a grant's providers; those in skip were tried.
func (r *round) start(grant feedring.Grant, skip map[feedring.PeerID]bool) *session {
	return r.begin(grant, skip, &session{})
}

// begin attaches to one of a grant's providers, with what s says of its aim.
func (r *round) begin(grant feedring.Grant, skip map[feedring.PeerID]bool, s *session) *session {
	g := r.group(grant.Theme)
	query := r.query
	query.Theme = grant.Theme
	s.client, s.grant, s.events, s.live, s.skip = r.client, grant, r.events, r.live, make(map[feedring.PeerID]bool)
	s.want, s.answer = wire.Attach{Query: query, Updates: r.options.Updates}, truth.NewAnswer(&query)
	switch s.aim {
	case serves:
		s.want.Follow, s.want.Cursor = r.follow, g.cursorFor(&grant)
	case summaries:
		s.want.Summary, s.want.Query.Limit = true, min(query.Limit, feedring.MaxHints)
	case confirms:
	}
	if query.Stem {
		if expr, err := match.Parse(query.Words); err == nil { // as check found
			s.stems = stem.NewMatcher(expr)
		}
	}
	maps.Copy(s.skip, skip)
	maps.Copy(s.skip, r.banned)
	g.sessions[s] = false
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(r.ctx)
	r.running.Go(func() { s.run(ctx) })
	return s
}

// cursorFor is what a provider needs to know of the cursor: of itself alone
// where it serves its own feeds, and nothing of what was given up, or it would
// refuse.
func (g *group) cursorFor(grant *feedring.Grant) feedring.Cursor {
	if g.cursor == nil {
		return nil
	}
	cursor := make(feedring.Cursor, len(g.cursor))
	for ref, at := range g.cursor {
		if !g.skipped[ref] && (!grant.Own || ref.Publisher == grant.Provider.ID) {
			cursor[ref] = at
		}
	}
	return cursor
}

// stop lets a session go; what it still reports is not heard.
func (g *group) stop(s *session) {
	s.cancel()
	delete(g.sessions, s)
	delete(g.unconfirmed, s)
}

// search asks for providers of one group, within a time.
func (r *round) search(g *group, q *question, within time.Duration) {
	g.asking = true
	r.running.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, within)
		defer cancel()
		final, err := r.client.find(ctx, q)
		select {
		case r.searches <- searchEnd{g, final, err}:
		case <-r.ctx.Done():
		}
	})
}

// useAlternate starts a session with the providers of a lost one that are left. It
// reports whether there were any.
func (r *round) useAlternate(s *session, served feedring.PeerID) bool {
	if served == "" {
		return false // all of them were tried
	}
	skip := maps.Clone(s.skip)
	skip[served] = true
	rest := session{client: r.client, grant: s.grant, skip: skip}
	if len(rest.providers()) == 0 {
		return false
	}
	r.start(s.grant, skip).check = s.check
	return true
}

// banForger bans a provider that sent what it must not.
func (r *round) banForger(e event) {
	if e.served != "" && (errors.Is(e.ended, errForged) || errors.Is(e.ended, errStray)) {
		r.banned[e.served] = true
		r.client.log.Warn("provider left", "peer", e.served, "why", e.ended)
	}
}
