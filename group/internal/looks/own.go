package looks

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Own is the feeds of one peer, as it shares the looks at them. Who offers a feed
// alone looks without a word to anybody; the site's own peer looks in any case,
// and nobody else while it is there; else the manager says whose turn it is. Use
// NewOwn.
type Own struct {
	feeds   map[string]*share
	lookers int       // that this peer wants at each
	spoke   time.Time // when the manager was last told of a look
}

// share is one feed.
type share struct {
	since time.Time // when it was offered
	told  Turn      // what the driver knows

	by     []feedring.PeerID // who looks by the manager's word; never changed, only replaced
	until  time.Time         // of that word
	alone  time.Time         // since when this peer has been waiting for a first word; zero: it has one, or needs none
	asked  time.Time         // the manager that is followed; zero: not yet
	tries  int               // asked in vain
	news   bool              // there is something to tell the manager
	urged  time.Time         // when another peer last asked for a look
	way    time.Duration     // to the origin, smoothed; 0: unknown
	said   time.Duration     // of it, to the manager
	gauged time.Time         // when it was asked for; zero: never
	failed time.Time         // when a look last failed; zero: the origin answers, as far as is known
	last   *left             // the last look, by whomever; nil: not known; never changed, only replaced
	looked bool              // the manager was not told of last yet
}

// NewOwn returns no feeds, each of which so many peers are to look at, as far as
// this one is asked.
func NewOwn(lookers int) *Own { return &Own{feeds: map[string]*share{}, lookers: lookers} }

// Clone returns an independent copy.
func (o *Own) Clone() *Own {
	return &Own{clonePointers(o.feeds), o.lookers, o.spoke}
}

func clonePointers[V any](in map[string]*V) map[string]*V {
	out := make(map[string]*V, len(in))
	for k, v := range in {
		value := *v
		out[k] = &value
	}
	return out
}

// Describe follows what the peer offers.
func (o *Own) Describe(feeds []feedring.Feed, now time.Time) {
	offered := make(map[string]bool, len(feeds))
	for i := range feeds {
		url := feeds[i].URL
		offered[url] = true
		if o.feeds[url] == nil {
			o.feeds[url] = &share{since: now}
		}
	}
	maps.DeleteFunc(o.feeds, func(url string, _ *share) bool { return !offered[url] })
}

// Anew asks another manager everything anew.
func (o *Own) Anew() {
	for _, s := range o.feeds {
		s.asked, s.tries = time.Time{}, 0
	}
}

// Deeds is what a review asks for.
type Deeds struct {
	Turns   []Turn   // to tell the driver
	Measure []string // whose origin's distance is to be found out
	Wanted  []Wanted // to tell the manager
	Next    time.Time
}

// Review looks after all feeds, no later than at a time, and asks the manager
// about those that others offer too.
func (o *Own) Review(h *Here, last time.Time) Deeds {
	do := Deeds{Next: last}
	for _, url := range slices.Sorted(maps.Keys(o.feeds)) {
		s := o.feeds[url]
		shared, again := s.decide(h, url, &do.Turns)
		if shared {
			at := o.askAt(h, url, s, &do)
			if !at.After(h.Now) {
				do.Wanted = append(do.Wanted, o.wantedOf(h, url, s))
				at = o.askAt(h, url, s, &do)
			}
			do.Next = earlier(do.Next, at)
		}
		if again.After(h.Now) {
			do.Next = earlier(do.Next, again)
		}
	}
	return do
}

// askAt is when the manager is to be asked about a feed. Who does not look
// itself first learns how far its origin is.
func (o *Own) askAt(h *Here, url string, s *share, do *Deeds) time.Time {
	r := h.Refresh
	if s.way == 0 && s.gauged.IsZero() {
		s.gauged = h.Now
		do.Measure = append(do.Measure, url)
	}
	switch {
	case s.asked.IsZero() && s.told.Turn == 0 && s.way == 0:
		return s.gauged.Add(r / 4)
	case s.asked.IsZero() || s.news:
		return h.Now
	}
	at := s.asked.Add(h.hold() / 3)
	if s.tries > 0 || !h.Now.Before(s.until) {
		at = s.asked.Add(min(r/3<<min(s.tries, 10), h.hold()/3))
	}
	if s.looked {
		at = earlier(at, o.spoke.Add(r/4))
	}
	return at
}

func (o *Own) wantedOf(h *Here, url string, s *share) Wanted {
	s.asked, s.news = h.Now, false
	s.tries++
	if s.told.Turn == 0 && h.Now.Sub(s.failed) > failedFor*h.Refresh {
		s.failed = time.Time{} // nothing is known of late
	}
	w := Wanted{URL: url, Distance: s.said, Lookers: o.lookers, Holds: s.told.Turn > 0, Failing: !s.failed.IsZero()}
	if s.looked {
		s.looked, o.spoke = false, h.Now
	}
	if w.Holds {
		w.Last = s.last.asOf(h.Now)
	}
	return w
}

// Told takes the manager's word, which holds for a time.
func (o *Own) Told(h *Here, during time.Duration, feeds []Said) (turns []Turn) {
	for _, f := range feeds {
		s := o.feeds[f.URL]
		if s == nil || len(f.By) == 0 || len(f.By) > Most {
			continue
		}
		s.by, s.until, s.tries, s.alone = f.By, h.Now.Add(min(during, 2*h.hold())), 0, time.Time{}
		last, told := leave(f.Last, h.Now), s.told
		news := last.news(s.last, h.slack())
		if news {
			s.last = last
		}
		s.decide(h, f.URL, &turns)
		if news && s.told == told && (told.Of > 1 && last.Wait > 0 || told.Turn == 0 && told.By != "" && last.asks(h.Now)) {
			s.tell(h, &turns)
		}
	}
	return turns
}

// Looked takes in a look that ended, and reports whether the manager is to be
// told: at once where a host wants to be left alone or a feed is gone, and else four
// times in a period at most.
func (o *Own) Looked(url string, l *Last, now time.Time) (soon bool) {
	s, last := o.feeds[url], leave(l, now)
	if s == nil || last == nil {
		return false
	}
	s.last, s.looked = last, true
	s.news = s.news || last.Host != "" || last.Gone
	return true
}

// Measured takes in what is known of the way to an origin, and reports whether
// the manager is to be told, as it is of what differs by a quarter: chance moves
// no lease.
func (o *Own) Measured(url string, distance time.Duration, failing bool, now time.Time) (news bool) {
	s := o.feeds[url]
	if s == nil {
		return false
	}
	if d := distance; d > 0 {
		d = min(max(d, time.Millisecond), time.Minute)
		if s.way == 0 {
			s.way = d
		}
		s.way += (d - s.way) / 4
	}
	if way := s.way.Round(time.Millisecond); (way-s.said).Abs() > s.said/4+2*time.Millisecond || s.said == 0 && way > 0 {
		s.said, s.news = way, true
	}
	if failing == s.failed.IsZero() {
		s.news = true
	}
	s.failed = time.Time{}
	if failing {
		s.failed = now
	}
	return s.news
}

// By is who looks at an own feed instead of this peer; empty: nobody that is known.
func (o *Own) By(url string) feedring.PeerID {
	if s := o.feeds[url]; s != nil && s.told.Turn == 0 {
		return s.told.By
	}
	return ""
}

// Urge reports whether an own feed is to be looked at now because another peer
// asks for it.
func (o *Own) Urge(h *Here, url string) bool {
	s := o.feeds[url]
	if s == nil || s.told.Turn == 0 || h.Now.Sub(s.urged) < urgeEvery*h.Refresh {
		return false
	}
	s.urged = h.Now
	return true
}
