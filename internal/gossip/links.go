// Package gossip decides whom a peer of a large group tells of what is new, in
// which order, and who waits when there is more to serve than can be served at
// once. It is a table that is asked: it sends nothing, keeps no entry and knows
// no clock. The ideas are those of FeedEx (Jun and Ahamad, WWW 2006, sections
// 3.4 and 3.5) and of Plumtree (Leitão et al., SRDS 2007): announcements go down
// a tree, who missed one is told from then on by whom it asked, and who gives
// less waits longer.
package gossip

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Links is what one peer knows of its neighbours. The zero value has none.
type Links struct {
	self    feedring.PeerID
	layout  Layout                  `state:"derived"`
	peers   []feedring.PeerID       // neighbours, in order
	balance []int                   // by neighbour: entries given less entries got, bounded
	below   map[feedring.PeerID]set `state:"derived"`
	grafts  map[feedring.PeerID]*graft
	route   *route `state:"derived"` // of whoever sends to all; nil: to be found
}

// set is of neighbours, by index.
type set uint16

func (s set) has(i int) bool { return s&(1<<i) != 0 }

// graft is who asked here for what one source published, without being below
// this peer in that one's tree.
type graft struct {
	told  set // as well as those below
	asked set // since told
	begun time.Time
}

// Layout lays the mesh out when it is asked to: a mesh is large, so Links keep
// none.
type Layout interface{ Lay() *Mesh }

// Join says who the neighbours of self are now, in order. Layout is asked once for
// each source that this peer hears of. What is known of neighbours that stay is kept.
func (l *Links) Join(self feedring.PeerID, neighbours []feedring.PeerID, layout Layout) {
	old, given := l.peers, l.balance
	l.self, l.layout, l.peers = self, layout, neighbours[:min(len(neighbours), 2*circles)]
	l.below, l.route = make(map[feedring.PeerID]set), nil
	l.balance = make([]int, len(l.peers))
	from := make([]int, len(l.peers)) // by new index: the old one
	for i, p := range l.peers {
		if from[i] = slices.Index(old, p); from[i] >= 0 {
			l.balance[i] = given[from[i]]
		}
	}
	for source, g := range l.grafts {
		if g.told, g.asked = moved(g.told, from), moved(g.asked, from); g.told|g.asked == 0 {
			delete(l.grafts, source)
		}
	}
}

// moved is a set by new indices.
func moved(s set, from []int) set {
	var out set
	for i, j := range from {
		if j >= 0 && s.has(j) {
			out |= 1 << i
		}
	}
	return out
}

// Tell returns whom to tell now of something of source that this peer has just
// stored, those first to whom least is owed: who is below it in the source's
// tree, and who asked here when it was told last, or since. A poll has come after
// settle, if it comes at all. Skipped are those that are known to have it.
func (l *Links) Tell(source feedring.PeerID, skip func(feedring.PeerID) bool, now time.Time, settle time.Duration) []feedring.PeerID {
	whom := l.of(source)
	if g := l.grafts[source]; g != nil {
		whom |= l.grafted(source, g, now, settle)
	}
	var to []feedring.PeerID
	for i, p := range l.peers {
		if whom.has(i) && p != source && !skip(p) {
			to = append(to, p)
		}
	}
	l.Order(to)
	return to
}

func (l *Links) grafted(source feedring.PeerID, g *graft, now time.Time, settle time.Duration) set {
	switch {
	case g.begun.IsZero():
		g.told, g.asked, g.begun = g.told|g.asked, 0, now
	case now.Sub(g.begun) >= settle:
		g.told, g.asked, g.begun = g.asked, 0, now
	}
	if g.told|g.asked == 0 {
		delete(l.grafts, source)
	}
	return g.told | g.asked
}

// Asked says that by asked here for something of source. If it is not below this
// peer, whoever should have told it did not.
func (l *Links) Asked(source, by feedring.PeerID) {
	i := slices.Index(l.peers, by)
	if i < 0 || l.of(source).has(i) {
		return
	}
	g := l.grafts[source]
	if g == nil {
		if l.grafts == nil {
			l.grafts = make(map[feedring.PeerID]*graft)
		}
		g = &graft{}
		l.grafts[source] = g
	}
	g.asked |= 1 << i
}

// of returns who is below this peer in the tree of source. It is found once for
// each mesh.
func (l *Links) of(source feedring.PeerID) set {
	s, ok := l.below[source]
	if ok || l.layout == nil {
		return s
	}
	for _, p := range l.layout.Lay().Below(source, l.self) {
		if i := slices.Index(l.peers, p); i >= 0 {
			s |= 1 << i
		}
	}
	l.below[source] = s
	return s
}

// Clone returns an independent copy.
func (l *Links) Clone() *Links {
	c := *l
	c.balance, c.below = slices.Clone(l.balance), maps.Clone(l.below)
	c.grafts = maps.Clone(l.grafts)
	for source, g := range c.grafts {
		copied := *g
		c.grafts[source] = &copied
	}
	return &c
}
