// Package throttle bounds how often each of very many strangers may ask for
// something. It reads no clock and knows no network.
package throttle

import (
	"sync"
	"time"
)

// most is how many strangers are remembered. Beyond them all are forgotten: who
// has more addresses than that is not bounded by address.
const most = 1 << 14

// Buckets are a token bucket for each key. All methods may be called at the
// same time.
type Buckets struct {
	every time.Duration // for one token
	burst time.Duration // as tokens of a full bucket
	mu    sync.Mutex
	empty map[string]time.Time // when a bucket was, or will be, without a token
}

// New returns full buckets of burst tokens, each filled by one token every so
// often.
func New(every time.Duration, burst int) *Buckets {
	return &Buckets{every: every, burst: every * time.Duration(burst), empty: make(map[string]time.Time)}
}

// Take takes n tokens of a key, or none and says how long until there are as
// many.
func (b *Buckets) Take(now time.Time, key string, n int) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	after := b.level(now, key).Add(b.every * time.Duration(n))
	if wait = after.Sub(now); wait > 0 {
		return wait
	}
	b.set(now, key, after)
	return 0
}

// Wait is how long until a key has n tokens; 0: it has them. It takes none.
func (b *Buckets) Wait(now time.Time, key string, n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.level(now, key).Add(b.every*time.Duration(n)).Sub(now))
}

// Fine takes n tokens, there or not: they must come back first.
func (b *Buckets) Fine(now time.Time, key string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(now, key, b.level(now, key).Add(b.every*time.Duration(n)))
}

// Give gives n tokens of a key back that were taken for nothing. A bucket holds no more
// than its burst.
func (b *Buckets) Give(now time.Time, key string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(now, key, b.level(now, key).Add(-b.every*time.Duration(n)))
}

// level is when the bucket would have been empty, had it been filled since.
func (b *Buckets) level(now time.Time, key string) time.Time {
	full := now.Add(-b.burst)
	if at := b.empty[key]; at.After(full) {
		return at
	}
	return full
}

func (b *Buckets) set(now time.Time, key string, at time.Time) {
	if _, ok := b.empty[key]; !ok && len(b.empty) >= most {
		b.forget(now)
	}
	b.empty[key] = at
}

// forget drops full buckets, and where that leaves too many all of them.
func (b *Buckets) forget(now time.Time) {
	full := now.Add(-b.burst)
	for key, at := range b.empty {
		if !at.After(full) {
			delete(b.empty, key)
		}
	}
	if len(b.empty) >= most*3/4 {
		clear(b.empty)
	}
}

// Seconds is a wait as Retry-After tells it.
func Seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }
