package nodetest

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/feedring/feedring/internal/readerfeeds/personal"
)

// Lists are personal feeds that are open, in place of a personal.Reflector: they hold no
// entries. The zero value has no feed. The methods may be called concurrently.
type Lists struct {
	Filling atomic.Bool // whoever waits for a feed is not given it filled

	mu   sync.Mutex
	open map[string]personal.Adopted
}

func (l *Lists) Adopt(_ context.Context, all ...personal.Adopted) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = make(map[string]personal.Adopted)
	}
	for _, a := range all {
		l.open[a.ID] = a
	}
	return nil
}

func (l *Lists) Forget(_ context.Context, ids ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.open, id)
	}
	return nil
}

func (l *Lists) Adopted() iter.Seq[string] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Values(slices.Collect(maps.Keys(l.open)))
}

func (l *Lists) Holds(id string) bool { return l.Get(id).ID != "" }

// Get returns an open feed; one without an id: it is not open.
func (l *Lists) Get(id string) personal.Adopted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id]
}

// HasSecret reports whether a feed with that secret is open.
func (l *Lists) HasSecret(secret string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.open {
		if a.Secret == secret {
			return true
		}
	}
	return false
}

func (l *Lists) Wait(context.Context, string) bool { return !l.Filling.Load() }
