package looks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Desk is what a manager knows of feeds that several peers mirror. It is no state
// that anybody would miss: a new manager is told all of it anew. Use NewDesk. Who
// is chosen: deal.go.
type Desk struct {
	feeds  map[string]*shared
	hosts  map[string][]string // the addresses of feeds, in order, by host
	askers int                 // of all feeds
}

// shared is one feed.
type shared struct {
	askers []asker           // by id
	by     []feedring.PeerID // who looks, by id: the order of turns; never changed, only replaced
	told   []feedring.PeerID // by, as the askers know it
	since  time.Time         // the first ask
	last   *left             // the last look; nil: not known; never changed, only replaced
}

// asker is a peer that would look.
type asker struct {
	peer     feedring.PeerID
	distance time.Duration // 0: unknown
	lookers  int
	failing  bool
	holds    bool // it said that it looks
	at       time.Time
}

// NewDesk returns one that nobody asked anything.
func NewDesk() *Desk { return &Desk{feeds: map[string]*shared{}, hosts: map[string][]string{}} }

// Clone returns an independent copy.
func (d *Desk) Clone() *Desk {
	c := &Desk{clonePointers(d.feeds), maps.Clone(d.hosts), d.askers}
	for _, s := range c.feeds {
		s.askers = slices.Clone(s.askers)
	}
	for host, urls := range c.hosts {
		c.hosts[host] = slices.Clone(urls)
	}
	return c
}

// Clear forgets everything.
func (d *Desk) Clear() {
	if len(d.feeds) > 0 {
		clear(d.feeds)
		clear(d.hosts)
		d.askers = 0
	}
}

// Size is how many feeds and askers are kept.
func (d *Desk) Size() (feeds, askers int) { return len(d.feeds), d.askers }

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
func (d *Desk) keep(url string, s *shared) {
	if d.feeds[url] == nil {
		host := hostOf(url)
		at, _ := slices.BinarySearch(d.hosts[host], url)
		d.hosts[host] = slices.Insert(d.hosts[host], at, url)
	}
	d.feeds[url] = s
}

func (d *Desk) drop(url string) {
	host := hostOf(url)
	urls := slices.DeleteFunc(slices.Clone(d.hosts[host]), func(u string) bool { return u == url })
	if d.hosts[host] = urls; len(urls) == 0 {
		delete(d.hosts, host)
	}
	delete(d.feeds, url)
}

// Asked answers who looks at feeds, lists those of which others are to be told,
// and returns when to review; zero: no sooner than else. Of a feed that was not
// asked about before only those that look already are confirmed at first: a group
// whose manager is new goes on, and of several that start at once the nearest is
// found.
func (d *Desk) Asked(h *Here, from feedring.PeerID, feeds []Wanted) (answer []Said, changed []string, again time.Time) {
	noted, hosts, news := make([]*Wanted, 0, len(feeds)), map[string]bool{}, map[string]bool{}
	for i := range feeds {
		f := &feeds[i]
		s, other := d.note(h, from, f)
		if s == nil {
			continue
		}
		noted = append(noted, f)
		if other {
			hosts[hostOf(f.URL)] = true
		}
		if s.looked(h, from, f.Last) {
			news[f.URL] = true
		}
	}
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		for _, url := range d.deal(h, host, from) {
			news[url] = true
		}
	}
	for _, f := range noted {
		s := d.feeds[f.URL]
		if s.looked(h, from, f.Last) { // it was not known before that it looks
			news[f.URL] = true
		}
		if len(s.told) > 0 {
			answer = append(answer, s.said(h, f.URL))
		} else if end := s.since.Add(h.Refresh / 2); again.IsZero() || end.Before(again) {
			again = end
		}
	}
	return answer, slices.Sorted(maps.Keys(news)), again
}

// note keeps what a peer says of a feed that it offers; nil: it does not offer
// it, as far as is known here, or too many were kept. It reports whether somebody
// else may have to look because of it.
func (d *Desk) note(h *Here, from feedring.PeerID, f *Wanted) (s *shared, other bool) {
	if s = d.feeds[f.URL]; !h.mayLook(f.URL, from) {
		return nil, false
	}
	if s == nil {
		s = &shared{since: h.Now}
	}
	i, known := slices.BinarySearchFunc(s.askers, from, func(a asker, p feedring.PeerID) int { return cmp.Compare(a.peer, p) })
	if !known {
		if d.askers >= maxAskers {
			return nil, false
		}
		d.askers++
		s.askers = slices.Insert(s.askers, i, asker{peer: from})
	}
	d.keep(f.URL, s)
	old := s.askers[i]
	s.askers[i] = asker{
		peer: from, distance: min(max(f.Distance, 0), unknownWay), lookers: min(max(f.Lookers, 1), Most), failing: f.Failing,
		holds: f.Holds, at: h.Now,
	}
	old.at = h.Now
	return s, s.askers[i] != old || len(s.told) == 0
}

// looked takes in what who looks says of the last look, and reports whether that
// is news. Who does not look is not heard.
func (s *shared) looked(h *Here, from feedring.PeerID, l *Last) bool {
	if l == nil || !slices.Contains(s.by, from) {
		return false
	}
	last := leave(l, h.Now)
	if !last.news(s.last, h.slack()) {
		return false
	}
	s.last = last
	return true
}

func (s *shared) said(h *Here, url string) Said { return Said{url, s.told, s.last.asOf(h.Now)} }

// Review sees who is gone, lists the feeds of which others are to be told, and
// returns when to review again.
func (d *Desk) Review(h *Here) (changed []string, next time.Time) {
	next = h.Now.Add(h.hold() / 3)
	for _, host := range slices.Sorted(maps.Keys(d.hosts)) {
		changed = append(changed, d.deal(h, host, "")...)
		for _, url := range d.hosts[host] {
			s := d.feeds[url]
			if end := s.since.Add(h.Refresh / 2); end.After(h.Now) {
				next = earlier(next, end)
			}
			if len(s.askers) == 0 {
				d.drop(url)
			}
		}
	}
	return changed, next
}

// Tell lists what each peer that asked about feeds is to be told of them.
func (d *Desk) Tell(h *Here, urls []string) map[feedring.PeerID][]Said {
	lists := map[feedring.PeerID][]Said{}
	for _, url := range urls {
		s := d.feeds[url]
		if s == nil || len(s.told) == 0 {
			continue
		}
		said := s.said(h, url)
		for i := range s.askers {
			p := s.askers[i].peer
			lists[p] = append(lists[p], said)
		}
	}
	return lists
}
