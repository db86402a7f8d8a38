package looks

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// Who looks is chosen for all feeds of a host together: one fetcher has one
// connection there, and keeps to the host's rate. Several fetchers would have to
// tell each other of every request.

// unknownWay stands for a distance that nobody measured.
const unknownWay = time.Minute

// worthIt is how much nearer a peer has to be that takes turns over: on one local
// network ways differ by chance alone, and each move may cut a look short.
const worthIt = 5 * time.Millisecond

func (a *asker) way() time.Duration { return cmp.Or(a.distance, unknownWay) }

// counter is what peers have to do at a host.
type counter struct {
	must  map[feedring.PeerID]int // feeds that a peer looks at in any case: it offers them alone, or is the site's own
	all   map[feedring.PeerID]int // 1: the peer mirrors all feeds of the host
	looks map[feedring.PeerID]int // the shared ones that it looks at
	takes map[[2]feedring.PeerID]bool
}

// counter counts at a host.
func (d *Desk) counter(h *Here, host string) *counter {
	c := &counter{map[feedring.PeerID]int{}, map[feedring.PeerID]int{}, map[feedring.PeerID]int{}, map[[2]feedring.PeerID]bool{}}
	h.count(host, c)
	for _, url := range d.hosts[host] {
		c.add(d.feeds[url].by, 1)
	}
	return c
}

func (c *counter) add(peers []feedring.PeerID, n int) {
	for _, p := range peers {
		c.looks[p] += n
	}
}

// others is how many shared feeds of the host a peer looks at beside one.
func (c *counter) others(p feedring.PeerID, s *shared) int {
	if slices.Contains(s.by, p) {
		return c.looks[p] - 1
	}
	return c.looks[p]
}

// more puts the peer first that has more to do at the host beside a feed: who
// looks there in any case, then who can look at all, then who looks at most
// shared ones.
func (c *counter) more(a, b feedring.PeerID, s *shared) int {
	return cmp.Or(cmp.Compare(min(c.must[b], 1), min(c.must[a], 1)), cmp.Compare(c.all[b], c.all[a]), cmp.Compare(c.others(b, s), c.others(a, s)))
}

// count counts what peers offer at a host.
func (h *Here) count(host string, c *counter) {
	total, offered := 0, map[feedring.PeerID]int{}
	h.at(host, func(offers []catalogue.Publication) {
		if p := h.alone(offers); p != "" {
			c.must[p]++
		}
		mirrors := h.mirrors(offers)
		total += min(len(mirrors), 1)
		for _, p := range mirrors {
			offered[p]++
		}
	})
	for p, n := range offered {
		if n == total {
			c.all[p] = 1
		}
	}
}

// alone is who looks at a feed without being asked; empty: whom the manager says.
func (h *Here) alone(offers []catalogue.Publication) (only feedring.PeerID) {
	if site, away := h.sitesOwn(offers); site != "" {
		if away {
			return ""
		}
		return site
	}
	for _, f := range offers {
		switch {
		case f.Away:
		case only != "":
			return ""
		default:
			only = f.Ref.Publisher
		}
	}
	return only
}

// compare puts the better looker of a feed first.
func (c *counter) compare(a, b *asker, s *shared) int {
	failing := 0
	if a.failing != b.failing {
		failing = -1
		if a.failing {
			failing = 1
		}
	}
	return cmp.Or(failing, c.more(a.peer, b.peer, s), cmp.Compare(a.way(), b.way()), cmp.Compare(a.peer, b.peer))
}

// outdoes reports whether a is to look at a feed instead of b, who does: who has
// more to do at the host, or is nearer and can take all that b has there. Half the
// way is asked for, so that turns do not move to and fro, and none moves for a way
// that nobody measured.
func (d *Desk) outdoes(c *counter, a, b *asker, url string) bool {
	if a.failing != b.failing {
		return b.failing
	}
	more := c.more(a.peer, b.peer, d.feeds[url])
	if more < 0 {
		return true
	}
	nearer := b.distance > 0 && 2*a.way() <= b.way() && b.way()-a.way() >= worthIt
	return nearer && (more == 0 || c.must[b.peer] == 0 && d.takesAll(c, a.peer, b.peer, hostOf(url)))
}

// takesAll reports whether a would look at all that b does at a host.
func (d *Desk) takesAll(c *counter, a, b feedring.PeerID, host string) bool {
	pair := [2]feedring.PeerID{a, b}
	if all, known := c.takes[pair]; known {
		return all
	}
	c.takes[pair] = !slices.ContainsFunc(d.hosts[host], func(url string) bool {
		s := d.feeds[url]
		i, ok := slices.BinarySearchFunc(s.askers, a, func(a asker, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
		return slices.Contains(s.by, b) && (!ok || s.askers[i].failing)
	})
	return c.takes[pair]
}

// deal chooses who looks at the feeds of a host, and lists those at which others
// do than before. What one peer, which asks now, says of itself counts as heard
// just now; empty: nobody asks.
func (d *Desk) deal(h *Here, host string, from feedring.PeerID) (changed []string) {
	c := d.counter(h, host)
	for _, url := range d.hosts[host] {
		s := d.feeds[url]
		before := s.by
		if d.dealOne(h, c, url, s, from) {
			changed = append(changed, url)
		}
		c.add(before, -1)
		c.add(s.by, 1)
	}
	return changed
}

// dealOne chooses who looks at a feed, and reports whether others do than before.
func (d *Desk) dealOne(h *Here, c *counter, url string, s *shared, from feedring.PeerID) bool {
	lookers, offerers := 1, h.offerers(url)
	before := len(s.askers)
	s.askers = slices.DeleteFunc(s.askers, func(a asker) bool {
		return h.Now.Sub(a.at) > h.hold() || !h.mayLook(url, a.peer)
	})
	d.askers -= before - len(s.askers)
	for i := range s.askers {
		lookers = max(lookers, s.askers[i].lookers)
	}
	lookers = min(lookers, offerers)
	in, out := s.split(c, func(a *asker) bool { return slices.Contains(s.by, a.peer) })
	if len(in) < lookers {
		in, out = s.split(c, func(a *asker) bool {
			return slices.Contains(s.by, a.peer) || a.peer == from && a.holds && a.at.Equal(h.Now)
		})
	}
	heard := h.Now.Sub(s.since) >= h.Refresh/2 || len(s.askers) == offerers
	if heard {
		in = in[:min(len(in), lookers)]
		for len(in) < lookers && len(out) > 0 {
			in, out = append(in, out[0]), out[1:]
		}
		for i := len(in) - 1; i >= 0; i-- {
			if j := slices.IndexFunc(out, func(a asker) bool { return d.outdoes(c, &a, &in[i], url) }); j >= 0 {
				in[i] = out[j]
				out = slices.Delete(out, j, j+1)
			}
		}
	}
	by := make([]feedring.PeerID, 0, len(in))
	for i := range in {
		by = append(by, in[i].peer)
	}
	slices.Sort(by)
	s.by = by
	if slices.Equal(by, s.told) || !heard && len(by) < lookers {
		return false
	}
	s.told = by
	return true
}

// split lists the askers that look and the others, the best first.
func (s *shared) split(c *counter, looks func(*asker) bool) (in, out []asker) {
	for i := range s.askers {
		if a := s.askers[i]; looks(&a) {
			in = append(in, a)
		} else {
			out = append(out, a)
		}
	}
	compare := func(a, b asker) int { return c.compare(&a, &b, s) }
	slices.SortFunc(in, compare)
	slices.SortFunc(out, compare)
	return in, out
}
