// Package fleet keeps the rows of a fleet at two of its peers: it writes each change at
// both, compares them once a minute and where the members changed, and has the personal
// feeds open of the slots that this peer serves.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
)

const (
	every    = time.Minute     // between two comparisons with a peer that has the same slots
	patience = 2 * time.Second // with a peer that does not answer
)

// Members are the peers of the fleet. It is safe for concurrent use.
type Members interface {
	// Members lists those of the last 30 days. This peer is one.
	Members() []fleet.Member
}

// Link sends requests to the ServeHTTP of another member's Keeper. It is safe for
// concurrent use.
type Link interface {
	// RoundTrip takes a request whose URL has a path alone.
	RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error)
}

// Lists are the personal feeds that are open: see personal.Reflector.
type Lists interface {
	Adopt(ctx context.Context, all ...personal.Adopted) error
	Forget(ctx context.Context, ids ...string) error
	Adopted() iter.Seq[string]
	Holds(id string) bool
	Wait(ctx context.Context, id string) (filled bool)
}

// Hooks are who is told of feeds. Its methods do not block.
type Hooks interface {
	// TakeHooks takes subscriptions and feeds of slots that this peer serves: all of a slot
	// that it comes to serve, and then what changes.
	TakeHooks(rows []fleet.Row)
	// SlotsMoved says that this peer may serve other slots than before.
	SlotsMoved()
}

// Config is what a Keeper is given. All fields are needed.
type Config struct {
	Self    feedring.PeerID
	Store   *store.Store
	Members Members
	Link    Link
	Lists   Lists
	Hooks   Hooks
	Log     *slog.Logger
}

// slot is what is known of a slot without reading it.
type slot struct {
	changing sync.Mutex // held while its rows are read and written; taken before Keeper.mu

	// Keeper.mu guards the rest.
	sum        fleet.Sum
	users      int
	feeds      int
	owners     int // feeds of no user
	live       int // rows that were not deleted, of all kinds
	tombstones int
	since      uint64 // epoch in which this peer came to hold it; 0: it does not
	settled    uint64 // epoch in which all members were asked for it
	agreed     bool   // the other holder had the same rows when they were compared
	open       bool   // all its feeds are
	lists      bool   // some of its feeds may be open though it is not served here
	idle       bool   // that was so a minute ago, too
}

func (s *slot) rows() int { return s.live + s.tombstones }

// member is another member.
type member struct {
	back   uint64 // epoch in which it came back
	asked  uint64 // epoch in which it was last asked for all that this peer holds, or did not answer
	silent bool   // it did not answer then
}

// Keeper keeps this peer's part of a fleet. All methods are safe for concurrent use.
type Keeper struct {
	cfg      Config
	patience time.Duration
	opened   time.Time

	changed chan struct{} // holds one: the members may be others
	due     chan struct{} // holds one: a comparison
	opening chan struct{} // holds one: lists
	swept   time.Time     // the day on which tombstones were last ended; Run's

	mu       sync.Mutex
	places   *fleet.Places
	epoch    uint64 // counts changes of the members
	members  map[feedring.PeerID]*member
	slots    [fleet.Slots]slot
	alone    map[fleet.Key]bool // written here alone, in slots that agree otherwise
	settling map[fleet.Slot]chan struct{}
	missing  []time.Time // when each member that is not present was last seen
	fresh    []fleet.Key // feeds to be opened, of slots that are open
}

// Open reads which rows this peer has. Nothing moves before Run.
func Open(cfg Config) (*Keeper, error) {
	k := &Keeper{
		cfg: cfg, patience: patience, members: make(map[feedring.PeerID]*member), alone: make(map[fleet.Key]bool), settling: make(map[fleet.Slot]chan struct{}),
		opened: time.Now(), changed: make(chan struct{}, 1), due: make(chan struct{}, 1), opening: make(chan struct{}, 1),
	}
	damaged := 0
	for r, err := range cfg.Store.ListPrefix(store.BucketFleet, fleet.RecordPrefix) {
		if err != nil {
			return nil, fmt.Errorf("rows of the fleet: %w", err)
		}
		row, err := fleet.Decode(r.Value)
		if err != nil || row.Key.Record() != r.Key {
			damaged++
			continue
		}
		k.count(&row, 1)
	}
	if damaged > 0 {
		cfg.Log.Warn("fleet: rows that cannot be read are passed over, and fetched from another peer", "rows", damaged)
	}
	k.refresh()
	return k, nil
}

// Changed says that the members may be others. It does not block.
func (k *Keeper) Changed() { signal(k.changed) }

// signal fills a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Places says which members have which slots, as this peer last saw it.
func (k *Keeper) Places() *fleet.Places {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.places
}

// Run compares rows, opens and closes lists, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-k.changed:
				k.refresh()
			}
		}
	})
	running.Go(func() {
		k.reconcile(ctx)
		for {
			select {
			case <-ctx.Done():
				return
			case <-k.opening:
				k.openLists(ctx)
			}
		}
	})
	running.Go(func() { k.compareOften(ctx) })
	running.Wait()
}

