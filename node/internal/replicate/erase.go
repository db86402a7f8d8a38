package replicate

import (
	"cmp"
	"context"
	"time"

	"github.com/feedring/feedring"
)

// Erase forgets what another peer published of a feed. First nobody is told any more
// that a copy is here.
func (r *Replicator) Erase(ctx context.Context, ref feedring.FeedRef) error {
	h, ok := r.Store.Head(ref)
	if !ok {
		return nil
	}
	if r.copies != nil {
		if err := r.copies.raise(ctx, ref, time.Now()); err != nil {
			return err
		}
		r.copies.announce(h.Theme.Group(), ref)
	}
	return cmp.Or(r.Store.Forget(ctx, ref), r.copies.forget(ctx, ref))
}
