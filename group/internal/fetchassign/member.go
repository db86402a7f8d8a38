package fetchassign

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/clone"
)

// Member is one peer's part, with the feeds that it offers. A peer that alone offers a feed
// fetches it and asks nobody. The site's own peer always fetches, and nobody else while it is
// present. Of all other feeds the manager assigns the fetchers. Use NewMember.
type Member struct {
	group      feedring.GroupID
	feeds      map[string]*memberFeed
	fetchers   int           // that this peer wants for each feed
	every      time.Duration // between two fetches; 0: not fixed
	reportedAt time.Time     // when a fetch was last reported to the manager
}

// share is one feed.
type memberFeed struct {
	since     time.Time       // when it was offered
	announced FetchAssignment // what the driver knows

	fetchers        []feedring.PeerID // by the manager's assignment; never changed, only replaced
	validUntil      time.Time         // of that assignment
	waitingSince    time.Time         // since when this peer has waited for a first assignment; zero: it has one, or needs none
	requestedAt     time.Time         // of the manager that is followed; zero: not yet
	tries           int               // requests without an answer
	changed         bool              // there is something to report to the manager
	askedToFetchAt  time.Time         // when another peer last asked for a fetch
	latency         time.Duration     // to the origin, smoothed; 0: unknown
	reportedLatency time.Duration     // as the manager knows it
	measuredAt      time.Time         // when its measurement was asked for; zero: never
	failedAt        time.Time         // when a fetch last failed; zero: the origin answers, as far as is known
	last            *datedFetch       // the last fetch by anybody; nil: not known; never changed, only replaced
	unreported      bool              // last was not reported to the manager yet
	verifying       VerifyStandIn     // what the driver knows; its Last is nil
	failed          []failedStandIn   // of the last 24 h, the newest last; never changed, only replaced
}

// NewMember returns the part of a peer that offers no feeds, wants so many fetchers for each, and fetches at a fixed
// interval; 0: its scheduler decides.
func NewMember(group feedring.GroupID, fetchers int, every time.Duration) *Member {
	return &Member{group: group, feeds: map[string]*memberFeed{}, fetchers: fetchers, every: every}
}

// Clone returns an independent copy.
func (o *Member) Clone() *Member {
	return &Member{o.group, clone.Map(o.feeds), o.fetchers, o.every, o.reportedAt}
}

// carriers know of feeds that are carried for others.
type carriers interface{ LookedAt(url string) time.Time }

// Describe follows what the peer offers. Of one that it carries from now on the last fetch counts as of when others may
// have fetched it last.
func (o *Member) Describe(feeds []feedring.Feed, now time.Time, carried carriers) {
	offered := make(map[string]bool, len(feeds))
	for i := range feeds {
		url := feeds[i].URL
		offered[url] = true
		if o.feeds[url] == nil {
			o.feeds[url] = &memberFeed{since: now}
			if at := carried.LookedAt(url); !at.IsZero() {
				o.feeds[url].last = &datedFetch{LastFetch{Ago: max(0, now.Sub(at))}, now}
			}
		}
	}
	maps.DeleteFunc(o.feeds, func(url string, _ *memberFeed) bool { return !offered[url] })
}

// ManagerChanged has every request repeated to the new manager.
func (o *Member) ManagerChanged() {
	for _, s := range o.feeds {
		s.requestedAt, s.tries = time.Time{}, 0
	}
}

// Actions is what a review asks for.
type Actions struct {
	Decisions []Output  // to tell the driver: FetchAssignment and VerifyStandIn
	Measure   []string  // feeds whose origin's distance is to be measured
	Requests  []Request // to tell the manager
	Next      time.Time
}

