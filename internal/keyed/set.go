// Package keyed is a map for very many values that hold their own keys: it keeps
// a pointer to each and nothing else, where Go's map keeps the key as well. It is
// for tables of which there may be a million rows, and no faster than a map.
package keyed

import (
	"hash/maphash"
	"iter"
	"math/bits"
)

const least = 8 // places

// Set is the values by their keys, in open addressing with linear probing: some
// 13 bytes a value. One goroutine may change it while no other reads it. A value's
// key must not change while it is in the set.
type Set[K comparable, V any] struct {
	key    func(*V) K
	seed   maphash.Seed
	places []*V // a half to three quarters are taken
	taken  int
}

// New is empty. key is pure, and quick.
func New[K comparable, V any](key func(*V) K) *Set[K, V] {
	return &Set[K, V]{key: key, seed: maphash.MakeSeed()}
}

// Len is how many values there are.
func (s *Set[K, V]) Len() int { return s.taken }

// Get returns the value of a key, or nil.
func (s *Set[K, V]) Get(k K) *V {
	if s.taken == 0 {
		return nil
	}
	return s.places[s.find(k)]
}

// Put adds a value, in the place of the one that has its key.
func (s *Set[K, V]) Put(v *V) {
	if 4*(s.taken+1) > 3*len(s.places) {
		s.grow()
	}
	at := s.find(s.key(v))
	if s.places[at] == nil {
		s.taken++
	}
	s.places[at] = v
}

// Delete takes a value out, if it is there.
func (s *Set[K, V]) Delete(k K) {
	if s.taken == 0 {
		return
	}
	hole := s.find(k)
	if s.places[hole] == nil {
		return
	}
	s.taken--
	// What comes behind it may have wanted a place up to the hole, and would not
	// be found behind it.
	for at := s.next(hole); s.places[at] != nil; at = s.next(at) {
		if home := s.home(s.key(s.places[at])); s.from(home, at) >= s.from(hole, at) {
			s.places[hole], hole = s.places[at], at
		}
	}
	s.places[hole] = nil
}

// All is the values, in no order. The set must not change meanwhile.
func (s *Set[K, V]) All() iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for _, v := range s.places {
			if v != nil && !yield(v) {
				return
			}
		}
	}
}

// find is the place of a key, or the free one where it would be.
func (s *Set[K, V]) find(k K) int {
	at := s.home(k)
	for s.places[at] != nil && s.key(s.places[at]) != k {
		at = s.next(at)
	}
	return at
}

// home is the place that a key wants: its hash as a part of all places.
func (s *Set[K, V]) home(k K) int {
	high, _ := bits.Mul64(maphash.Comparable(s.seed, k), uint64(len(s.places)))
	return int(high)
}

func (s *Set[K, V]) next(at int) int {
	if at++; at < len(s.places) {
		return at
	}
	return 0
}

// from is how many places it is from one to another, forward.
func (s *Set[K, V]) from(a, b int) int {
	if b < a {
		b += len(s.places)
	}
	return b - a
}

func (s *Set[K, V]) grow() {
	old := s.places
	s.places = make([]*V, max(least, len(old)+len(old)/2))
	for _, v := range old {
		if v != nil {
			s.places[s.find(s.key(v))] = v
		}
	}
}
