package index

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/feedring/feedring/internal/match"
)

// ID names a subscription of one Index. It is given out anew some time after
// its subscription was deleted.
type ID uint32

// maxIDs keeps places of tokens, planRow for each subscription, in 32 bits.
const maxIDs = 1 << 26

// ErrFull refuses a subscription beyond what numbers can tell apart.
var ErrFull = errors.New("the index is full: it holds 67 million subscriptions and 268 million different words")

// Index holds subscriptions. All methods may be called by any number of
// goroutines. Insert, Delete and Compact wait for each other; nobody waits for
// a match, and no match waits.
type Index struct {
	now atomic.Pointer[snapshot]

	mu     sync.Mutex // of those who change something
	plan   planner
	rules  map[string]uint32 // by key; numbers of snapshot.rules
	next   ID                // never given out before
	free   []ID
	count  int // subscriptions
	gone   int // deleted since the last packing
	packed int // subscriptions after the last packing
}

// snapshot is a state of an index. Only its tails, live and dict change, in a
// way that readers of it allow for.
type snapshot struct {
	dict   *dict
	live   live
	plain  level
	gates  level // owners are numbers of rules
	rules  []*rule
	pruned atomic.Bool // something was deleted since the last packing
}

// level is conjunctions: what is settled, and what is new.
type level struct {
	segments []*segment
	tail     *tail
}

// New returns an empty index.
func New() *Index {
	ix := &Index{rules: make(map[string]uint32)}
	s := &snapshot{dict: newDict(0, 0), live: newLive(minTail)}
	s.plain.tail, s.gates.tail = newTail(minTail), newTail(minTail)
	ix.plan.dict = s.dict
	ix.now.Store(s)
	return ix
}

// Insert adds a subscription. Matches that begin afterwards find it. An interest
// that nearly every entry would have to be tested for is refused with ErrBroad.
//
// It mostly takes less than a microsecond, but now and then merges what was
// inserted before, at worst all: some tenths of a second for a million.
func (ix *Index) Insert(in Interest) (ID, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	isPlain, err := ix.readable(&in)
	if err != nil {
		return 0, err
	}
	var id ID
	if isPlain {
		row := ix.plan.intern()
		id = ix.takeID()
		ix.addPlain(row, owner(id))
	} else if id, err = ix.insertRule(&in); err != nil {
		return 0, err
	}
	ix.settle()
	return id, nil
}

// readable refuses what cannot be inserted. Of a mere conjunction it leaves the tokens
// in the planner's scan.
func (ix *Index) readable(in *Interest) (isPlain bool, err error) {
	if err := check(in); err != nil {
		return false, err
	}
	if ix.count >= maxIDs || ix.plan.dict.count.Load() > maxTokens-2*planRow*match.MaxTerms {
		return false, ErrFull
	}
	return ix.plan.plain(in)
}

func (ix *Index) insertRule(in *Interest) (ID, error) {
	key := ruleKey(in)
	number, known := ix.rules[key]
	if !known {
		places, err := ix.plan.places(in)
		if err != nil {
			return 0, err
		}
		number = ix.addRule(newRule(key, in, places))
	}
	id := ix.takeID()
	ix.now.Load().rules[number].add(id)
	if !known {
		ix.fileRule(number)
	}
	return id, nil
}

// Delete removes a subscription and reports whether it was there. Matches that
// begin afterwards do not find it.
func (ix *Index) Delete(id ID) bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	s := ix.now.Load()
	if !s.live.has(id) {
		return false
	}
	s.live.clear(id)
	s.pruned.Store(true)
	ix.count--
	ix.gone++
	ix.settle()
	return true
}

// Len returns the number of subscriptions.
func (ix *Index) Len() int {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.count
}

// Compact packs the index: matches are then as fast and memory is as small as
// they get. It takes some tenths of a second for a million subscriptions, and
// while it works some 80 bytes for each. An index packs itself as it grows and shrinks; calling
// it is worth while after very many insertions.
func (ix *Index) Compact() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.pack()
}
