package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// maxCandidates is how many peers a lookup tries for one grant.
const maxCandidates = 8

// seek is the search for one peer to serve a client. Each is asked once, the
// best first; who is asked makes room before it acknowledges.
type seek struct {
	own   bool     // a publisher, for its own feeds in their whole history
	names []string // what is missing if nobody can
	peers []feedring.PeerID
	next  int
	asked feedring.PeerID // who must answer; "" where nobody is asked
	given feedring.PeerID // who made room
	cover bool            // it serves cached entries of publishers that are away
	whole bool            // what given lacks is asked of its publishers
	copy  bool            // it serves copies of feeds whose publishers do not serve
	want  []feedring.FeedRef
	since time.Time
	got   map[feedring.FeedRef]bool // those of want that given holds whole since then
}

// plan decides who may serve. D is the client's date, F the freshness: for
// D > F any peer that is complete since D will do, the least loaded first, and
// at last one that lacks single feeds: those are asked of their publishers.
// Otherwise, and where nobody is complete, only the publishers have it all.
func (m *Machine) plan(p *placement, feeds []catalogue.Publication) {
	fresh := m.now.Add(-m.cfg.Freshness)
	if p.since.IsZero() || p.since.After(fresh) {
		if peers := m.able(feeds, later(m.cached(), p.since)); len(peers) > 0 {
			p.seeks = append(p.seeks, seek{peers: peers, names: []string{string(m.cfg.Theme)}})
			return
		}
	}
	m.planPublishers(p, feeds)
}

// cached is since when every peer that is whole has everything. It is a little
// later than the freshness date: clocks differ, and marks are rounded.
func (m *Machine) cached() time.Time {
	return m.now.Add(-m.cfg.Freshness + min(5*time.Second, m.cfg.Freshness/10))
}

// able lists peers that have every entry of feeds seen after mark, the least
// loaded first; then those that have all but of single feeds. Whoever publishes
// a feed can make all others lack it, by telling of entries that nobody can
// have of it. So it must not leave itself as the only one to serve the rest.
func (m *Machine) able(feeds []catalogue.Publication, mark time.Time) []feedring.PeerID {
	asked := refsOf(feeds)
	var whole, nearly []feedring.PeerID
	for _, p := range m.candidates() {
		switch row := m.members[p].row; {
		case row.From.After(mark) && !ownOnly(feeds, p):
		case row.Lacks(func(ref feedring.FeedRef) bool { return asked[ref] }):
			nearly = append(nearly, p)
		default:
			whole = append(whole, p)
		}
	}
	return append(m.leastLoaded(whole), m.leastLoaded(nearly)...)
}

// lacking lists those of feeds that a peer says it does not have whole.
func (m *Machine) lacking(p feedring.PeerID, feeds []catalogue.Publication) []catalogue.Publication {
	row := m.members[p].row
	if len(row.Backfilling) == 0 {
		return nil
	}
	excepted := excepted(row)
	var list []catalogue.Publication
	for _, f := range feeds {
		if excepted[f.Ref] || excepted[catalogue.AllOf(f.Ref.Publisher)] {
			list = append(list, f)
		}
	}
	return list
}

func excepted(row *Row) map[feedring.FeedRef]bool {
	refs := make(map[feedring.FeedRef]bool, len(row.Backfilling))
	for _, ref := range row.Backfilling {
		refs[ref] = true
	}
	return refs
}

func ownOnly(feeds []catalogue.Publication, p feedring.PeerID) bool {
	for i := range feeds {
		if feeds[i].Ref.Publisher != p {
			return false
		}
	}
	return true
}

// refsOf is what an exception that matters to feeds may say.
func refsOf(feeds []catalogue.Publication) map[feedring.FeedRef]bool {
	refs := make(map[feedring.FeedRef]bool, len(feeds))
	for i := range feeds {
		ref := feeds[i].Ref
		refs[ref], refs[catalogue.AllOf(ref.Publisher)] = true, true
	}
	return refs
}

// candidates lists this peer and all that are there and admitted, by rank.
func (m *Machine) candidates() []feedring.PeerID {
	all := make([]feedring.PeerID, 0, len(m.present())+1)
	own := m.me().row
	placed := false
	for _, p := range m.present() {
		row := m.members[p].row
		if !placed && catalogue.CompareRank(own, row) < 0 {
			all, placed = append(all, m.cfg.Self), true
		}
		if !row.Admitted.IsZero() {
			all = append(all, p)
		}
	}
	if !placed {
		all = append(all, m.cfg.Self)
	}
	return all
}

// leastLoaded sorts peers by load and keeps the best. Where what the best two
// told is old, chance decides between them, so that no herd runs to one peer.
func (m *Machine) leastLoaded(peers []feedring.PeerID) []feedring.PeerID {
	slices.SortStableFunc(peers, func(a, b feedring.PeerID) int { return cmp.Compare(m.loadOf(a), m.loadOf(b)) })
	if len(peers) > 1 && (m.staleLoad(peers[0]) || m.staleLoad(peers[1])) && m.nonce()>>1&1 == 1 {
		peers[0], peers[1] = peers[1], peers[0]
	}
	return peers[:min(len(peers), maxCandidates)]
}

// loadOf is what a peer told of its clients, and assignments under way.
func (m *Machine) loadOf(p feedring.PeerID) int {
	if p == m.cfg.Self {
		return m.ownLoad()
	}
	mem := m.members[p]
	return mem.load + mem.asked
}

func (m *Machine) staleLoad(p feedring.PeerID) bool {
	return p != m.cfg.Self && m.now.Sub(m.members[p].told) > m.cfg.Refresh
}

// planPublishers asks every matching publisher for its own feeds. One that is
// away is missing, and what others cached of it is served meanwhile.
func (m *Machine) planPublishers(p *placement, feeds []catalogue.Publication) {
	names := map[feedring.PeerID][]string{}
	var order []feedring.PeerID
	for len(feeds) > 0 {
		n := 1
		for n < len(feeds) && feeds[n].Ref.URL == feeds[0].Ref.URL {
			n++
		}
		chosen := m.preferred(feeds[:n])
		for _, f := range chosen {
			name := string(m.cfg.Theme) + "/" + string(f.Provider)
			if f.Away {
				p.miss(name)
				continue
			}
			if names[f.Ref.Publisher] == nil {
				order = append(order, f.Ref.Publisher)
			}
			names[f.Ref.Publisher] = append(names[f.Ref.Publisher], name)
		}
		feeds = feeds[n:]
	}
	for i, peer := range order {
		if i >= maxGrants {
			p.miss(names[peer]...)
			continue
		}
		p.seeks = append(p.seeks, seek{own: true, names: names[peer], peers: []feedring.PeerID{peer}})
	}
}

// preferred chooses among the publishers of one address: those that the site
// vouches for before mirrors, those that are there before those that are away.
func (m *Machine) preferred(mirrors []catalogue.Publication) []catalogue.Publication {
	vouched := m.vouched()
	for _, fits := range []func(catalogue.Publication) bool{
		func(f catalogue.Publication) bool { return !f.Away && vouched[f.Ref] != "" },
		func(f catalogue.Publication) bool { return !f.Away },
	} {
		var chosen []catalogue.Publication
		for _, f := range mirrors {
			if fits(f) {
				chosen = append(chosen, f)
			}
		}
		if len(chosen) > 0 {
			return chosen
		}
	}
	return mirrors[:1]
}
