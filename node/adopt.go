package node

import (
	"slices"

	"github.com/feedring/feedring"
)

// mirrors tells the publisher of mirrors.
type mirrors struct{ node *Node }

func (m mirrors) Adopted(url string) { m.node.origins.Adopted(url) }

// Mirrors lists who else published an own feed, where what they published is
// not published again: the group has it. The site's own peer publishes all, since
// its word is another one than a mirror's; so does who never had others beside it.
func (m mirrors) Mirrors(url string) []feedring.PeerID {
	if !m.node.origins.lookers.of(url).mirrored || m.node.vouched(url) {
		return nil
	}
	return slices.DeleteFunc(m.node.store.Publishers(url), func(p feedring.PeerID) bool { return p == m.node.ID() })
}

// Adopted notes that entries of mirrors stand for this peer's own.
func (o *origins) Adopted(url string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		f.adopted = true
	}
}

// claim has the next look at a feed find everything, where entries were left to
// mirrors before the site named this peer: its readers are given them by the
// site's own word from then on.
func (o *origins) claim(f *origin) {
	o.mu.Lock()
	adopted := f.adopted
	o.mu.Unlock()
	if !adopted || o.ours == nil || !o.ours(f.url) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f.moved, f.adopted = true, false
}
