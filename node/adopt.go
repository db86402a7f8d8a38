package node

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// mirrorsOf lists who else published an own feed, where what they published is
// not published again: the group has it. The site's own peer publishes all, since
// its word is another one than a mirror's; so does who never had others beside it.
func (n *Node) mirrorsOf(url string) []feedring.PeerID {
	if !n.origins.lookers.of(url).mirrored || n.vouched(url) {
		return nil
	}
	return slices.DeleteFunc(n.store.Publishers(url), func(p feedring.PeerID) bool { return p == n.ID() })
}

// adopts notes that entries of mirrors stand for this peer's own.
func (o *origins) adopts(url string) {
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

// adopted reports whether e, as it was found, is held of one of others, who publish
// the same feed. If not it becomes the version after theirs. News that they call
// history, so that who follows since before it is not told of it, is not held.
func (p *publisher) adopted(e *feedring.Entry, others []feedring.PeerID) (bool, error) {
	for _, other := range others {
		item, found, err := p.store.Latest(feedring.FeedRef{URL: e.Feed, Publisher: other}, e.ID)
		if err != nil {
			return false, err
		}
		if !found || item.Theme != e.Theme || item.Private {
			continue
		}
		if !item.Retraction {
			theirs, _, err := wire.DecodeEntry(sealed.Seal(&item))
			if err != nil {
				return false, err
			}
			if _, err := wire.EncodeEntry(e, [32]byte{}); err != nil { // as it will be seen
				return false, err
			}
			same := sameContent(e, theirs)
			if same && (e.History != feedring.NoHistory || theirs.NewSince(e.Published)) {
				return true, nil
			}
			if !same {
				correct(e, theirs)
			}
		}
		e.Version = max(e.Version, item.Version+1)
	}
	return false, nil
}
