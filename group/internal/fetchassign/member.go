package fetchassign

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/clone"
)

// Own is the feeds of one peer, as it shares the looks at them. Who offers a feed
// alone looks without a word to anybody; the site's own peer looks in any case,
// and nobody else while it is there; else the manager says whose turn it is. Use
// NewOwn.
type Member struct {
	feeds      map[string]*memberFeed
	fetchers   int       // that this peer wants at each
	reportedAt time.Time // when the manager was last told of a look
}

// share is one feed.
type memberFeed struct {
	since     time.Time // when it was offered
	announced Decision  // what the driver knows

	fetchers        []feedring.PeerID // who looks by the manager's word; never changed, only replaced
	validUntil      time.Time         // of that word
	waitingSince    time.Time         // since when this peer has been waiting for a first word; zero: it has one, or needs none
	requestedAt     time.Time         // the manager that is followed; zero: not yet
	tries           int               // asked in vain
	changed         bool              // there is something to tell the manager
	urgedAt         time.Time         // when another peer last asked for a look
	latency         time.Duration     // to the origin, smoothed; 0: unknown
	reportedLatency time.Duration     // of it, to the manager
	measuredAt      time.Time         // when it was asked for; zero: never
	failedAt        time.Time         // when a look last failed; zero: the origin answers, as far as is known
	last            *datedFetch       // the last look, by whomever; nil: not known; never changed, only replaced
	unreported      bool              // the manager was not told of last yet
}

// NewOwn returns no feeds, each of which so many peers are to look at, as far as
// this one is asked.
func NewMember(lookers int) *Member {
	return &Member{feeds: map[string]*memberFeed{}, fetchers: lookers}
}

// Clone returns an independent copy.
func (o *Member) Clone() *Member {
	return &Member{clone.Map(o.feeds), o.fetchers, o.reportedAt}
}

// Describe follows what the peer offers.
func (o *Member) Describe(feeds []feedring.Feed, now time.Time) {
	offered := make(map[string]bool, len(feeds))
	for i := range feeds {
		url := feeds[i].URL
		offered[url] = true
		if o.feeds[url] == nil {
			o.feeds[url] = &memberFeed{since: now}
		}
	}
	maps.DeleteFunc(o.feeds, func(url string, _ *memberFeed) bool { return !offered[url] })
}

// Anew asks another manager everything anew.
func (o *Member) ManagerChanged() {
	for _, s := range o.feeds {
		s.requestedAt, s.tries = time.Time{}, 0
	}
}

// Deeds is what a review asks for.
type Actions struct {
	Decisions []Decision // to tell the driver
	Measure   []string   // whose origin's distance is to be found out
	Requests  []Request  // to tell the manager
	Next      time.Time
}

