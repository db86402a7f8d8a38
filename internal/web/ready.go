package web

import (
	chain "container/list"
	"sync"
)

const (
	maxReady    = 16 << 20 // bytes of all documents that are kept ready
	maxReadyDoc = 1 << 20  // of one
)

// readyDoc is a document as it is sent.
type readyDoc struct {
	tag    string // of the state that it shows
	zipped []byte
	plain  int64 // length before it was compressed
}

// ready keeps the documents that were asked for last, within a number of bytes.
type ready struct {
	mu    sync.Mutex
	docs  map[string]*chain.Element // by address
	order chain.List                // of *readyItem, the last asked for in front
	bytes int
}

type readyItem struct {
	address string
	doc     *readyDoc
}

// get returns the document of an address if it shows the state of a tag.
func (r *ready) get(address, tag string) *readyDoc {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.docs[address]
	if at == nil {
		return nil
	}
	item := at.Value.(*readyItem)
	if item.doc.tag != tag {
		r.drop(at)
		return nil
	}
	r.order.MoveToFront(at)
	return item.doc
}

func (r *ready) put(address string, doc *readyDoc) {
	if len(doc.zipped) > maxReadyDoc {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.docs[address]; at != nil {
		r.drop(at)
	}
	if r.docs == nil {
		r.docs = make(map[string]*chain.Element)
	}
	r.docs[address] = r.order.PushFront(&readyItem{address, doc})
	for r.bytes += weight(address, doc); r.bytes > maxReady; {
		r.drop(r.order.Back())
	}
}

func (r *ready) drop(at *chain.Element) {
	item := r.order.Remove(at).(*readyItem)
	delete(r.docs, item.address)
	r.bytes -= weight(item.address, item.doc)
}

func weight(address string, doc *readyDoc) int { return len(address) + cap(doc.zipped) + 256 }
