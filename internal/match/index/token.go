package index

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/feedring/feedring"
)

// What is not a word of a text begins with a byte that no folded word has.
const (
	markTheme    = 1
	markProvider = 2
	markUnit     = 3 // a character of a script without spaces, wherever it stands
)

// pad is how many bytes a token must have behind it, so that it can be read by
// eights.
const pad = 16

const padding = "                "

// token is a run of bytes of some text as the dictionary compares it: its first
// sixteen bytes, its length and a hash of all.
type token struct {
	head [2]uint64
	hash uint64
	n    uint32
	from uint32 // where it begins in its text
}

// heads is how many bytes a token has in head.
const heads = 16

// Odd constants with no pattern in their bits, from the digits of pi.
const (
	mixA = 0x243F6A8885A308D3
	mixB = 0x13198A2E03707345
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// tokenAt reads the n bytes of b at from. There must be pad bytes behind them.
// There is no branch but for words that are longer than most.
func tokenAt(b []byte, from, n int) token {
	eights := b[from:][:pad]
	t := token{n: uint32(n), from: uint32(from)}
	t.head[0] = binary.LittleEndian.Uint64(eights) & low(min(n, 8))
	t.head[1] = binary.LittleEndian.Uint64(eights[8:]) & low(min(n, heads)-8)
	t.hash = mix(t.head[0]^mixA, t.head[1]^mixB^uint64(n)<<56)
	if n > heads {
		t.hash = hashLong(t.hash, b[from+heads:], n-heads)
	}
	return t
}

// low is a mask of the lowest n bytes of eight; none, if n is not positive.
func low(n int) uint64 { return ^uint64(0) >> uint(64-8*n) }

func hashLong(h uint64, b []byte, n int) uint64 {
	for i := 0; i < n; i += 8 {
		v := binary.LittleEndian.Uint64(b[i:]) & low(min(n-i, 8))
		h = mix(h^v^mixA, mixB)
	}
	return h
}

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	blanks = ones * ' '
)

// wordEnd returns where the word of b that begins at from ends: at the next
// blank. There must be pad bytes behind the blank. There is no branch but for
// words that are longer than most.
func wordEnd(b []byte, from int) int {
	for ; ; from += 16 {
		n, more := untilBlank(b[from:]), untilBlank(b[from+8:])
		if n < 8 {
			more = 0
		}
		if n += more; n < 16 {
			return from + n
		}
	}
}

// untilBlank is how many of the first eight bytes of b stand before a blank.
func untilBlank(b []byte) int {
	v := binary.LittleEndian.Uint64(b) ^ blanks
	return bits.TrailingZeros64((v-ones)&^v&highs) / 8
}

// runs yields every run of labels of p.
func runs(p feedring.Provider, yield func(run string)) {
	if p == "" {
		return
	}
	name := strings.ToLower(string(p))
	for from := 0; from <= len(name); from++ {
		if from > 0 && name[from-1] != '.' {
			continue
		}
		for to := from; to <= len(name); to++ {
			if to == len(name) || name[to] == '.' {
				yield(name[from:to])
			}
		}
	}
}
