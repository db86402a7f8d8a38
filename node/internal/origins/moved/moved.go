// Package moved knows where feeds are that their owner moved.
package moved

import (
	"sync"

	"github.com/feedring/feedring"
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

// Set takes a move in.
func (a *Table) Set(url string, at Address) {
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
