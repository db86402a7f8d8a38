// Package sitecheck decides when a peer checks whether the sites of its group's feeds name their publishers, and which
// vouches its row carries. It asks no site and writes no row: it is told what came and what time it is, and returns
// what is to be done.
package sitecheck

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/hash"
	"github.com/feedring/feedring/internal/clone"
)

const (
	every = 24 * time.Hour
	batch = 16 // checks begun at once
)

// Checker is what one peer knows of the sites of feeds, by its own checks. Use New.
type Checker struct {
	self    feedring.PeerID
	refresh time.Duration
	checks  map[feedring.FeedRef]*check
}

// check is this peer's check of one site.
type check struct {
	due       time.Time
	last      time.Time // when the one before began
	vouchedAt time.Time // when the site last named the publisher
	inFlight  bool
	again     bool // asked for while it was under way
	tries     int
}

// New returns the checks of a peer that has asked no site yet.
func New(self feedring.PeerID, refresh time.Duration) *Checker {
	return &Checker{self: self, refresh: refresh, checks: map[feedring.FeedRef]*check{}}
}

// Clone returns an independent copy.
func (s *Checker) Clone() *Checker {
	return &Checker{self: s.self, refresh: s.refresh, checks: clone.Map(s.checks)}
}

// Tries is how many checks of a feed's site have failed one after the other.
func (s *Checker) Tries(ref feedring.FeedRef) int {
	if c := s.checks[ref]; c != nil {
		return c.tries
	}
	return 0
}

// Named reports whether the site of a feed named its publisher when this peer last found out, lately enough to count.
// own is the vouches of this peer's row.
func (s *Checker) Named(ref feedring.FeedRef, own []catalogue.Vouch, now time.Time) bool {
	return s.checks[ref].vouches(now) || slices.ContainsFunc(own, func(v catalogue.Vouch) bool {
		return v.About(ref) && now.Sub(v.At) <= catalogue.VouchAge
	})
}

// Review begins the checks that are due and returns their feeds. own is the vouches of this peer's row. The next review
// is due at next.
func (s *Checker) Review(x *catalogue.Index, own []catalogue.Vouch, now time.Time) (begun []feedring.FeedRef, next time.Time) {
	circle := x.PresentCircle()
	mine := map[feedring.FeedRef]bool{}
	next = now.Add(every)
	for _, f := range x.Feeds {
		if f.Away || !circle.Looks(f.Ref, s.self, catalogue.Checkers) {
			continue
		}
		mine[f.Ref] = true
		c := s.checks[f.Ref]
		if c == nil {
			c = &check{due: firstCheck(f.Ref, own, now)}
			s.checks[f.Ref] = c
		}
		if c.inFlight {
			continue
		}
		if c.due.After(now) || len(begun) >= batch {
			next = times.Earlier(next, times.Later(c.due, now.Add(s.refresh/8)))
			continue
		}
		c.inFlight, c.last = true, now
		begun = append(begun, f.Ref)
	}
	maps.DeleteFunc(s.checks, func(ref feedring.FeedRef, c *check) bool { return !mine[ref] && !c.inFlight && !c.vouches(now) })
	return begun, next
}

// firstCheck is when ref is due: at once, or a day after the own row's vouch.
func firstCheck(ref feedring.FeedRef, own []catalogue.Vouch, now time.Time) time.Time {
	for i := range own {
		if own[i].About(ref) {
			return own[i].At.Add(every)
		}
	}
	return now
}

// Outcome is how a check ended.
type Outcome struct {
	Feed    feedring.FeedRef
	Vouched bool
	Unknown bool // the site could not be asked: what it said before stands
	Vouch   catalogue.Vouch
}

// IsInput makes an Outcome an input of the group.
func (Outcome) IsInput() {}

// OnChecked takes the outcome of a check. A failed check is tried again. A vouch stays while its site cannot be asked,
// until it is too old. OnChecked returns the vouches of the row, whether they differ from own, and when the feed is due
// again; zero: no check of it was under way.
func (s *Checker) OnChecked(o Outcome, own []catalogue.Vouch, now time.Time) (vouches []catalogue.Vouch, changed bool, next time.Time) {
	state := s.checks[o.Feed]
	if state == nil || !state.inFlight {
		return own, false, time.Time{}
	}
	state.inFlight, vouches = false, own
	if o.Vouched && o.Vouch.Publisher == o.Feed.Publisher && feedring.OfSite(o.Feed.URL, o.Vouch.Site) {
		state.tries, state.due, state.vouchedAt = 0, now.Add(s.interval(o.Feed)), now
		vouches, changed = s.with(own, o.Vouch, o.Feed.URL, now)
	} else {
		state.due = now.Add(s.pause(o.Feed, state.tries))
		state.tries++
		if !o.Unknown {
			state.vouchedAt = time.Time{}
			vouches, changed = without(own, o.Feed)
		}
	}
	if state.again {
		state.again, state.due = false, now
	}
	return vouches, changed, state.due
}

