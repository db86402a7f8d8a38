// Package orphans decides which feeds a volunteer carries for others: feeds of its group that somebody offered and that
// nobody who is there offers any more. It fetches nothing and writes no row: it is told what the catalogue says and what
// time it is, and returns the list of what this peer carries.
package orphans

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/clone"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/internal/times"
)

const (
	// MaxCarried bounds the feeds that one peer carries in one group.
	MaxCarried = 1_000
	// Carriers is how many volunteers carry one feed.
	Carriers = 2

	waitPeriods = 10                        // that nobody has offered a feed, or that somebody does again
	carryFor    = 7 * 24 * time.Hour        // at most
	near        = 8                         // volunteers next to a feed on the circle that may carry it
	maxOfSite   = 60                        // feeds of one site: one request a minute
	maxBytes    = catalogue.MaxBytes / 4    // of the carried feeds in the row
	maxOwn      = feedring.MaxFeeds - 2_000 // own feeds of a peer that still carries others
	maxOwnBytes = catalogue.MaxBytes / 2    // of them
	maxOrphans  = 20_000                    // that are followed
	maxOwners   = 8                         // of one feed that are remembered
	soon        = 20                        // parts of a refresh period in which changes of rows are waited for
)

// Output is one thing to do.
type Output = interface{ IsOutput() }

// Carry replaces the feeds that this peer carries for others in a group. The driver fetches, offers and publishes each as
// if its owner had added it there, but for those that it may not, and offers it with Carried as it is here. A feed that
// its owner added stays as it is.
type Carry struct {
	Group feedring.GroupID
	Feeds []feedring.Feed // by URL
}

// IsOutput makes a Carry an output of the group.
func (Carry) IsOutput() {}

// Membership is what a Keeper needs of the group.
type Membership interface {
	Now() time.Time
	Index() *catalogue.Index
	Member(feedring.PeerID) catalogue.Member
	Prefix(feedring.PeerID) standing.Prefix
	// Known reports whether a peer is not new here, by this peer's own evidence.
	Known(feedring.PeerID) bool
	// Holds reports whether this peer holds an entry of a feed, whoever published it.
	Holds(url string) bool
	Emit(Output)
	// CarryAt sets the timer that calls Review, CarryTime is when it fires; zero: it is not set.
	CarryAt(time.Time)
	CarryTime() time.Time
}

// Config is what is told once.
type Config struct {
	Group   feedring.GroupID
	Self    feedring.PeerID
	Refresh time.Duration
}

// Keeper is one peer's part in carrying the feeds of one group. Use New.
type Keeper struct {
	cfg        Config
	group      Membership `state:"the machine that this is part of"`
	volunteers bool
	described  bool
	feeds      map[string]*orphan // by address
	told       []feedring.Feed    // never changed, only replaced
}

// orphan is a feed that nobody who is there offers, or that this peer carries.
type orphan struct {
	since   time.Time         // nobody offers it
	short   time.Time         // since when fewer than Carriers of the others carry it
	looked  time.Time         // until when somebody else may have fetched it
	back    time.Time         // since when somebody offers it again; zero: nobody does
	owners  []feedring.PeerID // who offered it; never changed, only replaced
	seen    bool              // somebody who had added it is gone, as this peer saw
	carried bool
	feed    feedring.Feed // as it is carried
}

// New returns the part of a peer that does not volunteer.
func New(cfg Config, group Membership) *Keeper {
	return &Keeper{cfg: cfg, group: group, feeds: map[string]*orphan{}}
}

// Clone returns an independent copy for another membership.
func (k *Keeper) Clone(group Membership) *Keeper {
	c := *k
	c.group, c.feeds = group, clone.Map(k.feeds)
	return &c
}

func (k *Keeper) wait() time.Duration { return waitPeriods * k.cfg.Refresh }

// Describe follows whether this peer volunteers. What it carries when it begins it carried in its life before, and goes
// on with.
func (k *Keeper) Describe(volunteers bool, feeds []feedring.Feed) {
	begins := volunteers && !k.described
	k.volunteers, k.described = volunteers, k.described || volunteers
	if begins {
		for _, f := range feeds {
			if f.Carried > 0 && len(k.told) < MaxCarried {
				f.Epoch = 0
				k.feeds[f.URL] = &orphan{since: k.date(f.Carried), short: k.group.Now(), carried: true, feed: f}
				k.told = append(k.told, f)
			}
		}
	}
	k.RowsChanged()
}

