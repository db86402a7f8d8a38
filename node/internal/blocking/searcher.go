package blocking

import (
	"context"

	"github.com/feedring/feedring/internal/store"
)

// Searcher finds what a store holds.
type Searcher interface {
	Search(context.Context, store.Search) ([]store.Item, store.Cursor, error)
}

// Searcher returns one that does not find what is blocked.
func (b *Blocks) Searcher(over Searcher) Searcher { return searcher{over, b} }

type searcher struct {
	Searcher
	blocks *Blocks
}

// Search implements Searcher.
func (s searcher) Search(ctx context.Context, q store.Search) ([]store.Item, store.Cursor, error) {
	if s.blocks.Any() {
		accept := q.Accept
		q.Accept = func(it *store.Item) bool { return !s.blocks.Item(it) && (accept == nil || accept(it)) }
	}
	return s.Searcher.Search(ctx, q)
}
