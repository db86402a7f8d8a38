package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// seek is the search for one peer to serve a client. Each is asked once, the
// best first; who is asked makes room before it acknowledges.
type seek struct {
	own   bool     // a publisher, for its own feeds in their whole history
	names []string // what is missing if nobody can
	peers []feedring.PeerID
	next  int
	asked feedring.PeerID // who must answer; "" where nobody is asked
	given feedring.PeerID // who made room
	open  bool            // whom it chose counts in the shares until it is granted
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
func (pl *Placer) plan(p *lookup, feeds []catalogue.Publication) {
	fresh := pl.group.Now().Add(-pl.cfg.Freshness)
	if p.since.IsZero() || p.since.After(fresh) {
		if peers := pl.Able(feeds, times.Later(pl.cached(), p.since)); len(peers) > 0 {
			p.seeks = append(p.seeks, seek{peers: peers, names: []string{string(pl.cfg.Theme)}})
			return
		}
	}
	pl.planPublishers(p, feeds)
}

// cached is since when every peer that is whole has everything. It is a little
// later than the freshness date: clocks differ, and marks are rounded.
func (pl *Placer) cached() time.Time {
	return pl.group.Now().Add(-pl.cfg.Freshness + min(5*time.Second, pl.cfg.Freshness/10))
}

// Able lists peers that have every entry of feeds seen after mark, the least
// loaded first; then those that have all but of single feeds. Whoever publishes
// a feed can make all others lack it, by telling of entries that nobody can
// have of it. So it must not leave itself as the only one to serve the rest.
func (pl *Placer) Able(feeds []catalogue.Publication, mark time.Time) []feedring.PeerID {
	whole, nearly := pl.able(feeds, mark)
	return append(pl.leastLoaded(whole), pl.leastLoaded(nearly)...)
}

func (pl *Placer) able(feeds []catalogue.Publication, mark time.Time) (whole, nearly []feedring.PeerID) {
	asked := refsOf(feeds)
	for _, p := range pl.candidates() {
		switch row := pl.row(p); {
		case row.From.After(mark) && !ownOnly(feeds, p):
		case row.Lacks(func(ref feedring.FeedRef) bool { return asked[ref] }):
			nearly = append(nearly, p)
		default:
			whole = append(whole, p)
		}
	}
	return whole, nearly
}

// Lacking lists those of feeds that a peer says it does not have whole.
func (pl *Placer) Lacking(p feedring.PeerID, feeds []catalogue.Publication) []catalogue.Publication {
	row := pl.row(p)
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

func excepted(row *catalogue.Row) map[feedring.FeedRef]bool {
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
func (pl *Placer) candidates() []feedring.PeerID {
	present, own, placed := pl.group.Index().Present, pl.row(pl.cfg.Self), false
	all := make([]feedring.PeerID, 0, len(present)+1)
	for _, p := range present {
		row := pl.row(p)
		if !placed && catalogue.CompareRank(own, row) < 0 {
			all, placed = append(all, pl.cfg.Self), true
		}
		if !row.Admitted.IsZero() {
			all = append(all, p)
		}
	}
	if !placed {
		all = append(all, pl.cfg.Self)
	}
	return all
}

// leastLoaded ranks peers and keeps the best.
func (pl *Placer) leastLoaded(peers []feedring.PeerID) []feedring.PeerID {
	return pl.ranked(peers)[:min(len(peers), MaxCandidates)]
}

// ranked sorts peers by what they have of the last grants, and by load. Where what the
// best two told is old, chance decides between them, so that no herd runs to one peer.
func (pl *Placer) ranked(peers []feedring.PeerID) []feedring.PeerID {
	pl.shares.turn(pl.group.Now(), pl.cfg.Refresh)
	share := Share(len(peers))
	over := func(p feedring.PeerID) bool { return !pl.idle(p) && pl.shares.over(p, share) }
	slices.SortStableFunc(peers, func(a, b feedring.PeerID) int {
		return cmp.Or(catalogue.FalseFirst(over(a), over(b)), cmp.Compare(pl.countedLoad(a), pl.countedLoad(b)))
	})
	if len(peers) > 1 && over(peers[0]) == over(peers[1]) && (pl.staleLoad(peers[0]) || pl.staleLoad(peers[1])) && pl.group.Coin() {
		peers[0], peers[1] = peers[1], peers[0]
	}
	return peers
}

// planPublishers asks every matching publisher for its own feeds. One that is
// away is missing, and what others cached of it is served meanwhile.
func (pl *Placer) planPublishers(p *lookup, feeds []catalogue.Publication) {
	names := map[feedring.PeerID][]string{}
	var order []feedring.PeerID
	for len(feeds) > 0 {
		n := 1
		for n < len(feeds) && feeds[n].Ref.URL == feeds[0].Ref.URL {
			n++
		}
		chosen := pl.preferred(feeds[:n])
		for _, f := range chosen {
			name := string(pl.cfg.Theme) + "/" + string(f.Provider)
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
// vouches for before mirrors, those that are there before those that are away. Who carries the feed for others has what came
// since they are gone, and stands for none of them.
func (pl *Placer) preferred(mirrors []catalogue.Publication) []catalogue.Publication {
	vouched := pl.group.Vouched()
	for _, fits := range []func(catalogue.Publication) bool{
		func(f catalogue.Publication) bool { return !f.Away && vouched[f.Ref] != "" },
		func(f catalogue.Publication) bool { return !f.Away && f.Carried == 0 },
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
	var carriers, gone []catalogue.Publication
	for _, f := range mirrors {
		if !f.Away {
			carriers = append(carriers, f)
		} else if f.Carried == 0 {
			gone = append(gone, f)
		}
	}
	if len(carriers) == 0 {
		return mirrors[:1]
	}
	return append(carriers, gone[:min(len(gone), 1)]...)
}
