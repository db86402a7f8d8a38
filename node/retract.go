package node

import (
	"context"

	"github.com/feedring/feedring"
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
