// Package chain opens the entries that a reader is given. One signature proves
// a whole run of a feed, for each entry carries the hash of the one before it.
package chain

import (
	"crypto/ed25519"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// keptProven is how many entries a Reader remembers, about 2 MB.
const keptProven = 8192

// Reader opens entries for who reads them and passes none on. It is safe for
// concurrent use, and bounded.
type Reader struct {
	network string
	proven  *lru.Cache[entryKey, struct{}]
}

// entryKey names a sealed entry of a signer.
type entryKey struct {
	signer feedring.PeerID
	hash   [32]byte // see EntryHash
}

// NewReader opens entries of a network.
func NewReader(network string) *Reader {
	proven, err := lru.New[entryKey, struct{}](keptProven)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &Reader{network, proven}
}

// Opened is a sealed entry that was checked: its entry, or what is wrong.
type Opened struct {
	Entry *feedring.Entry
	Err   error
}

// Open checks and opens entries that came together, in any order, and blocks
// until that is done. What must be checked by signature is, on all processors.
//
// What a publisher signs carries the hash of the entry before, signature
// included. So an entry that holds proves the one before it, and that the one
// before that: a run of one feed costs one signature and a hash for each, from
// the newest down. A Reader remembers what is proven that way, so that a run
// newest first may come in several calls. Where filters left gaps each
// signature is checked.
//
// A publisher can name in its chain an entry whose own signature is wrong: it
// said so, and readers may take it. Who passes entries on must not: the next
// one may see that entry without its successor. For that there is
// Verifier.Entry.
func (r *Reader) Open(seals []*feedring.Seal) []Opened {
	b := newBatch(r, seals)
	b.checkEnds()
	opened := make([]Opened, len(b.links))
	for i, l := range b.links {
		if opened[i].Err = b.prove(i); opened[i].Err == nil {
			opened[i].Entry = l.entry
		}
	}
	return opened
}

// link is one entry of a batch.
type link struct {
	seal   *feedring.Seal
	entry  *feedring.Entry
	key    entryKey
	before entryKey // of the entry before it; its hash is zero where there is none
	done   bool     // err tells whether it holds
	err    error
}

type batch struct {
	reader *Reader
	links  []*link
	after  map[entryKey][]int // which links name an entry as the one before
}

func newBatch(r *Reader, seals []*feedring.Seal) *batch {
	b := &batch{reader: r, links: make([]*link, len(seals)), after: make(map[entryKey][]int, len(seals))}
	for i, seal := range seals {
		l := &link{seal: seal}
		b.links[i] = l
		var previous [32]byte
		if l.entry, previous, l.err = wire.DecodeEntry(seal); l.err != nil {
			l.done = true
			continue
		}
		// The hash names payload and signature where the length of one is known.
		if len(seal.Signature) != ed25519.SignatureSize {
			l.done, l.err = true, wire.Verify(r.network, wire.KindEntry, seal)
			continue
		}
		l.key = entryKey{seal.Signer, wire.EntryHash(seal)}
		l.before = entryKey{seal.Signer, previous}
		b.after[l.before] = append(b.after[l.before], i)
	}
	return b
}

// checkEnds checks the signatures of entries that nothing can prove, at once.
func (b *batch) checkEnds() {
	var ends []*link
	for _, l := range b.links {
		if !l.done && len(b.after[l.key]) == 0 && !b.reader.proven.Contains(l.key) {
			ends = append(ends, l)
		}
	}
	if len(ends) == 1 { // as it is with what comes live
		b.check(ends[0])
		return
	}
	var all sync.WaitGroup
	for _, l := range ends {
		all.Go(func() { b.check(l) })
	}
	all.Wait()
}

func (b *batch) check(l *link) {
	l.err = wire.Verify(b.reader.network, wire.KindEntry, l.seal)
	b.settle(l)
}

// settle remembers what became of a link.
func (b *batch) settle(l *link) {
	l.done = true
	if l.err != nil {
		return
	}
	b.reader.proven.Add(l.key, struct{}{})
	if l.before.hash != [32]byte{} {
		b.reader.proven.Add(l.before, struct{}{})
	}
}

// prove reports what is wrong with a link, if anything: by what is remembered,
// by an entry after it, and only then by its own signature.
func (b *batch) prove(i int) error {
	l := b.links[i]
	if l.done {
		return l.err
	}
	_, proven := b.reader.proven.Get(l.key)
	for _, next := range b.after[l.key] {
		proven = proven || b.prove(next) == nil
	}
	if proven {
		b.settle(l)
	} else {
		b.check(l)
	}
	return l.err
}
