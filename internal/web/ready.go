package web

import (
	"math"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	maxReady    = 16 << 20 // bytes of all documents that are kept ready
	maxReadyDoc = 1 << 20  // of one
	maxShown    = 4        // states of one feed of which it is known what they showed
)

// readyDoc is a document as it is sent.
type readyDoc struct {
	tag    string // of the state that it shows
	zipped []byte
	plain  int64    // length before it was compressed
	shows  []uint64 // each entry's version, hashed: of the state, also where not all of it was sent
}

// ready keeps the documents that were asked for last, within a number of bytes.
type ready struct {
	mu    sync.Mutex
	docs  *simplelru.LRU[string, *readyItem] // by address; bounded by bytes alone
	bytes int
}

func newReady() *ready {
	r := new(ready)
	r.docs, _ = simplelru.NewLRU(math.MaxInt, func(_ string, item *readyItem) { r.bytes -= item.weight() }) // it fails for sizes below 1
	return r
}

type readyItem struct {
	address string
	doc     *readyDoc
	before  []shown // states before, the last one last
}

// shown is what a document of a former state showed.
type shown struct {
	tag     string
	entries []uint64
}

// get returns the document of an address if it shows the state of a tag.
func (r *ready) get(address, tag string) *readyDoc {
	r.mu.Lock()
	defer r.mu.Unlock()
	if item, ok := r.docs.Get(address); ok && item.doc.tag == tag {
		return item.doc
	}
	return nil
}

// shown returns what a state of an address showed, if that is known still.
func (r *ready) shown(address, tag string) ([]uint64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	item, ok := r.docs.Peek(address)
	if !ok {
		return nil, false
	}
	if item.doc.tag == tag {
		return item.doc.shows, true
	}
	for _, s := range item.before {
		if s.tag == tag {
			return s.entries, true
		}
	}
	return nil, false
}

func (r *ready) put(address string, doc *readyDoc) {
	if len(doc.zipped) > maxReadyDoc {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	item := &readyItem{address: address, doc: doc}
	if old, ok := r.docs.Peek(address); ok {
		item.before = old.with(doc.tag)
		r.docs.Remove(address)
	}
	r.docs.Add(address, item)
	for r.bytes += item.weight(); r.bytes > maxReady; {
		r.docs.RemoveOldest()
	}
}

// told notes that somebody has a state of which the whole was not sent.
func (r *ready) told(address string, doc *readyDoc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	item, ok := r.docs.Peek(address)
	if !ok || item.doc.tag == doc.tag || slices.ContainsFunc(item.before, func(s shown) bool { return s.tag == doc.tag }) {
		return
	}
	r.bytes -= item.weight()
	item.before = also(item.before, shown{doc.tag, doc.shows})
	r.bytes += item.weight() // at most maxShown lists too much, until the next put
}

// with is what is known of the states before one that comes now.
func (i *readyItem) with(now string) []shown {
	before := also(i.before, shown{i.doc.tag, i.doc.shows})
	return slices.DeleteFunc(before, func(s shown) bool { return s.tag == now })
}

// also is a new list of states with one more, without the oldest where there are
// too many.
func also(before []shown, s shown) []shown {
	before = append(slices.Clone(before), s)
	return before[max(0, len(before)-maxShown):]
}

func (i *readyItem) weight() int {
	sum := len(i.address) + cap(i.doc.zipped) + 8*len(i.doc.shows) + 256
	for _, s := range i.before {
		sum += 8*len(s.entries) + 64
	}
	return sum
}
