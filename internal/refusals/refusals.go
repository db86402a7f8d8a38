// Package refusals counts what a peer did not do for others, so that an attack is seen
// where it is bounded.
package refusals

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// Where is the place at which something was refused.
type Where string

// The places.
const (
	Connection Where = "connection" // to the web address
	HTTP       Where = "http"
	Stream     Where = "stream"  // of another peer
	Frame      Where = "frame"   // a message of another peer
	Useless    Where = "useless" // statements that would have to be checked, of whom these brought no news
	Block      Where = "block"   // what the owner of this peer blocks
	Disk       Where = "disk"    // polls for entries, or parts of what they brought
)

// Reason says why.
type Reason string

// The reasons.
const (
	Share     Reason = "share"     // one asker or peer had its part
	Full      Reason = "full"      // nothing was left for anybody
	Host      Reason = "host"      // it was meant for another host
	Token     Reason = "token"     // it was wrong
	Malformed Reason = "malformed" // or wrongly signed
	Key       Reason = "key"       // it was blocked by this
	Prefix    Reason = "prefix"    // the same
	Domain    Reason = "domain"    // the same
)

// Known are the pairs that are counted, so that metrics can begin at zero.
var Known = []Count{
	{Where: Connection, Reason: Share}, {Where: Connection, Reason: Full},
	{Where: HTTP, Reason: Share}, {Where: HTTP, Reason: Full}, {Where: HTTP, Reason: Host}, {Where: HTTP, Reason: Token},
	{Where: Stream, Reason: Share}, {Where: Stream, Reason: Full},
	{Where: Frame, Reason: Malformed},
	{Where: Useless, Reason: Share},
	{Where: Disk, Reason: Share},
	{Where: Block, Reason: Key}, {Where: Block, Reason: Prefix}, {Where: Block, Reason: Domain},
}

// Count is how often something was refused.
type Count struct {
	Where  Where
	Reason Reason
	Times  uint64
}

// Counts are all of a peer. The zero Counts are none. All methods may be called
// concurrently, and on nil, which counts nothing.
type Counts struct {
	mu     sync.Mutex
	of     map[Count]uint64 // by place and reason
	recent []slot           // of the last hour, the newest last
}

// slot is what was refused in a part of an hour.
type slot struct {
	began time.Time
	of    map[Count]uint64
}

const (
	hour   = time.Hour
	slotOf = 5 * time.Minute
)

// Add counts one more.
func (c *Counts) Add(where Where, reason Reason) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[Count]uint64)
	}
	what := Count{Where: where, Reason: reason}
	c.of[what]++
	now := time.Now()
	if last := len(c.recent) - 1; last < 0 || now.Sub(c.recent[last].began) >= slotOf {
		c.recent = append(c.within(now), slot{now, make(map[Count]uint64)})
	}
	c.recent[len(c.recent)-1].of[what]++
}

// within are the slots that began in the last hour. It is called with mu held.
func (c *Counts) within(now time.Time) []slot {
	return slices.DeleteFunc(c.recent, func(s slot) bool { return now.Sub(s.began) >= hour })
}

// LastHour lists what was refused in about the last hour, most first.
func (c *Counts) LastHour() []Count {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = c.within(time.Now())
	sum := make(map[Count]uint64)
	for _, s := range c.recent {
		for what, times := range s.of {
			sum[what] += times
		}
	}
	var all []Count
	for what, times := range sum {
		what.Times = times
		all = append(all, what)
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(cmp.Compare(all[j].Times, all[i].Times), compare(all[i], all[j])) < 0
	})
	return all
}

// All lists the counts above zero, in order of place and reason.
func (c *Counts) All() []Count {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(func(yield func(Count) bool) {
		for of, times := range maps.All(c.of) {
			of.Times = times
			if !yield(of) {
				return
			}
		}
	}, compare)
}

// compare orders counts by place and reason.
func compare(a, b Count) int {
	return cmp.Or(strings.Compare(string(a.Where), string(b.Where)), strings.Compare(string(a.Reason), string(b.Reason)))
}
