package publish

import (
	"context"

	"github.com/feedring/feedring/internal/store"
)

// ByAddress finds the entries, of whatever feed, that have an address. It reads all
// entries.
func (r *Retractor) ByAddress(ctx context.Context, url string) ([]store.Item, error) {
	return r.withAddress(ctx, nil, url)
}
