package readers

import (
	"context"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/sealed"
)

// Query asks the network, and where private entries are wanted this peer's private
// feeds, too.
func (s *Server) Query(ctx context.Context, ask web.Ask) (web.Answer, error) {
	answer, err := s.client.Query(ctx, ask.Query)
	if err != nil {
		return web.Answer{}, err
	}
	out := web.Answer{Entries: answer.Entries, Final: answer.Final, Theme: ask.Theme}
	if ask.Private && ask.Theme == "" {
		return s.withPrivate(ctx, ask, out)
	}
	return out, nil
}

// withPrivate adds this peer's private entries to an answer.
func (s *Server) withPrivate(ctx context.Context, ask web.Ask, out web.Answer) (web.Answer, error) {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return out, err
	}
	search := store.Search{
		Provider: ask.Provider, Since: ask.Since, Until: ask.Until, Limit: ask.Limit, Privacy: store.PrivateOnly,
		Refs: s.Private.PrivateRefs(),
	}
	want := delivery.Interest{Words: expr, Stem: ask.Stem}
	want.Narrow(&search)
	items, err := s.Delivery.Newest(ctx, search)
	if err != nil {
		return out, err
	}
	// Who serves it is there, whether or not an entry matches.
	if out.Final.Status == feedring.Unsatisfied && s.Private.OffersPrivately(ask.Provider) {
		out.Final.Status = feedring.Answered
	}
	var own []feedring.Entry
	for i := range items {
		e, err := s.Open(&items[i])
		if err != nil {
			return out, err
		}
		own = append(own, *e)
	}
	out.Entries = merged(own, out.Entries, ask.Limit)
	return out, nil
}

// merged is two answers as one, newest first. An entry that both hold was once
// published and is private now, or the other way round: the first one's counts.
func merged(first, second []feedring.Entry, limit int) []feedring.Entry {
	var all duplicate.Merge
	for _, entries := range [][]feedring.Entry{first, second} {
		for i := range entries {
			all.Add(entries[i])
		}
	}
	if limit <= 0 {
		limit = feedring.DefaultLimit
	}
	return all.Newest(limit, time.Now())
}

// Held returns what this peer itself holds of what is asked for.
func (s *Server) Held(ctx context.Context, ask web.Ask) ([]feedring.Entry, error) {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return nil, err
	}
	search := store.Search{Theme: ask.Theme, Provider: ask.Provider, Since: ask.Since, Until: ask.Until, Limit: ask.Limit}
	want := delivery.Interest{Words: expr, Stem: ask.Stem}
	if ask.Vouched {
		want.Vouched = s.Sites
	}
	want.Narrow(&search)
	items, err := s.Delivery.Newest(ctx, search)
	if err != nil {
		return nil, err
	}
	entries := make([]feedring.Entry, 0, len(items))
	for i := range items {
		e, err := s.Open(&items[i])
		if err != nil {
			return nil, err
		}
		entries = append(entries, *e)
	}
	entries = merged(entries, nil, ask.Limit)
	if !ask.Private || ask.Theme != "" {
		return entries, nil
	}
	all, err := s.withPrivate(ctx, ask, web.Answer{Entries: entries})
	return all.Entries, err
}

// Copies lists the public copies of an entry that are held here, one for each publisher.
func (s *Server) Copies(id feedring.EntryID) (copies []feedring.Entry) {
	found := s.Store.LatestByOthers(id, "", "")
	for i := range found {
		if e, err := s.Open(&found[i]); err == nil {
			e.VouchedBy = s.vouchedBy(&found[i])
			copies = append(copies, *e)
		}
	}
	return copies
}

// Open decodes a stored entry, which this peer serves, and says whose words it is.
func (s *Server) Open(it *store.Item) (*feedring.Entry, error) {
	e, err := sealed.Open(it)
	if err != nil {
		return nil, err
	}
	e.Via = s.Self
	s.Sites.Attribute(e, "")
	return e, nil
}