// Review looks after all feeds, no later than at a time, and asks the manager
// about those that others offer too.
func (o *Member) Review(h *Snapshot, last time.Time) Actions {
	do := Actions{Next: last}
	for _, url := range slices.Sorted(maps.Keys(o.feeds)) {
		s := o.feeds[url]
		shared, again := s.decide(h, o.group, url, &do.Decisions)
		if shared {
			at := o.requestAt(h, url, s, &do)
			if !at.After(h.Now) {
				do.Requests = append(do.Requests, o.request(h, url, s))
				at = o.requestAt(h, url, s, &do)
			}
			do.Next = times.Earlier(do.Next, at)
		}
		if again.After(h.Now) {
			do.Next = times.Earlier(do.Next, again)
		}
	}
	return do
}

// requestAt is when the manager is to be asked about a feed. A peer that does not fetch it
// measures the distance of its origin first.
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
		at = times.Earlier(at, o.reportedAt.Add(r/4))
	}
	return at
}

func (o *Member) request(h *Snapshot, url string, s *memberFeed) Request {
	s.requestedAt, s.changed = h.Now, false
	s.tries++
	if s.announced.Slot == 0 && h.Now.Sub(s.failedAt) > failedPeriods*h.Refresh {
		s.failedAt = time.Time{} // nothing is known of late
	}
	w := Request{URL: url, Distance: s.reportedLatency, Fetchers: o.fetchers, Every: o.every, Fetching: s.announced.Slot > 0, Failing: !s.failedAt.IsZero()}
	if s.unreported {
		s.unreported, o.reportedAt = false, h.Now
	}
	if w.Fetching {
		w.Last = s.last.asOf(h.Now)
	}
	return w
}

// OnAssignments takes the manager's assignments, which are valid for a time.
func (o *Member) OnAssignments(h *Snapshot, during time.Duration, feeds []Assignment) (turns []Output) {
	for _, f := range feeds {
		s := o.feeds[f.URL]
		if s == nil || s.announced.Own || len(f.By) == 0 || len(f.By) > MaxFetchers {
			continue
		}
		s.fetchers, s.validUntil, s.tries, s.waitingSince = f.By, h.Now.Add(min(during, 2*h.validity())), 0, time.Time{}
		last, told, verifying := bounded(f.Last, h.Now), s.announced, s.verifying
		news := last.newerThan(s.last, h.slack())
		if news {
			s.last = last
		}
		s.decide(h, o.group, f.URL, &turns)
		if news && s.announced == told && (told.Slots > 1 && last.Wait > 0 || told.Slot == 0 && told.By != "" && last.concernsAll(h.Now)) {
			s.announce(h, o.group, &turns)
		}
		if news && s.verifying == verifying && verifying.Checks > 0 {
			s.tellStandIn(h, &turns)
		}
	}
	return turns
}

// OnFetched takes the end of a fetch, and reports whether the manager is to be
// told: at once if a host wants to be left alone or a feed is gone, otherwise at most
// four times in a period.
func (o *Member) OnFetched(url string, l *LastFetch, now time.Time) (soon bool) {
	s, last := o.feeds[url], bounded(l, now)
	if s == nil || last == nil {
		return false
	}
	s.last, s.unreported = last, true
	s.changed = s.changed || last.Host != "" || last.Gone
	return true
}

// OnMeasured takes the latency of an origin, and reports whether the manager is to be
// told: of a difference by a quarter, since chance must move no assignment.
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

// FetcherOf is the peer that fetches an own feed instead of this one; empty: none is known.
func (o *Member) FetcherOf(url string) feedring.PeerID {
	if s := o.feeds[url]; s != nil && s.announced.Slot == 0 {
		return s.announced.By
	}
	return ""
}

// OnFetchRequest reports whether an own feed is to be fetched now because another peer
// asks for it.
func (o *Member) OnFetchRequest(h *Snapshot, url string) bool {
	s := o.feeds[url]
	if s == nil || s.announced.Slot == 0 || h.Now.Sub(s.askedToFetchAt) < requestPeriods*h.Refresh {
		return false
	}
	s.askedToFetchAt = h.Now
	return true
}
