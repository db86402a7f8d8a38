package history

import (
	"iter"

	"github.com/feedring/feedring/internal/store"
)

// source gives keys in order.
type source interface {
	next() (k store.RowKey, ok bool, err error)
}

// head is a source and where it stands.
type head struct {
	source
	key   store.RowKey // its next, or one that its next is not before
	known bool         // it is its next
}

// merged gives the keys of all sources in order, each once. A source whose
// first key is far is not asked before its turn comes.
func merged(heads []head) iter.Seq2[store.RowKey, error] {
	return func(yield func(store.RowKey, error) bool) {
		var last store.RowKey // no row has the zero key
		for len(heads) > 0 {
			i := least(heads)
			h := &heads[i]
			if h.known && h.key != last {
				if last = h.key; !yield(last, nil) {
					return
				}
			}
			k, ok, err := h.next()
			if err != nil {
				yield(k, err)
				return
			}
			if h.key, h.known = k, true; !ok {
				heads[i] = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
		}
	}
}

func least(heads []head) int {
	best := 0
	for i := range heads {
		if heads[i].key.Compare(heads[best].key) < 0 {
			best = i
		}
	}
	return best
}

// some is a source of keys in memory.
type some []store.RowKey

func (s *some) next() (k store.RowKey, ok bool, err error) {
	if len(*s) == 0 {
		return k, false, nil
	}
	k, *s = (*s)[0], (*s)[1:]
	return k, true, nil
}

// pulled is a source of keys that are found while they are asked for.
type pulled func() (store.RowKey, error, bool)

func (p pulled) next() (k store.RowKey, ok bool, err error) {
	k, err, ok = p()
	return k, ok, err
}
