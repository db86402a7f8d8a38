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
const pad = 8

const padding = "        "

// token is a run of bytes of some text as the dictionary compares it: length,
// first eight bytes and a hash of all.
type token struct {
	head uint64
	hash uint64
	n    uint32
	from uint32 // where it begins in its text
}

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
func tokenAt(b []byte, from, n int) token {
	t := token{head: binary.LittleEndian.Uint64(b[from:]), n: uint32(n), from: uint32(from)}
	if n <= 8 {
		t.head &= ^uint64(0) >> (64 - 8*n)
		t.hash = mix(t.head^mixA, uint64(n)^mixB)
		return t
	}
	t.hash = hashLong(t.head, b[from:], n)
	return t
}

func hashLong(head uint64, b []byte, n int) uint64 {
	h := mix(head^mixA, uint64(n)^mixB)
	for i := 8; i < n; i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])
		if left := n - i; left < 8 {
			v &= ^uint64(0) >> (64 - 8*left)
		}
		h = mix(h^v, mixB)
	}
	return h
}

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	blanks = ones * ' '
)

// wordEnd returns where the word of b that begins at from ends: at the next
// blank. There must be pad bytes behind the blank.
func wordEnd(b []byte, from int) int {
	for ; ; from += 8 {
		v := binary.LittleEndian.Uint64(b[from:]) ^ blanks
		if zero := (v - ones) &^ v & highs; zero != 0 {
			return from + bits.TrailingZeros64(zero)/8
		}
	}
}

// speller writes tokens that are not parts of a text.
type speller struct{ buf []byte }

func (s *speller) theme(t feedring.Theme) token { return s.spell(markTheme, []byte(t)) }

func (s *speller) word(w []byte) token { return s.spell(0, w) }

// provider is the token of a run of labels, see feedring.Provider.Matches.
func (s *speller) provider(labels string) token {
	return s.spell(markProvider, []byte(strings.ToLower(labels)))
}

func (s *speller) spell(mark byte, b []byte) token {
	s.buf = s.buf[:0]
	if mark != 0 {
		s.buf = append(s.buf, mark)
	}
	s.buf = append(s.buf, b...)
	n := len(s.buf)
	s.buf = append(s.buf, padding...)
	return tokenAt(s.buf, 0, n)
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
