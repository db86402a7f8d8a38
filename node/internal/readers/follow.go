package readers

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/readers/delivery"
)

// Follow is Query, and then each new entry until ctx ends.
func (s *Server) Follow(ctx context.Context, ask web.Ask, each func(web.Update) error) error {
	if ask.Began.IsZero() {
		ask.Began = time.Now()
	}
	if !ask.Private || ask.Theme != "" {
		return s.followNetwork(ctx, ask, each)
	}
	return s.followBoth(ctx, ask, updates(each))
}

// reader takes what is new; an error ends its follow.
type reader interface{ take(web.Update) error }

// updates is a function as a reader.
type updates func(web.Update) error

func (f updates) take(u web.Update) error { return f(u) }

func (s *Server) followNetwork(ctx context.Context, ask web.Ask, each func(web.Update) error) error {
	return s.client.Follow(ctx, ask.Query, client.FollowOptions{
		Updates: ask.Updates, Cursor: ask.Cursor, Began: ask.Began,
		Older: func(o client.Older, at feedring.Cursor) error {
			older := web.Older{Event: "older", Theme: o.Theme, Feed: o.Feed.URL, Provider: o.Provider, Count: o.Count}
			return each(web.Update{Older: &older, Cursor: at})
		},
		Gap: func(g client.Gap) { // a reader who left is noticed at the next entry
			_ = each(web.Update{Gap: &web.Gap{Event: "gap", Theme: g.Theme, Feed: g.Feed.URL, Publisher: g.Feed.Publisher}})
		},
		Unserved: func(themes []feedring.Theme) {
			_ = each(web.Update{Unserved: &web.Unserved{Event: "unserved", Themes: themes}})
		},
		Retracted: func(e feedring.Entry, at feedring.Cursor) error {
			r := e.Retraction()
			return each(web.Update{Retraction: &r, Cursor: at})
		},
		First: func(a client.Answer) error {
			for i := range a.Entries {
				if err := each(web.Update{Entry: &a.Entries[i]}); err != nil {
					return err
				}
			}
			return each(web.Update{Final: &a.Final, Cursor: a.Cursor})
		},
	}, func(e feedring.Entry, at feedring.Cursor) error {
		return each(web.Update{Entry: &e, Cursor: at})
	})
}

// both joins the network's entries and this peer's private ones into one
// stream with one first answer and one cursor.
type both struct {
	reader  reader
	limit   int
	serves  bool    // a private feed is what was asked for
	resumed [2]bool // of each side: entries are passed on as they come

	network, private chan web.Update
	first            [2][]feedring.Entry // of the private feeds, of the network
	at               [2]feedring.Cursor
	final            *feedring.Final

	older []web.Older      // of private feeds, to be told when no more come for a moment
	quiet <-chan time.Time // then; nil: there are none
}

func (s *Server) followBoth(ctx context.Context, ask web.Ask, to reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if ask.Limit == 0 {
		ask.Limit = feedring.DefaultLimit
	}
	b := &both{
		reader: to, limit: ask.Limit, serves: s.Private.OffersPrivately(ask.Provider),
		network: make(chan web.Update), private: make(chan web.Update),
	}
	theirs, ours := ask, ask
	ours.Cursor, theirs.Cursor = s.splitCursor(ask.Cursor)
	b.at = [2]feedring.Cursor{ours.Cursor, theirs.Cursor}
	b.resumed = [2]bool{ours.Cursor != nil, theirs.Cursor != nil}
	ended := make(chan error, 2)
	go func() { ended <- s.followNetwork(ctx, theirs, side{ctx, b.network}.take) }()
	go func() { ended <- s.followPrivate(ctx, ours, side{ctx, b.private}) }()
	if err := b.begin(ended); err != nil {
		return err
	}
	for {
		var err error
		select {
		case u := <-b.private:
			err = b.pass(0, u)
		case u := <-b.network:
			err = b.pass(1, u)
		case <-b.quiet:
			err = b.tellOlder()
		case err := <-ended: // neither ends by itself while ctx goes on
			return err
		}
		if err != nil {
			return err
		}
	}
}

// side is one of two follows.
type side struct {
	ctx context.Context
	to  chan<- web.Update
}

