package fetchassign

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// Fetchers are chosen for all feeds of a host together: one fetcher has one connection
// there, and keeps to the host's rate. Several fetchers would have to tell each other of
// every request.

// unknownLatency stands for a latency that nobody measured.
const unknownLatency = time.Minute

// minGain is how much nearer a peer has to be to replace a fetcher: on one local
// network latencies differ by chance alone, and each move may cut a fetch short.
const minGain = 5 * time.Millisecond

func (a *candidate) latencyOrWorst() time.Duration { return cmp.Or(a.latency, unknownLatency) }

// hostCount is what peers have to do at a host.
type hostCount struct {
	must      map[feedring.PeerID]int // feeds that a peer always fetches, since it is the site's own peer
	all       map[feedring.PeerID]int // 1: the peer mirrors all feeds of the host that others mirror too
	shared    map[feedring.PeerID]int // the shared feeds that it fetches
	takesOver map[[2]feedring.PeerID]bool
}

// countHost counts at a host.
func (d *Assigner) countHost(h *Snapshot, host string) *hostCount {
	c := &hostCount{map[feedring.PeerID]int{}, map[feedring.PeerID]int{}, map[feedring.PeerID]int{}, map[[2]feedring.PeerID]bool{}}
	h.count(host, c)
	for _, url := range d.hosts[host] {
		c.add(d.feeds[url].fetchers, 1)
	}
	return c
}

func (c *hostCount) add(peers []feedring.PeerID, n int) {
	for _, p := range peers {
		c.shared[p] += n
	}
}

// others is how many other shared feeds of the host a peer fetches.
func (c *hostCount) others(p feedring.PeerID, s *assignedFeed) int {
	if slices.Contains(s.fetchers, p) {
		return c.shared[p] - 1
	}
	return c.shared[p]
}

// more orders peers by what else they do at the host: first a peer that always fetches
// there, then one that can fetch all feeds, then the one with most shared feeds.
func (c *hostCount) more(a, b feedring.PeerID, s *assignedFeed) int {
	return cmp.Or(cmp.Compare(min(c.must[b], 1), min(c.must[a], 1)), cmp.Compare(c.all[b], c.all[a]), cmp.Compare(c.others(b, s), c.others(a, s)))
}

