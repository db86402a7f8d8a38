package match

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// plain folds the pieces that s begins with, as long as they need nothing but a
// look into a table for each character, and returns what is left from the
// first piece that needs more: marks that combine, scripts that have their own
// rules. Most pieces of most texts are folded here, ten times as fast.
//
// No character's fold is longer than the character, and a blank stands for at
// least one byte that separated, but for the last: so n stays within out.
func (f *folder) plain(s string) (rest string) {
	n := len(f.out)
	out := slices.Grow(f.out, len(s)+1)[:n+len(s)+1]
	word, piece, pieceOut := n, 0, n // where the open word and the piece begin
	for i := 0; i < len(s); {
		if done := foldSWAR(out[n:], s[i:][:min(len(s)-i, max(0, f.limit-n-1))], n > word); done > 0 {
			if blank := bytes.LastIndexByte(out[n:n+done], ' '); blank >= 0 {
				word, piece, pieceOut = n+blank+1, i+blank+1, n+blank+1
			}
			if i, n = i+done, n+done; i == len(s) {
				break
			}
		}
		c := s[i]
		l := plainASCII[c]
		switch {
		case l > ' ':
			out[n] = l
			n++
			i++
			continue
		case l == ' ':
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			fold, known := plainRune(r)
			if !known {
				f.out = out[:pieceOut]
				return s[piece:]
			}
			if i += size; fold != " " {
				n += copy(out[n:], fold)
				continue
			}
		}
		if n > word {
			if n+1 > f.limit {
				f.out, f.full = out[:word], true
				return ""
			}
			out[n] = ' '
			n++
			word = n
		}
		if c == ' ' {
			piece, pieceOut = i, n
		}
	}
	f.out, f.start = out[:n], word
	f.open = n > word
	f.end()
	return ""
}

// plainASCII is the fold of letters and digits, a blank for what separates, and
// zero for bytes of longer characters.
var plainASCII = func() (table [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
			table[c] = c
		case 'A' <= c && c <= 'Z':
			table[c] = c + 'a' - 'A'
		default:
			table[c] = ' '
		}
	}
	return table
}()

// Characters that European texts are made of: Latin letters, then punctuation.
const (
	latinEnd   = 0x250
	punctStart = 0x2010
	punctEnd   = 0x2070
)

// plainRune returns the fold of a character whose neighbours do not matter: " "
// where it separates words, "" where it is passed over. An entry of the tables is a
// "=" and the fold, or "" where the neighbours matter.
func plainRune(r rune) (fold string, known bool) {
	switch {
	case r < latinEnd:
		fold = plainLatin[r]
	case punctStart <= r && r < punctEnd:
		fold = plainPunct[r-punctStart]
	}
	if fold == "" {
		return "", false
	}
	return fold[1:], true
}
