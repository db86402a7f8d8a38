package fetchassign

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/clone"
)

// Assigner is what a manager knows of feeds that several peers mirror. Nobody would miss
// it: all requests are repeated to a new manager. Use NewAssigner. assign.go chooses.
type Assigner struct {
	feeds      map[string]*assignedFeed
	hosts      map[string][]string // the addresses of feeds, in order, by host
	candidates int                 // of all feeds
}

// shared is one feed.
type assignedFeed struct {
	candidates []candidate       // by id
	fetchers   []feedring.PeerID // by id, in the order of slots; never changed, only replaced
	announced  []feedring.PeerID // fetchers as the candidates know them
	since      time.Time         // the first request
	last       *datedFetch       // nil: not known; never changed, only replaced
}

// candidate is a peer that offers to fetch.
type candidate struct {
	peer     feedring.PeerID
	latency  time.Duration // 0: unknown
	fetchers int
	failing  bool
	fetching bool          // by its own report
	every    time.Duration // between two of its fetches, as it says; 0: not fixed
	at       time.Time

	told      time.Time // when it last told a fetch, or since when it is known as a fetcher; zero: it is none
	vainUntil time.Time // its turn brought nothing
}

// NewAssigner returns one without requests.
func NewAssigner() *Assigner {
	return &Assigner{feeds: map[string]*assignedFeed{}, hosts: map[string][]string{}}
}

// Clone returns an independent copy.
func (d *Assigner) Clone() *Assigner {
	c := &Assigner{clone.Map(d.feeds), maps.Clone(d.hosts), d.candidates}
	for _, s := range c.feeds {
		s.candidates = slices.Clone(s.candidates)
	}
	for host, urls := range c.hosts {
		c.hosts[host] = slices.Clone(urls)
	}
	return c
}

// Clear forgets everything.
func (d *Assigner) Clear() {
	if len(d.feeds) > 0 {
		clear(d.feeds)
		clear(d.hosts)
		d.candidates = 0
	}
}

// Size is how many feeds and candidates are kept.
func (d *Assigner) Size() (feeds, askers int) { return len(d.feeds), d.candidates }

// hostOf is the host of an address, with its port: what has one connection.
func hostOf(url string) string {
	if _, after, ok := strings.Cut(url, "://"); ok {
		url = after
	}
	if i := strings.IndexAny(url, "/?#"); i >= 0 {
		url = url[:i]
	}
	return strings.ToLower(url[strings.LastIndexByte(url, '@')+1:])
}

// keep adds a feed.
func (d *Assigner) add(url string, s *assignedFeed) {
	if d.feeds[url] == nil {
		host := hostOf(url)
		at, _ := slices.BinarySearch(d.hosts[host], url)
		d.hosts[host] = slices.Insert(d.hosts[host], at, url)
	}
	d.feeds[url] = s
}

func (d *Assigner) drop(url string) {
	host := hostOf(url)
	urls := slices.DeleteFunc(slices.Clone(d.hosts[host]), func(u string) bool { return u == url })
	if d.hosts[host] = urls; len(urls) == 0 {
		delete(d.hosts, host)
	}
	delete(d.feeds, url)
}

// OnRequests answers requests, lists the feeds whose other candidates are to be told,
// and returns when to review; zero: no sooner than otherwise. For a feed without earlier
// requests only present fetchers are confirmed at first: so a group goes on under a new
// manager, and of several peers that start at once the nearest is found.
func (d *Assigner) OnRequests(h *Snapshot, from feedring.PeerID, feeds []Request) (answer []Assignment, changed []string, again time.Time) {
	noted, hosts, news := make([]*Request, 0, len(feeds)), map[string]bool{}, map[string]bool{}
	for i := range feeds {
		f := &feeds[i]
		s, other := d.record(h, from, f)
		if s == nil {
			continue
		}
		noted = append(noted, f)
		if other {
			hosts[hostOf(f.URL)] = true
		}
		if s.onLastFetch(h, from, f.Last) {
			news[f.URL] = true
		}
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		for _, url := range d.assignHost(h, host, from) {
			news[url] = true
		}
	}
	for _, f := range noted {
		s := d.feeds[f.URL]
		if s.onLastFetch(h, from, f.Last) { // only now it is known as a fetcher
			news[f.URL] = true
		}
		if len(s.announced) > 0 {
			answer = append(answer, s.assignment(h, f.URL))
		} else if end := s.since.Add(h.Refresh / 2); again.IsZero() || end.Before(again) {
			again = end
		}
	}
	return answer, slices.Sorted(maps.Keys(news)), again
}