// RowsChanged reviews soon what is carried.
func (k *Keeper) RowsChanged() {
	if !k.volunteers && len(k.told) == 0 {
		return
	}
	at := k.group.Now().Add(k.cfg.Refresh / soon)
	if set := k.group.CarryTime(); set.IsZero() || at.Before(set) {
		k.group.CarryAt(at)
	}
}

// LookedAt is until when others may have fetched a feed that this peer carries; zero: not known.
func (k *Keeper) LookedAt(url string) time.Time {
	if f := k.feeds[url]; f != nil && f.carried {
		return f.looked
	}
	return time.Time{}
}

// date is the instant of a Unix second, now at the latest.
func (k *Keeper) date(second uint64) time.Time {
	now := k.group.Now()
	if second >= uint64(max(0, now.Unix())) {
		return now
	}
	return time.Unix(int64(second), 0)
}

// Review decides anew what this peer carries.
func (k *Keeper) Review() {
	if !k.volunteers {
		clear(k.feeds)
		k.tell()
		return
	}
	all, next := k.survey(), time.Time{}
	urls := slices.Collect(maps.Keys(all))
	for url := range k.feeds {
		if all[url] == nil {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	circle := k.circle()
	var due []candidate
	for _, url := range urls {
		o := all[url]
		if o == nil {
			o = &offers{}
		}
		at := k.follow(circle, url, o)
		if f := k.feeds[url]; f != nil && !f.carried {
			var c candidate
			if c, at = k.candidate(circle, url, f, o); c.url != "" {
				due = append(due, c)
			}
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	k.take(due)
	k.tell()
	if !next.IsZero() {
		k.group.CarryAt(times.Later(next, k.group.Now().Add(k.cfg.Refresh/soon)))
	}
}

// follow follows what others offer of a feed, and ends what need not be carried any more. It returns when to look again;
// zero: not before something happens.
func (k *Keeper) follow(circle catalogue.Circle, url string, o *offers) (again time.Time) {
	now, f := k.group.Now(), k.feeds[url]
	if f == nil {
		if o.there || len(o.owners) == 0 || len(k.feeds) >= maxOrphans {
			return time.Time{}
		}
		f = &orphan{since: now, short: now, looked: now}
		k.feeds[url] = f
	}
	if f.seen = f.seen || o.gone; o.carried > 0 && !f.seen { // else this peer knows better than what a row says
		f.since = times.Earlier(f.since, k.date(o.carried))
	}
	if len(o.carriers) > 0 {
		f.looked = now
	}
	if len(o.carriers) >= Carriers {
		f.short = now
	}
	f.remember(o.owners)
	if o.there {
		if f.back.IsZero() {
			f.back = now
		}
		if again = f.back.Add(k.wait()); !f.carried || !now.Before(again) {
			delete(k.feeds, url)
			return time.Time{}
		}
		return again
	}
	f.back = time.Time{}
	switch over := f.since.Add(carryFor); {
	case len(o.owners) == 0 && (!f.carried || k.takenOut(f)):
		delete(k.feeds, url)
	case f.carried && (!now.Before(over) || k.enough(circle, url, o)):
		f.carried = false
	case f.carried:
		return over
	}
	return time.Time{}
}

// remember notes who offered a feed.
func (f *orphan) remember(owners []feedring.PeerID) {
	for _, p := range owners {
		if len(f.owners) < maxOwners && !slices.Contains(f.owners, p) {
			f.owners = append(slices.Clip(f.owners), p)
		}
	}
}

// takenOut reports whether somebody who offered a feed is here and offers it no more, or left and its site named it: nobody
// else carries that on.
func (k *Keeper) takenOut(f *orphan) bool {
	return slices.ContainsFunc(f.owners, func(p feedring.PeerID) bool {
		m := k.group.Member(p)
		return m.Row != nil && (m.Row.Left || !m.Away)
	})
}

// enough reports whether as many others carry a feed as are to, each nearer to it than this peer.
func (k *Keeper) enough(circle catalogue.Circle, url string, o *offers) bool {
	own, nearer := circle.Place(url, k.cfg.Self, near), 0
	for _, p := range o.carriers {
		if circle.Place(url, p, near) < own {
			nearer++
		}
	}
	return nearer >= Carriers
}

// tell hands the driver what this peer carries, if that changed.
func (k *Keeper) tell() {
	var list []feedring.Feed
	for _, url := range slices.Sorted(maps.Keys(k.feeds)) {
		if f := k.feeds[url]; f.carried {
			list = append(list, f.feed)
		}
	}
	if !slices.Equal(list, k.told) {
		k.told = list
		k.group.Emit(Carry{Group: k.cfg.Group, Feeds: list})
	}
}
