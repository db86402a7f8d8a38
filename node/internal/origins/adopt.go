package origins

import (
	"slices"

	"github.com/feedring/feedring"
)

// Mirrors lists who else published an own feed, where what they published is
// not published again: the group has it. The site's own peer publishes all, since
// its word is another one than a mirror's; so does who never had others beside it.
func (o *Feeds) Mirrors(url string) []feedring.PeerID {
	if t := o.assignments.of(url); !t.mirrored && !o.carries(url) || t.Own || o.Vouched(url) {
		return nil
	}
	return slices.DeleteFunc(o.Store.Publishers(url), func(p feedring.PeerID) bool { return p == o.Self })
}

// carries reports whether a feed is carried for others.
func (o *Feeds) carries(url string) bool {
	f, ok := o.get(url)
	return ok && f.carried() > 0
}

// Adopted notes that entries of mirrors stand for this peer's own.
func (o *Feeds) Adopted(url string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		f.adopted = true
	}
}

// claim has the next fetch of a feed find everything, where entries were left to
// mirrors before the site named this peer: its readers are given them by the
// site's own word from then on.
func (o *Feeds) claim(f *origin) {
	o.mu.Lock()
	adopted := f.adopted
	o.mu.Unlock()
	if !adopted || !o.ours.Vouched(f.url) && !o.assignments.of(f.url).Own {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f.moved, f.adopted = true, false
}

// Again has the next fetch of a feed find everything anew: what is published already is left out then.
func (o *Feeds) Again(url string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		f.moved = true
	}
}
