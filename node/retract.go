package node

import (
	"context"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// RetractEntry implements web.Backend.
func (n *Node) RetractEntry(ctx context.Context, id feedring.EntryID) ([]web.Retracted, error) {
	return n.retractor.Entry(ctx, id)
}

// RetractURL implements web.Backend.
func (n *Node) RetractURL(ctx context.Context, url string) ([]web.Retracted, error) {
	return n.retractor.URL(ctx, url)
}

// takeBack does what a retraction says that another peer's log tells here too
// late to have a place.
func (n *Node) takeBack(ctx context.Context, it store.Item) error {
	if err := n.store.Retract(ctx, it); err != nil {
		return fmt.Errorf("taking %s back: %w", it.ID, err)
	}
	n.personal.Retract(&it)
	return nil
}