// Review looks after all feeds, no later than at a time, and asks the manager
// about those that others offer too.
func (o *Member) Review(h *Snapshot, last time.Time) Actions {
	do := Actions{Next: last}
	for _, url := range slices.Sorted(maps.Keys(o.feeds)) {
		s := o.feeds[url]
		shared, again := s.decide(h, url, &do.Decisions)
		if shared {
			at := o.requestAt(h, url, s, &do)
			if !at.After(h.Now) {
				do.Requests = append(do.Requests, o.request(h, url, s))
				at = o.requestAt(h, url, s, &do)
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
func (o *Member) requestAt(h *Snapshot, url string, s *memberFeed, do *Actions) time.Time {
	r := h.Refresh
	if s.latency == 0 && s.measuredAt.IsZero() {
		s.measuredAt = h.Now
		do.Measure = append(do.Measure, url)
	}
	switch {
	case s.requestedAt.IsZero() && s.announced.Slot == 0 && s.latency == 0:
		return s.measuredAt.Add(r / 4)
	case s.requestedAt.IsZero() || s.changed:
		return h.Now
	}
	at := s.requestedAt.Add(h.validity() / 3)
	if s.tries > 0 || !h.Now.Before(s.validUntil) {
		at = s.requestedAt.Add(min(r/3<<min(s.tries, 10), h.validity()/3))
	}
	if s.unreported {
		at = earlier(at, o.reportedAt.Add(r/4))
	}
	return at
}

func (o *Member) request(h *Snapshot, url string, s *memberFeed) Request {
	s.requestedAt, s.changed = h.Now, false
	s.tries++
	if s.announced.Slot == 0 && h.Now.Sub(s.failedAt) > failedPeriods*h.Refresh {
		s.failedAt = time.Time{} // nothing is known of late
	}
	w := Request{URL: url, Distance: s.reportedLatency, Fetchers: o.fetchers, Fetching: s.announced.Slot > 0, Failing: !s.failedAt.IsZero()}
	if s.unreported {
		s.unreported, o.reportedAt = false, h.Now
	}
	if w.Fetching {
		w.Last = s.last.asOf(h.Now)
	}
	return w
}

// Told takes the manager's word, which holds for a time.
func (o *Member) OnAssignments(h *Snapshot, during time.Duration, feeds []Assignment) (turns []Decision) {
	for _, f := range feeds {
		s := o.feeds[f.URL]
		if s == nil || len(f.By) == 0 || len(f.By) > MaxFetchers {
			continue
		}
		s.fetchers, s.validUntil, s.tries, s.waitingSince = f.By, h.Now.Add(min(during, 2*h.validity())), 0, time.Time{}
		last, told := bounded(f.Last, h.Now), s.announced
		news := last.newerThan(s.last, h.slack())
		if news {
			s.last = last
		}
		s.decide(h, f.URL, &turns)
		if news && s.announced == told && (told.Slots > 1 && last.Wait > 0 || told.Slot == 0 && told.By != "" && last.concernsAll(h.Now)) {
			s.announce(h, &turns)
		}
	}
	return turns
}

// Looked takes in a look that ended, and reports whether the manager is to be
// told: at once where a host wants to be left alone or a feed is gone, and else four
// times in a period at most.
func (o *Member) OnFetched(url string, l *LastFetch, now time.Time) (soon bool) {
	s, last := o.feeds[url], bounded(l, now)
	if s == nil || last == nil {
		return false
	}
	s.last, s.unreported = last, true
	s.changed = s.changed || last.Host != "" || last.Gone
	return true
}

// Measured takes in what is known of the way to an origin, and reports whether
// the manager is to be told, as it is of what differs by a quarter: chance moves
// no lease.
func (o *Member) OnMeasured(url string, distance time.Duration, failing bool, now time.Time) (news bool) {
	s := o.feeds[url]
	if s == nil {
		return false
	}
	if d := distance; d > 0 {
		d = min(max(d, time.Millisecond), time.Minute)
		if s.latency == 0 {
			s.latency = d
		}
		s.latency += (d - s.latency) / 4
	}
	if way := s.latency.Round(time.Millisecond); (way-s.reportedLatency).Abs() > s.reportedLatency/4+2*time.Millisecond || s.reportedLatency == 0 && way > 0 {
		s.reportedLatency, s.changed = way, true
	}
	if failing == s.failedAt.IsZero() {
		s.changed = true
	}
	s.failedAt = time.Time{}
	if failing {
		s.failedAt = now
	}
	return s.changed
}

// By is who looks at an own feed instead of this peer; empty: nobody that is known.
func (o *Member) FetcherOf(url string) feedring.PeerID {
	if s := o.feeds[url]; s != nil && s.announced.Slot == 0 {
		return s.announced.By
	}
	return ""
}

// Urge reports whether an own feed is to be looked at now because another peer
// asks for it.
func (o *Member) OnFetchRequest(h *Snapshot, url string) bool {
	s := o.feeds[url]
	if s == nil || s.announced.Slot == 0 || h.Now.Sub(s.urgedAt) < requestPeriods*h.Refresh {
		return false
	}
	s.urgedAt = h.Now
	return true
}
