package fetch

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/schedule"
)

// learned is what fetches taught of how a feed publishes. It is a value like the
// State that it is in: lives are copied before they learn.
type learned struct {
	since  int64 // Unix seconds of the first fetch that a document answered
	window int   // entries that the document holds, of late
	rhythm schedule.Rhythm
	lives  *schedule.Residence // nil: of a feed that publishes little
}

const (
	// firstReach is how far back the dates of a first document tell of the rate.
	firstReach = 90 * 24 * time.Hour

	// livesFrom is how many entries a day a feed must have for their lives to be
	// learned: with fewer, chance says more than the editors.
	livesFrom = 12

	longestLife = 257 * time.Hour // beyond it schedule.Lives tells none apart
	maxWindow   = 1<<16 - 1
)

// study learns from a document: items as recognised, of which found are news,
// and current what is in it. before is the state that the fetch began with.
func (s *State) study(before *State, items []document.Item, found []feedring.Entry, current map[feedring.EntryID]bool, now time.Time) {
	l := &s.learned
	l.window = min(max(len(items), l.window*15/16), maxWindow) // some shrink while little is published
	if !before.Fetched() || l.since == 0 {
		l.since = now.Unix()
		l.first(items, now)
		return
	}
	l.came(found, len(items), before.LastSuccess, now)
	s.left(before, current, now)
}

// studyPart learns from a document of what is new alone, which says nothing of
// what is gone and how much there is.
func (s *State) studyPart(before *State, found []feedring.Entry, now time.Time) {
	if l := &s.learned; l.since != 0 {
		l.came(found, -1, before.LastSuccess, now)
	}
}

// first learns the rate from the dates of a first document: since its oldest
// entry all have come that are in it, where all have dates. The oldest counts
// too, which is a little too much, but of a document with one entry all there is.
func (l *learned) first(items []document.Item, now time.Time) {
	from := now
	for _, it := range items {
		at := it.Entry.Published
		if at.IsZero() || at.After(now) {
			return
		}
		if at.Before(from) {
			from = at
		}
	}
	if earliest := now.Add(-firstReach); from.Before(earliest) {
		from = earliest
	}
	var published []time.Time
	for _, it := range items {
		if !it.Entry.Published.Before(from) {
			published = append(published, it.Entry.Published)
		}
	}
	l.rhythm.Learn(published, from, now)
}

// came learns when new entries came. Where the document holds nothing but news,
// others may have come and gone before its oldest: that stretch tells nothing.
func (l *learned) came(found []feedring.Entry, items int, last, now time.Time) {
	var published []time.Time
	oldest := -1
	for _, e := range found {
		if e.Version != 1 {
			continue
		}
		at := e.Published
		if !at.After(last) || at.After(now) { // dated back: it came at some time in between
			at = last.Add(now.Sub(last) / 2)
		}
		if published = append(published, at); oldest < 0 || at.Before(published[oldest]) {
			oldest = len(published) - 1
		}
	}
	if len(published) > 0 && len(published) == items {
		last = published[oldest]
		published[oldest] = published[len(published)-1]
		published = published[:len(published)-1]
	}
	l.rhythm.Learn(published, last, now)
}

// quiet learns that nothing came since the last fetch.
func (l *learned) quiet(last, now time.Time) {
	if l.since != 0 {
		l.rhythm.Learn(nil, last, now)
	}
}

// left marks what is in the document no more, and learns how long it was. What
// was there at the first fetch came at an unknown time.
func (s *State) left(before *State, current map[feedring.EntryID]bool, now time.Time) {
	l := &s.learned
	learns := l.rhythm.PerDay() >= livesFrom
	var lives schedule.Residence
	if learns && l.lives != nil {
		lives = *l.lives
	}
	middle := now.Add(-now.Sub(before.LastSuccess) / 2)
	for id, k := range s.known {
		came := time.Unix(k.seen, 0)
		switch life := middle.Sub(came); {
		case current[id]:
			// What stays longest is learned of while it stays.
			if past := came.Add(longestLife); k.seen > l.since && before.LastSuccess.Before(past) && !now.Before(past) {
				lives.Learn(came, longestLife)
			}
		case !k.gone:
			if k.seen > l.since && life < longestLife {
				lives.Learn(came, max(0, life))
			}
			k.gone = true
			s.known[id] = k
		}
	}
	if l.lives = nil; learns {
		l.lives = &lives
	}
}

func (l *learned) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(l.since))
	b = binary.LittleEndian.AppendUint16(b, uint16(l.window))
	b = l.rhythm.Append(b)
	if l.lives != nil {
		b = l.lives.Append(b)
	}
	return b
}

func (l *learned) decode(b []byte) bool {
	if len(b) < 10 {
		return false
	}
	l.since = int64(binary.LittleEndian.Uint64(b))
	l.window = int(binary.LittleEndian.Uint16(b[8:]))
	rest, ok := l.rhythm.Decode(b[10:])
	if ok && len(rest) > 0 {
		l.lives = new(schedule.Residence)
		rest, ok = l.lives.Decode(rest)
	}
	return ok && len(rest) == 0
}

// Rhythm is when entries came, as fetches taught. It is not to be changed.
func (s *State) Rhythm() *schedule.Rhythm { return &s.learned.rhythm }

// Site is what decides a fetch's value besides the times of publication. Jitter is the
// address's hash, so that feeds alike are not all due at once.
func (s *State) Site() schedule.Site {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.URL))
	return schedule.Site{Window: max(1, s.learned.window), Residence: s.learned.lives, Jitter: float64(h.Sum32()) / (1 << 32)}
}
