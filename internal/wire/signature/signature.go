package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"slices"
	"sync"
	"sync/atomic"

	"filippo.io/edwards25519"
	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// oftenAt is the check of a key that makes its table, which costs as much as five
	// checks without one. Whoever signs with ever new keys makes nobody build.
	oftenAt = 16
	// keptTables is how many keys have a table, 130 KB each.
	keptTables = 32
	// keptCounts is how many other keys are counted.
	keptCounts = 1024

	keyWidth  = 5 // bits
	baseWidth = 8
)

type key = [ed25519.PublicKeySize]byte

// frequent is what is known of keys, by all of the process: a key is the same to
// everybody.
var frequent = struct {
	tables *lru.Cache[key, *table]
	counts *lru.Cache[key, *atomic.Int32]
}{newCache[*table](keptTables), newCache[*atomic.Int32](keptCounts)}

func newCache[V any](size int) *lru.Cache[key, V] {
	c, err := lru.New[key, V](size)
	if err != nil {
		panic(err) // only for a size below one
	}
	return c
}

// base is the table of the generator.
var base = sync.OnceValue(func() *table { return newTable(edwards25519.NewGeneratorPoint(), baseWidth) })

// Valid reports whether signed is what a key signed under a message, which comes in
// parts. It accepts exactly what [ed25519.Verify] does, and may be called concurrently.
func Valid(public ed25519.PublicKey, signed []byte, message ...[]byte) bool {
	if len(public) != ed25519.PublicKeySize || len(signed) != ed25519.SignatureSize {
		return false
	}
	k := key(public)
	if t, ok := frequent.tables.Get(k); ok {
		return valid(k, t, signed, message...)
	}
	good := ed25519.Verify(public, slices.Concat(message...), signed)
	if good { // what anybody can send under a key is no sign of its use
		count(k)
	}
	return good
}

// count makes the table of a key that signs often.
func count(k key) {
	n, known := frequent.counts.Get(k)
	if !known {
		n = new(atomic.Int32)
		if first, known, _ := frequent.counts.PeekOrAdd(k, n); known {
			n = first
		}
	}
	if n.Add(1) != oftenAt {
		return
	}
	p, err := new(edwards25519.Point).SetBytes(k[:])
	if err != nil {
		return // no signature holds under it
	}
	frequent.tables.Add(k, newTable(p.Negate(p), keyWidth))
	frequent.counts.Remove(k)
}

// valid checks one signature (R, S) as RFC 8032 has it, without the cofactor: R is
// the encoding of S B - k A. minus is the table of -A.
func valid(public key, minus *table, signed []byte, message ...[]byte) bool {
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(signed[32:])
	if err != nil {
		return false
	}
	h := sha512.New()
	h.Write(signed[:32])
	h.Write(public[:])
	for _, part := range message {
		h.Write(part)
	}
	var sum [sha512.Size]byte
	k, err := new(edwards25519.Scalar).SetUniformBytes(h.Sum(sum[:0]))
	if err != nil {
		return false
	}
	r := edwards25519.NewIdentityPoint()
	base().addTimes(r, s)
	minus.addTimes(r, k)
	return bytes.Equal(r.Bytes(), signed[:32])
}