// count counts what peers offer at a host. A feed that only one peer offers counts for nothing: anybody can make one
// up, for each host.
func (h *Snapshot) count(host string, c *hostCount) {
	total, offered := 0, map[feedring.PeerID]int{}
	h.eachFeed(host, func(offers []catalogue.Publication) {
		if p, away := h.sitePeer(offers); p != "" && !away {
			c.must[p]++
		}
		mirrors := h.mirrors(offers)
		if len(mirrors) < 2 {
			return
		}
		total++
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

// compare puts the better fetcher of a feed first.
func (c *hostCount) compare(a, b *candidate, s *assignedFeed) int {
	failing := 0
	if a.failing != b.failing {
		failing = -1
		if a.failing {
			failing = 1
		}
	}
	return cmp.Or(failing, c.more(a.peer, b.peer, s), cmp.Compare(a.latencyOrWorst(), b.latencyOrWorst()), cmp.Compare(a.peer, b.peer))
}

// replaces reports whether a is to fetch a feed instead of the fetcher b: a has more to
// do at the host, or is nearer and can take all that b fetches there. Nearer means at most
// half the latency, so that assignments do not move to and fro. None moves for a latency
// that nobody measured.
func (d *Assigner) replaces(h *Snapshot, c *hostCount, a, b *candidate, url string) bool {
	if a.failing != b.failing {
		return b.failing
	}
	more := c.more(a.peer, b.peer, d.feeds[url])
	if more < 0 {
		return true
	}
	nearer := b.latency > 0 && 2*a.latencyOrWorst() <= b.latencyOrWorst() && b.latencyOrWorst()-a.latencyOrWorst() >= minGain
	return nearer && (more == 0 || c.must[b.peer] == 0 && d.takesAll(h, c, a.peer, b.peer, hostOf(url)))
}

// takesAll reports whether a could fetch all that b fetches at a host.
func (d *Assigner) takesAll(h *Snapshot, c *hostCount, a, b feedring.PeerID, host string) bool {
	pair := [2]feedring.PeerID{a, b}
	if all, known := c.takesOver[pair]; known {
		return all
	}
	c.takesOver[pair] = !slices.ContainsFunc(d.hosts[host], func(url string) bool {
		s := d.feeds[url]
		i, ok := slices.BinarySearchFunc(s.candidates, a, func(a candidate, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
		return slices.Contains(s.fetchers, b) && (!ok || s.candidates[i].failsAt(h.Now))
	})
	return c.takesOver[pair]
}

// assignHost chooses the fetchers of a host's feeds, and lists the feeds whose fetchers
// changed. from is the peer whose request came just now; empty: none.
func (d *Assigner) assignHost(h *Snapshot, host string, from feedring.PeerID) (changed []string) {
	c := d.countHost(h, host)
	for _, url := range d.hosts[host] {
		s := d.feeds[url]
		before := s.fetchers
		if d.assignFeed(h, c, url, s, from) {
			changed = append(changed, url)
		}
		c.add(before, -1)
		c.add(s.fetchers, 1)
	}
	return changed
}

// assignFeed chooses the fetchers of a feed, and reports whether they changed.
func (d *Assigner) assignFeed(h *Snapshot, c *hostCount, url string, s *assignedFeed, from feedring.PeerID) bool {
	fetchers, offerers := 1, h.offerers(url)
	before := len(s.candidates)
	s.candidates = slices.DeleteFunc(s.candidates, func(a candidate) bool {
		return h.Now.Sub(a.at) > h.validity() || !h.offeredBy(url, a.peer)
	})
	d.candidates -= before - len(s.candidates)
	for i := range s.candidates {
		fetchers = max(fetchers, s.candidates[i].fetchers)
	}
	fetchers = min(fetchers, offerers)
	s.reviewTurns(h)
	in, out := s.split(h, c, func(a *candidate) bool { return slices.Contains(s.fetchers, a.peer) })
	if len(in) < fetchers {
		in, out = s.split(h, c, func(a *candidate) bool {
			return slices.Contains(s.fetchers, a.peer) || a.peer == from && a.fetching && a.at.Equal(h.Now)
		})
	}
	heard := h.Now.Sub(s.since) >= h.Refresh/2 || len(s.candidates) == offerers
	if heard {
		in = in[:min(len(in), fetchers)]
		for len(in) < fetchers && len(out) > 0 {
			in, out = append(in, out[0]), out[1:]
		}
		for i := len(in) - 1; i >= 0; i-- {
			if j := slices.IndexFunc(out, func(a candidate) bool { return d.replaces(h, c, &a, &in[i], url) }); j >= 0 {
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
	s.fetchers = by
	if slices.Equal(by, s.announced) || !heard && len(by) < fetchers {
		return false
	}
	s.announced = by
	return true
}

// failsAt reports whether an origin fails for a candidate, or the last turn of the candidate brought nothing.
func (a *candidate) failsAt(now time.Time) bool { return a.failing || now.Before(a.vainUntil) }

// split lists the candidates that fetch and the others, the best first.
func (s *assignedFeed) split(h *Snapshot, c *hostCount, looks func(*candidate) bool) (in, out []candidate) {
	for i := range s.candidates {
		a := s.candidates[i]
		if a.failing = a.failsAt(h.Now); looks(&a) {
			in = append(in, a)
		} else {
			out = append(out, a)
		}
	}
	compare := func(a, b candidate) int { return c.compare(&a, &b, s) }
	slices.SortFunc(in, compare)
	slices.SortFunc(out, compare)
	return in, out
}
