package node

import (
	"context"
	"slices"
	"sort"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/sealed"
)

// local is the way of a reader at this very peer into the network: the same
// client as everybody's, whose streams to this peer stay in the process.
type local struct{ node *Node }

func (t local) ID() feedring.PeerID { return t.node.ID() }

func (t local) Learn(id feedring.PeerID, addrs []string) { t.node.host.Learn(id, addrs) }

func (t local) Close() error { return nil }

func (t local) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (client.Stream, error) {
	if to != t.node.ID() {
		return t.node.host.Open(ctx, to, verb, false)
	}
	return t.node.server.Open(t.node.ID(), verb)
}

// Query implements web.Backend.
func (n *Node) Query(ctx context.Context, ask web.Ask) (web.Answer, error) {
	answer, err := n.reader.Query(ctx, ask.Query)
	if err != nil {
		return web.Answer{}, err
	}
	out := web.Answer{Entries: answer.Entries, Final: answer.Final, Theme: ask.Theme}
	if ask.Private && ask.Theme == "" {
		return n.withPrivate(ctx, ask, out)
	}
	return out, nil
}

// withPrivate adds this peer's private entries to an answer.
func (n *Node) withPrivate(ctx context.Context, ask web.Ask, out web.Answer) (web.Answer, error) {
	expr, err := match.Parse(ask.Words)
	if err != nil {
		return out, err
	}
	search := store.Search{
		Provider: ask.Provider, Since: ask.Since, Until: ask.Until, Limit: ask.Limit, Privacy: store.PrivateOnly,
		Refs: n.origins.privateRefs(),
	}
	want := delivery.Interest{Words: expr, Stem: ask.Stem}
	want.Narrow(&search)
	items, _, err := n.history.Search(ctx, search)
	if err != nil {
		return out, err
	}
	// Who serves it is there, whether or not an entry matches.
	if out.Final.Status == feedring.Unsatisfied && n.origins.offersPrivately(ask.Provider) {
		out.Final.Status = feedring.Answered
	}
	var own []feedring.Entry
	for i := range items {
		e, err := n.entry(&items[i])
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
	all := append(slices.Clip(first), second...)
	seen := make(map[feedring.EntryID]bool, len(all))
	all = slices.DeleteFunc(all, func(e feedring.Entry) bool {
		again := seen[e.ID]
		seen[e.ID] = true
		return again
	})
	sort.SliceStable(all, func(i, j int) bool { return all[i].Published.After(all[j].Published) })
	if limit <= 0 {
		limit = feedring.DefaultLimit
	}
	return all[:min(len(all), limit)]
}

// entry opens a stored item of this peer's own.
func (n *Node) entry(it *store.Item) (*feedring.Entry, error) {
	e, err := sealed.Open(it)
	if err != nil {
		return nil, err
	}
	e.Via = n.ID()
	return e, nil
}
