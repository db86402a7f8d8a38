package match

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMarks is how many combining marks a character keeps. No language needs
// more; texts that stack hundreds do it for the effect.
const maxMarks = 8

// Fold splits s into words as expressions and entries are compared:
//
//   - Letters and digits of any script make words; all else separates them, an
//     apostrophe of any kind included, so that energie finds L'Énergie. Soft
//     hyphens, joiners and the dot in Catalan l·l are passed over.
//   - Case, width and compatibility forms do not matter (NFKC, lower case), nor
//     does the script of the digits.
//   - Accents of Latin and Greek letters go, and letters that people without
//     the right keyboard write otherwise become what they write: ß ss, æ ae,
//     œ oe, þ th, ø o, đ d, ł l, ı i. A final ς is a σ.
//   - In Cyrillic, ё is е, as newspapers print it, and stress marks go; but й,
//     ї and ў are letters of their own, which no reader takes for и, і and у.
//   - Vowel points of Hebrew and Arabic go, for they are optional there; forms
//     of alef, yeh and kaf that keyboards confuse become one. In the scripts of
//     India and of South East Asia marks are vowels, and stay.
//   - Scripts without spaces (Chinese characters, kana, Thai, Lao, Khmer,
//     Burmese) become overlapping pairs of characters: 東京都 is 東京, 京都. A
//     character that stands alone is a word. Hangul has spaces and makes words.
//
// Folding is idempotent: Fold of its words, joined by spaces, are those words.
func Fold(s string) []string {
	return strings.Fields(string(appendWords(nil, s, math.MaxInt)))
}

// appendWords appends the words of s to out, each followed by a space. It stops
// after the last word that ends within limit bytes of out.
func appendWords(out []byte, s string, limit int) []byte {
	f := folder{out: out, limit: limit}
	for !f.full && s != "" {
		if s = f.plain(s); s == "" {
			break
		}
		var piece string
		piece, s, _ = strings.Cut(s, " ")
		f.piece(piece)
		f.end()
	}
	return f.out
}

// piece folds a part of a text without spaces by the rules for all scripts.
func (f *folder) piece(s string) {
	if !isASCII(s) {
		s = clean(s)
	}
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			f.ascii(byte(r))
		case r == '·' && f.insideDoubleL(s[i+len("·"):]):
		default:
			f.rune(r)
		}
		if f.full {
			return
		}
	}
}

// clean returns s in NFKC, without what is invisible. Trade marks become
// spaces, for NFKC would make letters of them that hang on the word before.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '™' || r == '℠':
			return ' '
		case isInvisible(r):
			return -1
		default:
			return r
		}
	}, s)
	return norm.NFKC.String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// folder builds words at the end of out. A word of a script without spaces is
// cut into pairs while it grows, so at most two units of it are ever open.
type folder struct {
	out     []byte
	limit   int
	full    bool // limit was reached: what is open or comes later is taken back
	open    bool // a word is being written, from start to the end of out
	start   int
	unit    int  // where the last unit of the open word starts
	units   int  // units of the open word; 0: it is of a script with spaces
	marks   int  // marks kept on the last character
	dropped bool // the open word lost a mark between two characters
}

func (f *folder) ascii(c byte) {
	switch {
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	default:
		f.end()
		return
	}
	f.begin(false)
	f.out = append(f.out, c)
}

func (f *folder) rune(r rune) {
	switch {
	case isApostrophe(r):
		f.end()
	case r == 'ـ': // the tatweel only draws a word out
		f.dropped = f.open
	case IsSpaceless(r) && !unicode.IsMark(r):
		f.begin(true)
		f.out = utf8.AppendRune(f.out, r)
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		f.begin(false)
		f.out = appendLetter(f.out, r)
	case unicode.IsMark(r):
		f.mark(r)
	default:
		f.end()
	}
}

// begin makes room for one more character of a script with or without spaces.
func (f *folder) begin(spaceless bool) {
	f.marks = 0
	if f.open && spaceless != (f.units > 0) {
		f.end()
	}
	if f.units == 2 && f.open {
		f.nextPair()
	}
	if !f.open {
		f.open, f.start, f.units = true, len(f.out), 0
	}
	if spaceless {
		f.unit = len(f.out)
		f.units++
	}
}

// nextPair closes a whole pair and begins the next one with its second half.
func (f *folder) nextPair() {
	half, dropped := string(f.out[f.unit:]), f.dropped
	f.end()
	f.open, f.start, f.units, f.dropped = true, len(f.out), 1, dropped
	f.out = append(f.out, half...)
}

func (f *folder) mark(r rune) {
	switch {
	case !f.open:
	case !isVowelMark(r):
		f.dropped = true
	case f.marks < maxMarks:
		f.marks++
		f.out = utf8.AppendRune(f.out, r)
	}
}

// end closes the open word, or takes it back if it is beyond the limit.
func (f *folder) end() {
	if !f.open {
		return
	}
	if f.dropped { // what the mark kept apart may now compose
		word := norm.NFKC.Bytes(f.out[f.start:])
		f.out = append(f.out[:f.start], word...)
	}
	f.open, f.dropped = false, false
	if f.full = f.full || len(f.out)+1 > f.limit; f.full {
		f.out = f.out[:f.start]
		return
	}
	f.out = append(f.out, ' ')
}

// insideDoubleL reports whether a middle dot stands in a Catalan l·l, with rest
// behind it.
func (f *folder) insideDoubleL(rest string) bool {
	return f.open && f.out[len(f.out)-1] == 'l' && rest != "" && (rest[0] == 'l' || rest[0] == 'L')
}
