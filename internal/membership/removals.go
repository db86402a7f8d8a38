package membership

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
)

// removing is the roll; without a charter nil, which removes nothing.
func (k *Keeper) removing() *charter.Roll {
	if k == nil {
		return nil
	}
	return k.Roll()
}

// RemovesAny reports whether moderators of the network removed anything. A nil keeper,
// of an open network, removes nothing.
func (k *Keeper) RemovesAny() bool {
	r := k.removing()
	return r != nil && r.RemovesAny()
}

// RemovesFeed reports whether they removed all that a publisher has of a feed.
func (k *Keeper) RemovesFeed(ref feedring.FeedRef) bool {
	r := k.removing()
	return r != nil && r.RemovesFeed(ref)
}

// Removes reports whether they removed an entry.
func (k *Keeper) Removes(ref feedring.FeedRef, id feedring.EntryID) bool {
	r := k.removing()
	return r != nil && r.Removes(ref, id)
}

// WhyRemoved is the reason that was given for the removal of a feed of this peer.
func (k *Keeper) WhyRemoved(url string) (reason string, removed bool) {
	r := k.removing()
	if r == nil {
		return "", false
	}
	return r.WhyRemoved(feedring.FeedRef{URL: url, Publisher: k.self()})
}

// RemovalChanges is another number whenever something else is removed.
func (k *Keeper) RemovalChanges() uint64 {
	if k == nil {
		return 0
	}
	return k.removals.Load()
}

// publishesChanged tells whoever serves feeds here.
func (v *vouched) publishesChanged() {
	v.mu.Lock()
	asker := v.asker
	v.mu.Unlock()
	if asker != nil {
		asker.PublishesChanged()
	}
}
