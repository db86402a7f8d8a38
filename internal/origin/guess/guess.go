// Package guess tells the encoding of a text that names none, or the wrong one: of
// the texts of other scripts than Latin, in the encodings of before Unicode.
//
// It decodes nothing, and knows neither UTF-8 nor UTF-16, which tell themselves.
package guess

const (
	guessFrom = 64 << 10 // bytes that are looked at
	fewest    = 12       // bytes beyond ASCII; less tell nothing
)

// Encoding names the encoding of a text that is not UTF-8 as the web calls it, or
// "" where it may well be Windows-1252. It reads the first 64 KiB.
func Encoding(body []byte) string {
	g := guesser{text: body[:min(len(body), guessFrom)]}
	g.count()
	if g.high < fewest || 2*g.lonely > g.high { // é between letters
		return ""
	}
	if name := g.pairs(); name != "" {
		return name
	}
	return g.letters()
}

// guesser counts the bytes of a text beyond ASCII.
type guesser struct {
	text   []byte
	high   int
	lonely int // between two bytes of ASCII
	words  int // in rows of three and more
	counts [256]int
}

func (g *guesser) count() {
	row := 0
	for i, c := range g.text {
		if c >= 0x80 {
			g.high++
			g.counts[c]++
			row++
			if i+1 < len(g.text) {
				continue
			}
		}
		switch {
		case row == 1:
			g.lonely++
		case row >= 3:
			g.words += row
		}
		row = 0
	}
}

// share is how many of a hundred bytes beyond ASCII are in a range.
func (g *guesser) share(from, to byte) int {
	n := 0
	for c := int(from); c <= int(to); c++ {
		n += g.counts[c]
	}
	return 100 * n / g.high
}

// often is how many of a hundred are among some.
func (g *guesser) often(letters string) int {
	n := 0
	for i := range len(letters) {
		n += g.counts[letters[i]]
	}
	return 100 * n / g.high
}

// pairs knows the encodings of two bytes a character, whose tables begin with
// the characters that are used most.
func (g *guesser) pairs() string {
	euc := g.leads(func(lead, trail byte) bool { return lead >= 0xa1 && trail >= 0xa1 })
	switch {
	case euc.of(0xa4, 0xa5) >= 15: // kana
		return "euc-jp"
	case euc.of(0xa1, 0xac)+euc.of(0xb0, 0xc8) >= 97 && euc.of(0xb0, 0xc8) >= 50: // syllables
		return "euc-kr"
	case euc.of(0xa1, 0xa9)+euc.of(0xb0, 0xd7) >= 90 && euc.of(0xb0, 0xd7) >= 50:
		return "gbk"
	}
	sjis := g.leads(func(lead, trail byte) bool {
		return (lead >= 0x81 && lead <= 0x9f || lead >= 0xe0 && lead <= 0xfc) && trail >= 0x40 && trail != 0x7f && trail <= 0xfc
	})
	if sjis.of(0x82, 0x83) >= 15 { // kana
		return "shift_jis"
	}
	big5 := g.leads(func(lead, trail byte) bool {
		return lead >= 0xa1 && lead <= 0xf9 && (trail >= 0x40 && trail <= 0x7e || trail >= 0xa1)
	})
	if big5.of(0xa1, 0xa3)+big5.of(0xa4, 0xc6) >= 90 && big5.of(0xa4, 0xc6) >= 50 {
		return "big5"
	}
	return ""
}

// leads counts first bytes of pairs; none where a text is not all of pairs.
type leads struct {
	counts [256]int
	all    int
}

func (l *leads) of(from, to int) int {
	n := 0
	for _, c := range l.counts[from : to+1] {
		n += c
	}
	return 100 * n / max(l.all, 1)
}

func (g *guesser) leads(pair func(lead, trail byte) bool) *leads {
	var l leads
	wrong := 0
	for i := 0; i < len(g.text); i++ {
		switch {
		case g.text[i] < 0x80:
		case i+1 < len(g.text) && pair(g.text[i], g.text[i+1]):
			l.counts[g.text[i]]++
			l.all++
			i++
		default:
			wrong++
		}
	}
	if 50*wrong > l.all { // a few are cut, or signs of a maker's own
		return &leads{}
	}
	return &l
}

// letters knows the encodings of one byte a letter, by the small letters that are
// most of every text, and by the most frequent of them.
func (g *guesser) letters() string {
	switch {
	case 10*g.words < 7*g.high:
		return ""
	case g.share(0xa1, 0xce) >= 45 && g.share(0xd0, 0xda) >= 10 && g.share(0xa1, 0xbf) >= 15 && g.share(0xfc, 0xff) == 0:
		return "windows-874"
	case g.share(0xe0, 0xfa) >= 90 && g.share(0xc0, 0xdf)+g.share(0xfb, 0xff) <= 1 && g.often("\xe9\xe5\xe4\xec\xe0") >= 30:
		return "windows-1255"
	case g.share(0xc0, 0xdf) >= 55 && g.often("\xcf\xc5\xc1\xc9") >= 20: // оеаи
		return "koi8-r"
	case g.share(0xe0, 0xff) >= 55 && g.often("\xee\xe5\xe0\xe8\xb3") >= 20: // and і
		return "windows-1251"
	case g.share(0xd0, 0xef) >= 60 && g.often("\xde\xd5\xd0\xd8") >= 20:
		return "iso-8859-5"
	}
	return ""
}
