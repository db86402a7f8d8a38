package fetchassign

import (
	"time"

	"github.com/feedring/feedring/group/internal/catalogue"
)

// LastFetch is what the next fetcher of a feed needs to know of the last fetch, as of the
// moment when it is told. It is never changed, so it is shared. It repeats what an origin
// asked for; nobody can check that, so it has bounds.
type LastFetch struct {
	Ago  time.Duration // since it ended
	Wait time.Duration // the origin wants to be left alone for so long; 0: it did not say
	Host string        // that is left alone as a whole; empty: the feed alone

	ETag, LastModified string // the origin's validators, as they came
	// Entries names what the group had of the feed after that fetch: a peer that has
	// something else needs the whole document. 0: not known.
	Entries uint64

	Failures int           // fetches in a row that failed, this one included
	Again    time.Duration // after a failure: the fetcher would not fetch again for so long
	Gone     bool          // the origin said that the feed is gone for good
}

// Bounds of a Last.
const (
	MaxWait      = 25 * time.Hour
	MaxValidator = 1024
	MaxHost      = 300
	maxAgo       = 365 * 24 * time.Hour
	maxFailures  = 16 // no wait grows beyond these
)

// datedFetch is a LastFetch at the time it was told.
type datedFetch struct {
	LastFetch
	at time.Time
}

// bounded limits what a peer reports; nil: it is not to be used.
func bounded(l *LastFetch, now time.Time) *datedFetch {
	if l == nil || len(l.Host) > MaxHost || len(l.ETag) > MaxValidator || len(l.LastModified) > MaxValidator {
		return nil
	}
	bounded := *l
	bounded.Ago, bounded.Wait = min(max(l.Ago, 0), maxAgo), min(max(l.Wait, 0), MaxWait)
	bounded.Failures = min(max(l.Failures, 0), maxFailures)
	bounded.Again = min(max(l.Again, 0), MaxWait)
	return &datedFetch{bounded, now}
}

// concernsAll reports whether l matters to peers that do not fetch the feed: the host wants
// to be left alone as a whole, or the feed is gone for good.
func (l *datedFetch) concernsAll(now time.Time) bool {
	return l != nil && (l.Gone || l.Host != "" && l.until().After(now))
}

func (l *datedFetch) ended() time.Time { return l.at.Add(-l.Ago) }
func (l *datedFetch) until() time.Time { return l.at.Add(l.Wait) }

// asOf is l at another time; nil where l is.
func (l *datedFetch) asOf(now time.Time) *LastFetch {
	if l == nil {
		return nil
	}
	d := now.Sub(l.at)
	aged := l.LastFetch
	aged.Ago, aged.Wait, aged.Again = min(l.Ago+d, maxAgo), max(0, l.Wait-d), max(0, l.Again-d)
	return &aged
}

// newerThan reports whether l is of a later fetch than old; a report of the same fetch that
// was on its way for longer is not.
func (l *datedFetch) newerThan(old *datedFetch, slack time.Duration) bool {
	switch {
	case l == nil || old == nil:
		return l != nil
	case l.ended().Sub(old.ended()) > slack:
		return true
	case l.ended().Before(old.ended().Add(-slack)):
		return false
	}
	return l.Wait > 0 && l.until().Sub(old.until()) > slack || l.ETag != old.ETag || l.LastModified != old.LastModified || l.Entries != old.Entries ||
		l.Failures != old.Failures || l.Gone != old.Gone
}

// slack is by how much two reports of one fetch may differ.
func (h *Snapshot) slack() time.Duration { return h.Refresh / 8 }

// Size is at least what l takes on the wire.
func (l *LastFetch) Size() int {
	if l == nil {
		return 0
	}
	return 2*catalogue.Part + len(l.Host) + len(l.ETag) + len(l.LastModified)
}
