package blocking

import (
	"context"

	"github.com/feedring/feedring/internal/store"
)

// Searcher finds what a store holds.
type Searcher interface {
	Search(context.Context, store.Search) ([]store.Item, store.Cursor, error)
}

// Hider tells what is hidden.
type Hider interface {
	Any() bool
	Item(*store.Item) bool
}

// NewSearcher returns one that does not find what is hidden.
func NewSearcher(over Searcher, hides Hider) Searcher { return searcher{over, hides} }

type searcher struct {
	Searcher
	hides Hider
}

// Search implements Searcher.
func (s searcher) Search(ctx context.Context, q store.Search) ([]store.Item, store.Cursor, error) {
	if s.hides.Any() {
		accept := q.Accept
		q.Accept = func(it *store.Item) bool { return !s.hides.Item(it) && (accept == nil || accept(it)) }
	}
	return s.Searcher.Search(ctx, q)
}
