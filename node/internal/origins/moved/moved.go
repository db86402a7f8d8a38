// Package moved knows where feeds are that their owner moved.
package moved

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

const (
	// Prefix begins the keys of addresses in the store.
	Prefix    = "address/"
	maxFormer = 16 // addresses that a feed had, of which entries may tell
)

// Address is where a feed is now that its owner moved. Its first address stays its
// name: entries, catalogues, subscriptions and paths know it by that.
type Address struct {
	Present  string            `json:"present"`
	Provider feedring.Provider `json:"provider"`         // as it was before the first move
	Former   []string          `json:"former,omitempty"` // between the first address and this one
}

// Table has those of all feeds that were moved. It is safe for concurrent
// use.
type Table struct {
	mu    sync.Mutex
	moved map[string]Address // by first address
	first map[string]string  // by every other address, present and former
}

// Load reads where feeds were moved to.
func (a *Table) Load(from *store.Store) error {
	for record, err := range from.ListPrefix(store.BucketFeed, Prefix) {
		if err != nil {
			return err
		}
		var at Address
		if err := json.Unmarshal(record.Value, &at); err != nil {
			return fmt.Errorf("stored address of a feed: %w", err)
		}
		a.set(strings.TrimPrefix(record.Key, Prefix), at)
	}
	return nil
}

// Move keeps that a feed has another address from now on. provider is its own, if it
// was never moved.
func (a *Table) Move(ctx context.Context, in *store.Store, url, to string, provider feedring.Provider) error {
	at, ok := a.Of(url)
	if !ok {
		at.Provider = provider
	}
	for _, old := range []string{at.Present, to} { // to counts anew
		at.Former = slices.DeleteFunc(slices.Clone(at.Former), func(f string) bool { return f == old })
	}
	if at.Present != "" && at.Present != url && at.Present != to {
		at.Former = append(at.Former, at.Present)
		at.Former = at.Former[max(0, len(at.Former)-maxFormer):]
	}
	at.Present = to
	value, err := json.Marshal(at)
	if err != nil {
		return err
	}
	if err := in.Put(ctx, store.BucketFeed, Prefix+url, value); err != nil {
		return err
	}
	a.set(url, at)
	return nil
}

// set takes a move in.
func (a *Table) set(url string, at Address) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.moved == nil {
		a.moved, a.first = make(map[string]Address), make(map[string]string)
	}
	a.moved[url] = at
	for _, other := range append([]string{at.Present}, at.Former...) {
		if other != url {
			a.first[other] = url
		}
	}
}

// Of is where a feed is; false: it was never moved.
func (a *Table) Of(url string) (Address, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.moved[url]
	return at, ok
}

// PresentOf is the address that the owner says a feed has now.
func (a *Table) PresentOf(url string) string {
	if at, ok := a.Of(url); ok {
		return at.Present
	}
	return url
}

// FirstOf is the first address of the feed that has or had one.
func (a *Table) FirstOf(url string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.first[url]; ok {
		return first
	}
	return url
}