// compareOften compares when something is due, and all of it once a minute. A member that
// did not answer is asked again sooner: it may just have come back.
func (k *Keeper) compareOften(ctx context.Context) {
	minute := time.NewTicker(every)
	defer minute.Stop()
	again, pause := time.NewTimer(every), k.patience
	defer again.Stop()
	for {
		var whole bool
		select {
		case <-ctx.Done():
			return
		case <-k.due:
			whole = k.compareAll(ctx, false)
		case <-again.C:
			whole = k.compareAll(ctx, false)
		case now := <-minute.C:
			k.sweep(ctx, now)
			whole = k.compareAll(ctx, true)
			k.closeLists(ctx)
		}
		if whole {
			pause = k.patience
			again.Stop()
			continue
		}
		again.Reset(pause)
		pause = min(2*pause, every)
	}
}

// refresh takes in who the members are.
func (k *Keeper) refresh() {
	members := k.cfg.Members.Members()
	k.mu.Lock()
	before := k.places
	k.mu.Unlock()
	places := before.With(members) // only this goroutine changes them
	k.mu.Lock()
	defer k.mu.Unlock()
	next, changed := make(map[feedring.PeerID]*member), k.epoch == 0
	k.missing = nil
	for _, m := range members {
		if m.Peer == k.cfg.Self {
			continue
		}
		if !places.Present(m.Peer) {
			k.missing = append(k.missing, m.Seen)
			continue
		}
		if next[m.Peer] = k.members[m.Peer]; next[m.Peer] == nil {
			next[m.Peer], changed = &member{back: k.epoch + 1}, true
		}
	}
	changed = changed || len(next) != len(k.members)
	for i := range k.slots {
		at := fleet.Slot(i)
		a, b := before.Holders(at)
		c, d := places.Holders(at)
		if a == c && b == d && !changed {
			continue
		}
		changed = true
		s := &k.slots[i]
		other := k.otherOf(places, at)
		if other != k.otherOf(before, at) || k.members[other] == nil {
			s.agreed = false
		}
		if holds := c == k.cfg.Self || d == k.cfg.Self; !holds {
			s.since = 0
		} else if s.since == 0 {
			s.since = k.epoch + 1
		}
		if places.Serves(at) != k.cfg.Self && s.open {
			s.open, s.lists, s.idle = false, true, false
		}
	}
	k.places, k.members = places, next
	if changed {
		k.epoch++
		defer k.cfg.Hooks.SlotsMoved() // once they see it
		signal(k.due)
		signal(k.opening)
	}
}

// otherOf is the other holder of a slot that this peer holds; empty: there is none, or
// this peer does not hold it.
func (k *Keeper) otherOf(p *fleet.Places, at fleet.Slot) feedring.PeerID {
	switch first, second := p.Holders(at); k.cfg.Self {
	case first:
		return second
	case second:
		return first
	}
	return ""
}

// Status is what this peer has of the fleet.
type Status struct {
	Serves int `json:"serves"` // slots
	Keeps  int `json:"keeps"`  // slots that another serves
	Users  int `json:"users"`  // of slots that it serves
	Feeds  int `json:"feeds"`  // of slots that it serves
	Rows   int `json:"rows"`   // that were not deleted, of slots that it serves
	Once   int `json:"once"`   // of these, those that no other present peer is known to have
	Moving int `json:"moving"` // rows of slots of others, which do not have them yet
	// Full: its disk has no room, so what others change is not kept here as well.
	Full bool `json:"full,omitempty"`
}

// Status counts. The sums over all peers are those of the fleet.
func (k *Keeper) Status() (t Status) {
	t.Full = errors.Is(k.cfg.Store.Refuses(), store.ErrFull)
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.slots {
		s, at := &k.slots[i], fleet.Slot(i)
		switch serves := k.places.Serves(at); {
		case s.since == 0:
			t.Moving += s.rows()
			continue
		case serves != k.cfg.Self:
			t.Keeps++
			continue
		}
		t.Serves++
		t.Users, t.Feeds, t.Rows = t.Users+s.users, t.Feeds+s.feeds, t.Rows+s.live
		if !s.agreed || !k.places.Present(k.otherOf(k.places, at)) {
			t.Once += s.live
		}
	}
	for key := range k.alone {
		if at := key.ID.Slot(); k.slots[at].agreed && k.places.Serves(at) == k.cfg.Self && k.places.Present(k.otherOf(k.places, at)) {
			t.Once++
		}
	}
	return t
}

// The errors of Change, Get and Wake. ErrUnsure: a peer that may have the row does not
// answer or is missing, so it is not known that there is none.
var (
	ErrNobody  = errors.New("no peer of the fleet that has this is there")
	ErrUnsure  = errors.New("a peer of the fleet that may have this does not answer")
	ErrUnknown = errors.New("the fleet has no such row")
	ErrFilling = errors.New("the personal feed is being filled")
)

// UnsureError is ErrUnsure with the peers that do not answer.
type UnsureError struct{ Silent []feedring.PeerID }

func (e *UnsureError) Error() string { return ErrUnsure.Error() }

// Unwrap returns ErrUnsure.
func (e *UnsureError) Unwrap() error { return ErrUnsure }

// ElsewhereError says which peer serves what was to be changed.
type ElsewhereError struct{ Peer feedring.PeerID }

func (e *ElsewhereError) Error() string {
	return "another peer of the fleet serves this: " + string(e.Peer)
}
