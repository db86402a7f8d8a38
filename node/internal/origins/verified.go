package origins

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
)

// Verify does group.VerifyStandIn.
func (o *Feeds) Verify(a group.VerifyStandIn) {
	if f, ok := o.get(a.URL); ok && f.theme() != "" && f.theme().Group() == a.Group {
		o.verifier.Assign(a)
	}
}

// RestsFor reports whether another peer fetches a feed, which this one may read.
func (o *Feeds) RestsFor(url string, by feedring.PeerID) bool {
	f, ok := o.get(url)
	return ok && !o.withheld(&f) && o.assignments.fetchedElsewhere(f.spec()) && o.assignments.of(url).By == by
}

// Plan writes down when a feed would be fetched again if this peer fetched it.
func (o *Feeds) Plan(s *fetch.State, outcome fetch.Outcome, now time.Time) {
	o.hostPolicy().Plan(o.policy, s, outcome, now)
}

// Opens is the first moment from a time on at which a part of a host's time is.
func (o *Feeds) Opens(url string, p group.Part, from time.Time) time.Time {
	if o.watcher.Ours(url) {
		return from
	}
	return watch.Part(p).Opens(from)
}

// Holds reports whether an entry of a feed is held, by whomever it was published.
func (o *Feeds) Holds(url string, id feedring.EntryID) bool {
	return slices.ContainsFunc(o.Store.Publishers(url), func(p feedring.PeerID) bool {
		_, found, err := o.Store.Latest(feedring.FeedRef{URL: url, Publisher: p}, id)
		return found || err != nil
	})
}

// WasRead takes in whether a feed that another peer fetches refuses mirrors.
func (o *Feeds) WasRead(url string, noMirrors bool) {
	if f, ok := o.get(url); ok && f.bindable() {
		o.OptOuts.FeedRead(url, noMirrors)
	}
}

// Unplan forgets what Plan needs of a feed.
func (o *Feeds) Unplan(url string) { o.policy.Forget(url) }

// ceased takes in that a feed is not offered any more.
func (o *Feeds) ceased(url string) {
	o.assignments.forget(url)
	o.verifier.Forget(url)
}