func (s side) take(u web.Update) error {
	select {
	case s.to <- u:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// splitCursor takes this peer's private feeds out of a cursor: they are told to
// nobody. Where nothing else is in it the network's side begins again.
func (s *Server) splitCursor(c feedring.Cursor) (private, rest feedring.Cursor) {
	if c == nil {
		return nil, nil
	}
	private, rest = feedring.Cursor{}, maps.Clone(c)
	for ref, at := range c {
		if h, ok := s.Store.Head(ref); ref.Publisher == s.Self && (!ok || h.Private) {
			private[ref] = at
			delete(rest, ref)
		}
	}
	if len(rest) == 0 {
		rest = nil
	}
	return private, rest
}

// begin takes both first answers. Each side ends its own with a final; it is
// not read on before the other's has come.
func (b *both) begin(ended <-chan error) error {
	private, network := b.private, b.network
	for private != nil || network != nil {
		var err error
		select {
		case u := <-private:
			if err = b.take(0, u); u.Final != nil {
				private = nil
			}
		case u := <-network:
			if err = b.take(1, u); u.Final != nil {
				b.final, network = u.Final, nil
			}
		case err = <-ended:
			return err
		}
		if err != nil {
			return err
		}
	}
	for _, e := range merged(b.first[0], b.first[1], b.limit) {
		if err := b.reader.take(web.Update{Entry: &e}); err != nil {
			return err
		}
	}
	if b.final.Status == feedring.Unsatisfied && b.serves {
		b.final.Status = feedring.Answered
	}
	return b.reader.take(web.Update{Final: b.final, Cursor: b.stands()})
}

// take keeps an entry of a first answer.
func (b *both) take(side int, u web.Update) error {
	if u.Entry == nil || b.resumed[side] {
		return b.pass(side, u)
	}
	b.first[side] = append(b.first[side], *u.Entry)
	return nil
}

func (b *both) note(side int, u web.Update) {
	if u.Cursor != nil {
		b.at[side] = u.Cursor
	}
}

// pass shows what is new, with where the reader then stands on both sides.
func (b *both) pass(side int, u web.Update) error {
	b.note(side, u)
	if u.Gap != nil || u.Unserved != nil {
		return b.reader.take(u)
	}
	if u.Older != nil && side == 0 {
		b.addOlder(u.Older)
		return nil
	}
	if u.Entry == nil && u.Retraction == nil && u.Older == nil {
		return nil
	}
	u.Cursor = b.stands()
	return b.reader.take(u)
}

// olderAfter is how long no more history of private feeds comes before it is told
// how much there was: a long one comes in parts.
const olderAfter = 500 * time.Millisecond

func (b *both) addOlder(o *web.Older) {
	b.quiet = time.After(olderAfter)
	if i := slices.IndexFunc(b.older, func(other web.Older) bool { return other.Feed == o.Feed }); i >= 0 {
		b.older[i].Count += o.Count
		return
	}
	b.older = append(b.older, *o)
}

func (b *both) tellOlder() error {
	told := b.older
	b.older, b.quiet = nil, nil
	for i := range told {
		if err := b.reader.take(web.Update{Older: &told[i], Cursor: b.stands()}); err != nil {
			return err
		}
	}
	return nil
}

// stands is where the reader stands on both sides; nil: on neither yet.
func (b *both) stands() feedring.Cursor {
	if len(b.at[0])+len(b.at[1]) == 0 {
		return nil
	}
	at := make(feedring.Cursor, len(b.at[0])+len(b.at[1]))
	maps.Copy(at, b.at[1])
	maps.Copy(at, b.at[0])
	return at
}

// privateBeat is how often a private follower's session looks whether its
// reader is still there.
const privateBeat = 10 * time.Second

// followPrivate follows this peer's private feeds: straight from the store,
// since no other peer knows them.
func (s *Server) followPrivate(ctx context.Context, ask web.Ask, to reader) error {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return err
	}
	out := &privateSink{server: s, reader: to, at: feedring.Cursor{}, live: ask.Cursor != nil, began: ask.Began}
	maps.Copy(out.at, ask.Cursor)
	return s.Delivery.Serve(ctx, delivery.Reader{
		Out: out, Cursor: ask.Cursor, Follow: true, Beat: privateBeat,
		Want: delivery.Interest{
			Private: true, Provider: ask.Provider, Words: expr, Since: ask.Since, Until: ask.Until,
			Stem: ask.Stem, Limit: ask.Limit, Updates: ask.Updates, Listed: s.Private,
		},
	})
}

// privateSink sends a session's entries with where the reader then stands.
type privateSink struct {
	server *Server
	reader reader
	at     feedring.Cursor
	live   bool // entries come in the order of the log

	began time.Time  // the reader, to follow
	older *web.Older // what was passed over since the last mark; nil: nothing
}

func (p *privateSink) Item(it *store.Item) error {
	e, err := p.server.Open(it)
	if err != nil {
		return err
	}
	u := web.Update{Entry: e}
	if e.Retracted {
		r := e.Retraction()
		u = web.Update{Retraction: &r}
	}
	if p.live {
		p.at[it.Ref] = it.Position
		if !e.Retracted && !e.NewSince(p.began) {
			p.passOver(e)
			return nil
		}
		u.Cursor = maps.Clone(p.at)
	}
	return p.reader.take(u)
}

// passOver counts history. Between two marks there are entries of one feed.
func (p *privateSink) passOver(e *feedring.Entry) {
	if p.older == nil {
		p.older = &web.Older{Event: "older", Feed: e.Feed, Provider: e.Provider}
	}
	p.older.Count++
}

func (p *privateSink) Mark(cursor feedring.Cursor) error {
	maps.Copy(p.at, cursor)
	older := p.older
	if p.older = nil; older == nil {
		return nil
	}
	return p.reader.take(web.Update{Older: older, Cursor: maps.Clone(p.at)})
}

func (p *privateSink) Caught(int) error {
	p.live = true
	return p.reader.take(web.Update{Final: &feedring.Final{}, Cursor: maps.Clone(p.at)})
}

func (*privateSink) Alive() error { return nil }
