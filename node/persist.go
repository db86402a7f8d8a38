package node

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
)

const persistRetry = time.Second // a full disk may have room again

// persister puts the machines' states on disk, one after the other, so that an
// older state never overwrites a newer one. States of one group that wait
// together are one write: the newest holds what the older ones said.
type persister struct {
	store  recorder
	log    *slog.Logger
	loop   poster
	themes themes

	mu      sync.Mutex
	waiting map[feedring.GroupID]*unsaved
	ended   map[feedring.GroupID]uint64 // memberships of this run, where there were any
	wake    chan struct{}               // holds one
}

func newPersister(s recorder, loop poster, log *slog.Logger) *persister {
	return &persister{
		store: s, log: log, loop: loop, waiting: make(map[feedring.GroupID]*unsaved),
		ended: make(map[feedring.GroupID]uint64), wake: make(chan struct{}, 1),
	}
}

// poster takes inputs for the machine.
type poster interface{ Post(peer.Input) bool }

// recorder is what a persister needs of the store.
type recorder interface {
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
}

type unsaved struct {
	state      group.State
	tokens     []uint64
	membership uint64    // how many of the group had ended before
	refused    error     // by the disk; nil: it was not asked yet
	after      time.Time // then it is asked again
}

// persisted is group.Persisted for one membership. Tokens begin anew with each,
// so that one of a membership that has ended must not reach the next.
type persisted struct {
	peer.In
	membership uint64
}

// persist queues a state; it never blocks.
func (p *persister) persist(o group.Persist) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.waiting[o.Group]
	if u == nil {
		u = &unsaved{}
		p.waiting[o.Group] = u
	}
	u.state, u.membership = o.State, p.ended[o.Group]
	u.tokens = append(u.tokens, o.Token)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// left ends a membership: its last state is stored all the same, and nobody is
// told.
func (p *persister) left(g feedring.GroupID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended[g]++
	if u := p.waiting[g]; u != nil {
		u.tokens = nil
	}
}

// current reports whether what in tells of is for a membership that stands, as
// everything else is. It is asked right before the machine takes in: Departed
// may come while in waits in the queue.
func (p *persister) current(in peer.Input) bool {
	told, ok := in.(persisted)
	if !ok {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return told.membership == p.ended[told.Group]
}

// run works until ctx ends. A state that cannot be stored is tried again, and
// holds up no other group's: the machine sends nothing that depends on it until
// then.
func (p *persister) run(ctx context.Context) {
	refused := false
	for {
		again := p.saveAll(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case again != nil && !refused:
			p.log.Error("the state of a group cannot be stored: trying again until it can", "err", again)
		case again == nil && refused:
			p.log.Info("states are stored again")
		}
		var retry <-chan time.Time
		if refused = again != nil; refused {
			retry = time.After(persistRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-retry:
		}
	}
}

// saveAll stores what waits and tells so; the error is one that a state was
// refused with, now or less than persistRetry ago.
func (p *persister) saveAll(ctx context.Context) (refused error) {
	for g, u := range p.take() {
		if u.refused == nil || !time.Now().Before(u.after) {
			u.refused, u.after = p.put(ctx, g, u.state), time.Now().Add(persistRetry)
		}
		if u.refused != nil {
			refused = fmt.Errorf("group %s: %w", g, u.refused)
			p.putBack(g, u)
			continue
		}
		for _, token := range u.tokens {
			p.loop.Post(persisted{peer.In{Group: g, Input: group.Persisted{Token: token}}, u.membership})
		}
	}
	return refused
}

func (p *persister) take() map[feedring.GroupID]*unsaved {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.waiting
	p.waiting = make(map[feedring.GroupID]*unsaved)
	return taken
}

// putBack keeps what was refused. A state that came meanwhile says more.
func (p *persister) putBack(g feedring.GroupID, u *unsaved) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.membership != p.ended[g] {
		u.tokens = nil
	}
	if newer := p.waiting[g]; newer != nil {
		u.state, u.membership, u.tokens = newer.state, newer.membership, append(u.tokens, newer.tokens...)
	}
	p.waiting[g] = u
}

func (p *persister) put(ctx context.Context, g feedring.GroupID, st group.State) error {
	value, err := json.Marshal(savedState{Theme: p.themes.of(g), State: st})
	if err != nil {
		return err
	}
	return p.store.Put(ctx, store.BucketTerm, g.String(), value)
}

// savedState is a group's record in the store.
type savedState struct {
	Theme feedring.Theme `json:"Theme"`
	State group.State    `json:"State"`
}

func decodeState(value []byte) (savedState, error) {
	var saved savedState
	err := json.Unmarshal(value, &saved)
	if err == nil && !saved.Theme.Canonical() {
		err = fmt.Errorf("theme %q", saved.Theme) // its terms would be found under no theme that is offered
	}
	if err != nil {
		return savedState{}, &StateError{err}
	}
	return saved, nil
}
