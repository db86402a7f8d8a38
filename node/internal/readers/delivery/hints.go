package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// What this peer names in the grants that it makes.
const (
	hintsFor    = time.Second            // what was found is told for that long
	hintsWithin = 100 * time.Millisecond // a search that takes longer is given up: grants go without
	mostHinted  = 256                    // questions whose hints are remembered
	// hintsAfter is how old an entry is that others should have.
	hintsAfter = 2 * time.Second
)

// hinted is what was found for the questions of late.
type hinted struct {
	mu  sync.Mutex
	all map[hintsOf]foundHints
}

type hintsOf struct {
	theme    feedring.Theme
	provider string
}

type foundHints struct {
	at    time.Time
	items []hintItem // nil: it took too long
}

type hintItem struct {
	feedring.Hint
	seen time.Time
}

// Hint names, in the grants that this peer makes, the newest entries that it holds and that
// each provider of the grant should have too. Those of other peers stay as they are. It
// changes no grant that it is given, and blocks for a tenth of a second for each question
// of its own at most.
func (b *Broker) Hint(ctx context.Context, grants []feedring.Grant) []feedring.Grant {
	cloned := false
	for i := range grants {
		g := &grants[i]
		if g.Ticket.Seal != nil || g.Hints == nil || g.Hints.Copies != nil {
			continue
		}
		if !cloned {
			grants, cloned = slices.Clone(grants), true
			g = &grants[i]
		}
		g.Hints = b.hint(ctx, g.Theme, g.Hints)
	}
	return grants
}

func (b *Broker) hint(ctx context.Context, theme feedring.Theme, of *feedring.Hints) *feedring.Hints {
	found := b.held(ctx, hintsOf{theme, of.Provider})
	if found == nil {
		return nil
	}
	spread := time.Now().Add(-hintsAfter)
	hints := &feedring.Hints{Copies: make([]feedring.Hint, 0, len(found))}
	for _, it := range found {
		if it.seen.After(of.Held) && !it.seen.After(spread) && !it.Published.Before(of.Since) {
			hints.Copies = append(hints.Copies, it.Hint)
		}
	}
	return hints
}

// held finds the newest entries that match, or remembers them; nil: it took too long.
func (b *Broker) held(ctx context.Context, of hintsOf) []hintItem {
	b.hinted.mu.Lock()
	found, ok := b.hinted.all[of]
	b.hinted.mu.Unlock()
	if ok && time.Since(found.at) < hintsFor {
		return found.items
	}
	within, cancel := context.WithTimeout(ctx, hintsWithin)
	defer cancel()
	items, err := b.Newest(within, store.Search{Theme: of.theme, Provider: of.provider, Limit: feedring.MaxHints})
	found = foundHints{at: time.Now()}
	if err == nil {
		found.items = make([]hintItem, len(items))
		for i := range items {
			found.items[i] = hintItem{HintOf(&items[i]), items[i].Seen}
		}
	}
	b.hinted.mu.Lock()
	defer b.hinted.mu.Unlock()
	if b.hinted.all == nil || len(b.hinted.all) >= mostHinted {
		b.hinted.all = make(map[hintsOf]foundHints)
	}
	b.hinted.all[of] = found
	return found.items
}

// HintOf names one entry.
func HintOf(it *store.Item) feedring.Hint {
	return feedring.Hint{Copy: feedring.CopyKey(it.Ref, it.ID), Published: it.Published}
}
