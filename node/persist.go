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
	"github.com/feedring/feedring/internal/store"
)

const persistRetry = time.Second // a full disk may have room again

// persister puts the machines' states on disk, one after the other, so that an
// older state never overwrites a newer one. States of one group that wait
// together are one write: the newest holds what the older ones said.
type persister struct {
	store  recorder
	log    *slog.Logger
	tell   func(feedring.GroupID, group.Input)
	themes *themes

	mu      sync.Mutex
	waiting map[feedring.GroupID]*unsaved
	wake    chan struct{} // holds one
}

// recorder is what a persister needs of the store.
type recorder interface {
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
}

type unsaved struct {
	state  group.State
	tokens []uint64
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
	u.state = o.State
	u.tokens = append(u.tokens, o.Token)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends. A state that cannot be stored is tried again: the
// machine sends nothing that depends on it until then.
func (p *persister) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		for g, u := range p.take() {
			if !p.put(ctx, g, u.state) {
				continue
			}
			for _, token := range u.tokens {
				p.tell(g, group.Persisted{Token: token})
			}
		}
	}
}

func (p *persister) take() map[feedring.GroupID]*unsaved {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.waiting
	p.waiting = make(map[feedring.GroupID]*unsaved)
	return taken
}

func (p *persister) put(ctx context.Context, g feedring.GroupID, st group.State) bool {
	value, err := json.Marshal(savedState{Theme: p.themes.of(g), State: st})
	if err != nil {
		p.log.Error("state cannot be encoded", "group", g, "err", err)
		return false
	}
	for {
		err := p.store.Put(ctx, store.BucketTerm, g.String(), value)
		if err == nil {
			return true
		}
		p.log.Error("state cannot be stored; trying again", "group", g, "err", err)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(persistRetry):
		}
	}
}

// savedState is a group's record in the store.
type savedState struct {
	Theme feedring.Theme
	State group.State
}

func decodeState(value []byte) (savedState, error) {
	var saved savedState
	err := json.Unmarshal(value, &saved)
	if err == nil {
		var theme feedring.Theme
		if theme, err = feedring.ParseTheme(string(saved.Theme)); err == nil && theme != saved.Theme {
			err = fmt.Errorf("theme %q", saved.Theme) // its terms would be found under no theme that is offered
		}
	}
	if err != nil {
		return savedState{}, fmt.Errorf("stored state of a group is unreadable: restore the data directory from a copy: %w", err)
	}
	return saved, nil
}
