package policy

import (
	"container/heap"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/origin/schedule"
	"github.com/feedring/feedring/internal/sim/experiment"
)

// Score is how a scheduler came off in the stretch that counts.
type Score struct {
	Policy  string  `json:"policy"`
	Looks   int     `json:"looks"`
	Entries int     `json:"entries"`
	Missed  int     `json:"missed"`
	DelayH  float64 `json:"delay_h"` // mean, of those that were seen

	// MissedRead is the share that was missed, and ReadDelayH the mean delay, with each entry
	// counted as often as its feed has readers. 0 where Feed.Readers is not known.
	MissedRead float64 `json:"missed_read,omitempty"`
	ReadDelayH float64 `json:"read_delay_h,omitempty"`
}

// MissedShare is of all entries.
func (s Score) MissedShare() float64 { return float64(s.Missed) / float64(max(s.Entries, 1)) }

// reader looks at one feed, and counts.
type reader struct {
	feed    *Feed
	next    int // the first item that no look has judged
	outcome     // of what counts
}

// outcome is what became of a feed's entries.
type outcome struct {
	entries, missed int
	delay           time.Duration // of those that were seen, together
}

// look judges what was published since the last look, and returns what is in
// the document of it, and whether something in between may be lost.
func (r *reader) look(now time.Time, from, to time.Time) (seen []time.Time, whole bool) {
	whole = true
	for ; r.next < len(r.feed.Items) && !r.feed.Items[r.next].Published.After(now); r.next++ {
		it := r.feed.Items[r.next]
		counts := !it.Published.Before(from) && it.Published.Before(to)
		if now.Before(it.Gone) {
			seen = append(seen, it.Published)
			if counts {
				r.delay += now.Sub(it.Published)
			}
			continue
		}
		whole = false
		if counts {
			r.missed++
		}
	}
	return seen, whole
}

// rule is a scheduler at work: when a feed is looked at next, after a look that
// saw what it saw; the zero time means never.
type rule interface {
	next(feed int, seen []time.Time, whole bool, now time.Time) time.Time
}

// play runs a rule from the end of what is learned from, with so many looks a
// stretch at most.
func play(t *Trace, name string, looks int, r rule) Score {
	from, to := t.counted()
	s := Score{Policy: name}
	readers := make([]reader, len(t.Feeds))
	due := make(experiment.DueHeap, 0, len(t.Feeds))
	for i := range t.Feeds {
		items := t.Feeds[i].Items
		first, _ := slices.BinarySearchFunc(items, from, func(it Item, at time.Time) int { return it.Published.Compare(at) })
		readers[i] = reader{feed: &t.Feeds[i], next: first}
		for _, it := range items[first:] {
			if it.Published.Before(to) {
				readers[i].entries++
			}
		}
		if at := r.next(i, nil, true, from); !at.IsZero() {
			due = append(due, experiment.Due{At: at, Index: i})
		}
	}
	heap.Init(&due)
	left, counting := looks, true
	for len(due) > 0 && due[0].At.Before(t.end()) {
		d := due[0]
		if counting && d.At.After(to) {
			left, counting = looks, false
		}
		if left == 0 { // what is due waits for the next stretch's budget
			if !counting {
				break
			}
			due[0].At = to.Add(time.Nanosecond)
			heap.Fix(&due, 0)
			continue
		}
		left--
		if counting {
			s.Looks++
		}
		seen, whole := readers[d.Index].look(d.At, from, to)
		if at := r.next(d.Index, seen, whole, d.At); at.IsZero() {
			heap.Pop(&due)
		} else {
			due[0].At = at
			heap.Fix(&due, 0)
		}
	}
	for i := range readers {
		readers[i].unseen(to)
	}
	s.count(readers)
	return s
}

// count adds up what became of all feeds.
func (s *Score) count(readers []reader) {
	var delay time.Duration
	entries, missed, waits := 0.0, 0.0, 0.0 // as often as they are read
	for i := range readers {
		r := &readers[i]
		s.Entries += r.entries
		s.Missed += r.missed
		delay += r.delay
		entries += r.feed.Readers * float64(r.entries)
		missed += r.feed.Readers * float64(r.missed)
		waits += r.feed.Readers * r.delay.Hours()
	}
	s.DelayH = delay.Hours() / float64(max(s.Entries-s.Missed, 1))
	if entries > missed {
		s.MissedRead, s.ReadDelayH = missed/entries, waits/(entries-missed)
	}
}

// unseen counts what no look came to as missed.
func (r *reader) unseen(to time.Time) {
	for _, it := range r.feed.Items[r.next:] {
		if it.Published.Before(to) {
			r.missed++
		}
	}
}

// learned is what all schedulers are given of the first stretch.
type learned struct {
	published []time.Time
	window    int
	full      bool // it was seen to overflow: an entry has gone
	weight    float64
}

func (t *Trace) learned() []learned {
	from, _ := t.counted()
	all := make([]learned, len(t.Feeds))
	for i, f := range t.Feeds {
		var gone []time.Time
		most := 1
		for _, it := range f.Items {
			if !it.Published.Before(from) {
				break
			}
			all[i].published = append(all[i].published, it.Published)
			all[i].full = all[i].full || it.Gone.Before(from)
			gone = slices.DeleteFunc(gone, func(g time.Time) bool { return !g.After(it.Published) })
			if gone = append(gone, it.Gone); len(gone) > most {
				most = len(gone)
			}
		}
		all[i].window = most
		if t.Weighs {
			all[i].weight = f.Readers
		}
	}
	return all
}

// even spreads what was allotted.
type even struct {
	every []time.Duration // 0: never
}

func (e even) next(feed int, _ []time.Time, _ bool, now time.Time) time.Time {
	if e.every[feed] == 0 {
		return time.Time{}
	}
	return now.Add(e.every[feed])
}

// Even plays a rule that allots looks.
func Even(t *Trace, name string, allot func([]schedule.Demand, int) []int, looks int) Score {
	var feeds []schedule.Demand
	for _, l := range t.learned() {
		feeds = append(feeds, schedule.Demand{Rate: float64(len(l.published)), Window: l.window, Weight: l.weight})
	}
	e := even{make([]time.Duration, len(feeds))}
	for i, n := range allot(feeds, looks) {
		if n > 0 {
			e.every[i] = t.Length / time.Duration(n)
		}
	}
	return play(t, name, looks, e)
}
