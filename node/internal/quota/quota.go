// Package quota bounds what strangers' publications take of this peer's disk: the bytes of
// each publisher a day, the entries of each feed an hour, and the bytes of all publishers of
// one standing together. internal/standing says how much that is. node/internal/replicate asks before it polls and before it stores.
package quota

import (
	"maps"
	"slices"
	"sort"
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
	// maxSaved is how many accounts are kept over a restart: those of which most is used.
	maxSaved = 4096
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

// Saved is an account that is kept over a restart: of a feed if Feed is set, else of a publisher
// if Publisher is, else of a class.
type Saved struct {
	Class     standing.Class  `json:"class,omitempty"`
	Publisher feedring.PeerID `json:"publisher,omitempty"`
	Feed      string          `json:"feed,omitempty"`
	Used      float64         `json:"used"` // bytes, or entries of a feed
	At        time.Time       `json:"at"`
}

// Quotas are the accounts of all publishers. They are in memory; who restarts them saves what
// Save returns. All methods may be called concurrently. Use New.
type Quotas struct {
	cfg     Config
	mu      sync.Mutex
	classes map[standing.Class]*account
	bytes   map[feedring.PeerID]*account
	entries map[feedring.FeedRef]*account
	sweepAt int
	changed bool // since Save
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
	q.changed = true
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
	q.changed = true
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

// Save returns the accounts of which something is used, the most used of each kind first, and 4,096 at
// most. It reports false if nothing was charged since it was called last.
func (q *Quotas) Save() (accounts []Saved, changed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.changed {
		return nil, false
	}
	q.changed = false
	for class, a := range q.classes {
		accounts = append(accounts, Saved{Class: class, Used: a.used, At: a.at})
	}
	var publishers, feeds []Saved
	for publisher, a := range q.bytes {
		publishers = append(publishers, Saved{Publisher: publisher, Used: a.used, At: a.at})
	}
	for ref, a := range q.entries {
		feeds = append(feeds, Saved{Publisher: ref.Publisher, Feed: ref.URL, Used: a.used, At: a.at})
	}
	for _, of := range [][]Saved{publishers, feeds} {
		of = slices.DeleteFunc(of, func(s Saved) bool { return s.Used <= 0 })
		sort.Slice(of, func(i, j int) bool { return of[i].Used > of[j].Used })
		accounts = append(accounts, of[:min(len(of), maxSaved/2)]...)
	}
	return accounts, true
}

// Restore sets the accounts to what Save returned in an earlier run. What came back meanwhile is
// reckoned from their times; a time ahead of now counts as now.
func (q *Quotas) Restore(accounts []Saved, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range accounts {
		a := &account{used: max(0, s.Used), at: s.At}
		if a.at.After(now) {
			a.at = now
		}
		switch {
		case s.Feed != "":
			q.entries[feedring.FeedRef{URL: s.Feed, Publisher: s.Publisher}] = a
		case s.Publisher != "":
			q.bytes[s.Publisher] = a
		default:
			q.classes[s.Class] = a
		}
	}
}
