// Package quota bounds what strangers' publications take of this peer's disk: the bytes of
// each publisher a day, the entries of each feed an hour, and the bytes of all publishers of
// one standing together. internal/standing says how much that is. node/internal/replicate asks before it polls and before it stores.
package quota

import (
	"maps"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

const (
	day = 24 * time.Hour
	// firstEntries of a feed are bounded by their bytes alone: so many may be its history.
	firstEntries = 5000
	// overhead is what an entry takes beside its sealed bytes: its row, and its words in the index.
	overhead = 300
	// sweepAt is how many accounts there are when those of which nothing is used are forgotten.
	sweepAt = 1024
)

// account is how much of a bound is used. What was used comes back evenly.
type account struct {
	used float64
	at   time.Time
}

// left returns how much of most may be used at a time; all of it comes back within a while.
func (a *account) left(most float64, within time.Duration, now time.Time) float64 {
	if passed := now.Sub(a.at); passed > 0 {
		a.used = max(0, a.used-most*passed.Seconds()/within.Seconds())
		a.at = now
	}
	return most - a.used
}

// Config is how much all strangers may put on a disk.
type Config struct {
	Cache int64         // bytes that are kept of them at a time
	Kept  time.Duration // how long an entry stays
}

// Quotas are the accounts of all publishers. They are in memory: a restart empties them. All
// methods may be called concurrently. Use New.
type Quotas struct {
	cfg     Config
	mu      sync.Mutex
	classes map[standing.Class]*account
	bytes   map[feedring.PeerID]*account
	entries map[feedring.FeedRef]*account
	sweepAt int
}

// New returns accounts of which nothing is used.
func New(cfg Config) *Quotas {
	return &Quotas{cfg: cfg, classes: map[standing.Class]*account{}, bytes: map[feedring.PeerID]*account{}, entries: map[feedring.FeedRef]*account{}, sweepAt: sweepAt}
}

// Take charges entries of a feed, each by its size in bytes, and returns how many of them
// may be stored: the first ones, until a bound is reached.
func (q *Quotas) Take(ref feedring.FeedRef, of standing.Quota, sizes []int, now time.Time) int {
	if of == (standing.Quota{}) {
		return len(sizes)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes, entries := q.accounts(ref, now)
	class := q.class(of.Class, now)
	for i, size := range sizes {
		size += overhead
		if bytes.left(float64(of.Bytes), day, now) < float64(size) || !q.fits(of.Class, bytes.used, float64(size), now) || entries.left(firstEntries, refill(of), now) < 1 {
			return i
		}
		bytes.used += float64(size)
		class.used += float64(size)
		entries.used++
	}
	return len(sizes)
}

// class is the account of all publishers of a class.
func (q *Quotas) class(of standing.Class, now time.Time) *account {
	a := q.classes[of]
	if a == nil {
		a = &account{at: now}
		q.classes[of] = a
	}
	return a
}

// fits reports whether a publisher that used some bytes today may store more. Each class has a
// part of the cache, so that no number of new keys takes the place of those that a site names.
// Where half of that is used, each publisher has a sixteenth of it, so that a few leave room
// for all others.
func (q *Quotas) fits(of standing.Class, used, more float64, now time.Time) bool {
	most := part(of, q.cfg.Cache)
	left := q.class(of, now).left(most, q.cfg.Kept, now)
	return left >= more && (left-more >= most/2 || used+more <= most/16)
}

// part is how many bytes of the cache a class has. Guests publish nothing, so new peers have
// their part.
func part(of standing.Class, cache int64) float64 {
	const whole = 1 << 10
	parts := of.Part(whole)
	if of == standing.New {
		parts += standing.Guest.Part(whole)
	}
	return float64(cache) * float64(parts) / whole
}

// Return gives back what Take charged for entries that were not stored after all.
func (q *Quotas) Return(ref feedring.FeedRef, of standing.Quota, sizes []int, now time.Time) {
	if of == (standing.Quota{}) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes, entries := q.accounts(ref, now)
	class := q.class(of.Class, now)
	for _, size := range sizes {
		bytes.used = max(0, bytes.used-float64(size+overhead))
		class.used = max(0, class.used-float64(size+overhead))
	}
	entries.used = max(0, entries.used-float64(len(sizes)))
}

// Spent reports whether a feed is better left alone: so little is left that most of what
// other peers would send could not be stored.
func (q *Quotas) Spent(ref feedring.FeedRef, of standing.Quota, now time.Time) bool {
	if of == (standing.Quota{}) {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes, entries := q.accounts(ref, now)
	return bytes.left(float64(of.Bytes), day, now) < float64(of.Bytes)/24 ||
		!q.fits(of.Class, bytes.used, min(part(of.Class, q.cfg.Cache)/16, float64(of.Bytes))/24, now) || entries.left(firstEntries, refill(of), now) < max(1, float64(of.Entries)/60)
}

// refill is the time in which the entries of a feed come back.
func refill(of standing.Quota) time.Duration {
	return firstEntries * time.Hour / time.Duration(of.Entries)
}

func (q *Quotas) accounts(ref feedring.FeedRef, now time.Time) (bytes, entries *account) {
	if len(q.bytes)+len(q.entries) >= q.sweepAt {
		q.sweep(now)
	}
	if bytes = q.bytes[ref.Publisher]; bytes == nil {
		bytes = &account{at: now}
		q.bytes[ref.Publisher] = bytes
	}
	if entries = q.entries[ref]; entries == nil {
		entries = &account{at: now}
		q.entries[ref] = entries
	}
	return bytes, entries
}

// sweep forgets accounts that nobody used for as long as the slowest takes to come back.
func (q *Quotas) sweep(now time.Time) {
	const slowest = firstEntries * time.Hour / 60
	maps.DeleteFunc(q.bytes, func(_ feedring.PeerID, a *account) bool { return a.used == 0 || now.Sub(a.at) >= day })
	maps.DeleteFunc(q.entries, func(_ feedring.FeedRef, a *account) bool { return a.used == 0 || now.Sub(a.at) >= slowest })
	q.sweepAt = max(sweepAt, 2*(len(q.bytes)+len(q.entries)))
}