// pause is how long to wait after a check that found nothing. The publisher
// checks its own site often at first, where the document may appear any time;
// others are told by its row when it does. In the end a site is asked once a
// day, until Recheck says that there may be something new.
func (s *Checker) pause(ref feedring.FeedRef, tries int) time.Duration {
	r := s.refresh
	pauses := []time.Duration{r, 10 * r, max(10*r, time.Hour)}
	if ref.Publisher == s.self {
		pauses = []time.Duration{r, 3 * r, 10 * r, 30 * r}
	}
	if tries < len(pauses) {
		return min(pauses[tries], every)
	}
	pause := pauses[len(pauses)-1]
	for i := len(pauses) - 1; i < tries && pause < every; i++ {
		pause *= 4
	}
	return min(pause, s.interval(ref))
}

// interval is a day, less up to an eighth that differs between feeds and peers:
// a site is not asked about all its feeds, or by all its peers, at one time.
func (s *Checker) interval(ref feedring.FeedRef) time.Duration {
	h := hash.Of("look", string(s.self), ref.URL, string(ref.Publisher))
	return every - time.Duration(h%uint64(every/8))
}

// Recheck brings forward the checks of a publisher's sites, to
// one a refresh period: no publisher can make this peer a burden to a site.
func (s *Checker) Recheck(publisher feedring.PeerID, now time.Time) {
	for ref, c := range s.checks {
		switch {
		case ref.Publisher != publisher:
		case c.inFlight:
			c.again = true
		default:
			c.tries, c.due = 0, times.Later(now, c.last.Add(s.refresh))
		}
	}
}

// vouches reports whether a site's vouch still counts. A vouch has one date for
// all its feeds, the last one; each feed's own is kept here, so that one that
// can no longer be asked about does not live on by the others.
func (c *check) vouches(now time.Time) bool {
	return c != nil && !c.vouchedAt.IsZero() && now.Sub(c.vouchedAt) <= catalogue.VouchAge
}

// holds reports whether v still counts for its feed at url.
func (s *Checker) holds(v *catalogue.Vouch, url string, now time.Time) bool {
	return s.checks[feedring.FeedRef{URL: url, Publisher: v.Publisher}].vouches(now)
}

// feedsOf lists the feeds of v that the site named lately, but for url.
func (s *Checker) feedsOf(v *catalogue.Vouch, url string, now time.Time) (feeds []string) {
	for _, f := range v.Feeds {
		if f != url && s.holds(v, f, now) {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// with adds v, found for the feed at url, to own if there is room. What was found
// for other feeds of that site stays beside it.
func (s *Checker) with(own []catalogue.Vouch, v catalogue.Vouch, url string, now time.Time) (vouches []catalogue.Vouch, changed bool) {
	v.At = now.UTC().Truncate(time.Second)
	v.Feeds = []string{url}
	vouches = slices.DeleteFunc(slices.Clone(own), func(o catalogue.Vouch) bool { return now.Sub(o.At) > catalogue.VouchAge })
	i := slices.IndexFunc(vouches, func(o catalogue.Vouch) bool { return o.Site == v.Site && o.Publisher == v.Publisher })
	if i < 0 {
		vouches = append(vouches, v)
	} else {
		v.Feeds = append(v.Feeds, s.feedsOf(&vouches[i], url, now)...)
		slices.Sort(v.Feeds)
		vouches[i] = v
	}
	return vouches, len(v.Feeds) <= catalogue.MaxVouches && catalogue.WordsFit(vouches)
}

// Expire takes vouches that are too old to count out of own, and reports whether there were any.
func (s *Checker) Expire(own []catalogue.Vouch, now time.Time) (left []catalogue.Vouch, changed bool) {
	for _, v := range own {
		n := len(v.Feeds)
		v.Feeds = s.feedsOf(&v, "", now)
		changed = changed || len(v.Feeds) < n
		if len(v.Feeds) > 0 {
			left = append(left, v)
		}
	}
	return left, changed
}

// without takes the vouch for a feed out of own, and reports whether there was one.
func without(own []catalogue.Vouch, ref feedring.FeedRef) (left []catalogue.Vouch, changed bool) {
	for _, v := range own {
		if v.About(ref) {
			changed = true
			v.Feeds = slices.DeleteFunc(slices.Clone(v.Feeds), func(f string) bool { return f == ref.URL })
			if len(v.Feeds) == 0 {
				continue
			}
		}
		left = append(left, v)
	}
	return left, changed
}
