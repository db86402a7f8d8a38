package node

import (
	"context"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// Query implements web.Backend.
func (n *Node) Query(ctx context.Context, ask web.Ask) (web.Answer, error) {
	return n.readers.Query(ctx, ask)
}

// Follow implements web.Backend.
func (n *Node) Follow(ctx context.Context, ask web.Ask, each func(web.Update) error) error {
	return n.readers.Follow(ctx, ask, each)
}

// Held implements web.Backend.
func (n *Node) Held(ctx context.Context, ask web.Ask) ([]feedring.Entry, error) {
	return n.readers.Held(ctx, ask)
}

// Copies implements web.Backend.
func (n *Node) Copies(id feedring.EntryID) []feedring.Entry { return n.readers.Copies(id) }

// Site implements web.Backend.
func (n *Node) Site(e *feedring.Entry) string {
	if e.VouchedBy != "" {
		return e.VouchedBy
	}
	return n.StandsBehind(e.Theme, e.Ref())
}
