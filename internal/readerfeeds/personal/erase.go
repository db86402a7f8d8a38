package personal

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// EraseFeed takes what one peer published of a feed off all lists, and with it the
// copies that they keep: also off those of a fleet that this peer has left.
func (r *Reflector) EraseFeed(ref feedring.FeedRef) {
	r.changing.Lock()
	defer r.changing.Unlock()
	n, ok := r.byRef[ref]
	if !ok {
		return
	}
	now := time.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range slices.AppendSeq(slices.Clone(r.left), r.interests.All()) {
		if r.take(in, func(h *held) bool { return h.feed == n }) {
			in.modified = max(now, in.modified)
			r.writeInterest(in)
		}
	}
}
