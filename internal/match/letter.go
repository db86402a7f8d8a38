package match

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// appendLetter appends the fold of a letter or number that is in NFKC.
func appendLetter(out []byte, r rune) []byte {
	if unicode.IsDigit(r) {
		return append(out, digit(r))
	}
	r = unicode.ToLower(base(r))
	if s := respell(r); s != "" {
		return append(out, s...)
	}
	return utf8.AppendRune(out, r)
}

// base returns a Latin or Greek letter without its accents, and any other
// character as it is: elsewhere what composes is a letter of its own, as й is.
func base(r rune) rune {
	latin := r < 0x250 || 0x1E00 <= r && r < 0x1F00
	greek := 0x370 <= r && r < 0x400 || 0x1F00 <= r && r < 0x2000
	if !latin && !greek {
		return r
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	parts := norm.NFD.Properties(buf[:n]).Decomposition()
	if parts == nil {
		return r
	}
	first, _ := utf8.DecodeRune(parts)
	return first
}

// respell returns what a lower case letter without accents is written as, or ""
// for itself. It holds letters that do not decompose, yet are typed in another
// way by a good part of those who read them.
func respell(r rune) string {
	switch {
	case r < 0x370:
		return respellLatin(r)
	case r == 'ς':
		return "σ"
	case r == 'ё' || r == 'ѐ':
		return "е"
	case r == 'ѝ':
		return "и"
	case 0x600 <= r && r < 0x700:
		return respellArabic(r)
	}
	return ""
}

func respellLatin(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'ø', 'ɔ': // ɔ, ɛ, ŋ, ɲ and the hooked letters: languages of West Africa
		return "o"
	case 'đ', 'ð', 'ɖ', 'ɗ':
		return "d"
	case 'ł', 'ƚ':
		return "l"
	case 'ı', 'ɨ', 'ɩ':
		return "i"
	case 'ħ':
		return "h"
	case 'ŧ', 'ƭ':
		return "t"
	case 'ŋ', 'ɲ':
		return "n"
	case 'ɓ', 'ƀ':
		return "b"
	case 'ƙ':
		return "k"
	case 'ƴ':
		return "y"
	case 'ɛ':
		return "e"
	case 'ƒ':
		return "f"
	case 'ɣ', 'ǥ':
		return "g"
	case 'ʋ':
		return "v"
	case 'ʉ', 'ʊ':
		return "u"
	case 'ƶ':
		return "z"
	case 'ȷ':
		return "j"
	}
	return ""
}

// respellArabic makes one letter of those that Arabic, Persian and Urdu
// keyboards and habits confuse.
func respellArabic(r rune) string {
	switch r {
	case 'أ', 'إ', 'آ', 'ٱ':
		return "ا"
	case 'ى', 'ی':
		return "ي"
	case 'ک':
		return "ك"
	case 'ة':
		return "ه"
	}
	return ""
}

// digit returns the ASCII digit of the same value. Unicode promises that the
// digits of a script are ten neighbours, from zero.
func digit(r rune) byte {
	for _, tab := range unicode.Nd.R16 {
		if r <= rune(tab.Hi) && r >= rune(tab.Lo) {
			return '0' + byte((r-rune(tab.Lo))%10)
		}
	}
	for _, tab := range unicode.Nd.R32 {
		if r <= rune(tab.Hi) && r >= rune(tab.Lo) {
			return '0' + byte((r-rune(tab.Lo))%10)
		}
	}
	return '0'
}

// isApostrophe reports whether r is one of the apostrophes and primes that
// Unicode calls letters. The others separate words without help.
func isApostrophe(r rune) bool {
	return 0x2B9 <= r && r <= 0x2FF || r == 'ꞌ' || r == 'Ꞌ'
}

// isInvisible reports whether r leaves no trace in what a reader sees: soft
// hyphens, joiners and variation selectors.
func isInvisible(r rune) bool {
	switch {
	case r < 0x300:
		return r == 0xAD
	case r < 0x600 || 0x3400 <= r && r < 0xD800: // the bulk of CJK and Hangul
		return r == 0x34F
	default:
		return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	}
}

// isVowelMark reports whether a combining mark is part of the spelling. Marks
// that serve many scripts are accents, and those of the alphabets named here
// are vowel points and accents; each other mark belongs to a script that cannot
// be read without it.
func isVowelMark(r rune) bool {
	return !unicode.In(r, unicode.Inherited, unicode.Common, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Syriac)
}

// IsSpaceless reports whether r belongs to a script that is written without
// spaces between words.
func IsSpaceless(r rune) bool {
	switch {
	case r < 0xE00:
		return false
	case 0x4E00 <= r && r < 0xA000 || 0x3400 <= r && r < 0x4DC0:
		return true
	case r == 'ー' || r == '〆' || 0x3031 <= r && r <= 0x3035 || r == '〼':
		return true // shared by the Japanese scripts, so of none
	case 0xAC00 <= r && r < 0xD800:
		return false
	default:
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	}
}

// IsUnit reports whether a folded word is a single character of a script
// without spaces, with its marks.
func IsUnit(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	if !IsSpaceless(first) {
		return false
	}
	for _, r := range word[size:] {
		if !unicode.IsMark(r) {
			return false
		}
	}
	return true
}