// record keeps a peer's request for a feed; nil: the peer does not offer it, as far as
// is known here, or there are too many. It reports whether the fetchers may change.
func (d *Assigner) record(h *Snapshot, from feedring.PeerID, f *Request) (s *assignedFeed, other bool) {
	if s = d.feeds[f.URL]; !h.offeredBy(f.URL, from) {
		return nil, false
	}
	if s == nil {
		s = &assignedFeed{since: h.Now}
	}
	i, known := slices.BinarySearchFunc(s.candidates, from, func(a candidate, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
	if !known {
		if d.candidates >= maxCandidates {
			return nil, false
		}
		d.candidates++
		s.candidates = slices.Insert(s.candidates, i, candidate{peer: from})
	}
	d.add(f.URL, s)
	old := s.candidates[i]
	s.candidates[i] = candidate{
		peer: from, latency: min(max(f.Distance, 0), unknownLatency), fetchers: min(max(f.Fetchers, 1), MaxFetchers), failing: f.Failing,
		fetching: f.Fetching, every: max(f.Every, 0), at: h.Now, told: old.told, vainUntil: old.vainUntil,
	}
	old.at = h.Now
	return s, s.candidates[i] != old || len(s.announced) == 0
}

// onLastFetch takes a fetcher's report of its last fetch, and reports whether it is news.
// Reports of other peers are ignored.
func (s *assignedFeed) onLastFetch(h *Snapshot, from feedring.PeerID, l *LastFetch) bool {
	if l == nil || !slices.Contains(s.fetchers, from) {
		return false
	}
	last := bounded(l, h.Now)
	if !last.newerThan(s.last, h.slack()) {
		return false
	}
	s.last = last
	if i := slices.IndexFunc(s.candidates, func(a candidate) bool { return a.peer == from }); i >= 0 {
		s.toldBy(h, i)
	}
	return true
}

func (s *assignedFeed) assignment(h *Snapshot, url string) Assignment {
	return Assignment{url, s.announced, s.last.asOf(h.Now)}
}

// Review drops candidates that are gone, lists the feeds whose candidates are to be told,
// and returns when to review again.
func (d *Assigner) Review(h *Snapshot) (changed []string, next time.Time) {
	next = h.Now.Add(h.validity() / 3)
	for _, host := range slices.Sorted(maps.Keys(d.hosts)) {
		changed = append(changed, d.assignHost(h, host, "")...)
		for _, url := range d.hosts[host] {
			s := d.feeds[url]
			if end := s.since.Add(h.Refresh / 2); end.After(h.Now) {
				next = times.Earlier(next, end)
			}
			if len(s.candidates) == 0 {
				d.drop(url)
			}
		}
	}
	return changed, next
}

// Assignments lists what each candidate is to be told of feeds.
func (d *Assigner) Assignments(h *Snapshot, urls []string) map[feedring.PeerID][]Assignment {
	lists := map[feedring.PeerID][]Assignment{}
	for _, url := range urls {
		s := d.feeds[url]
		if s == nil || len(s.announced) == 0 {
			continue
		}
		said := s.assignment(h, url)
		for i := range s.candidates {
			p := s.candidates[i].peer
			lists[p] = append(lists[p], said)
		}
	}
	return lists
}
