package feedring

import (
	"strings"
	"unicode"
)

// shownHost is a host as people are shown it: in labels that mix scripts, letters may
// only look like those of another host, so these labels are in Punycode (RFC 3492).
func shownHost(host string) string {
	if isASCII(host) {
		return host
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if mixesScripts(label) {
			labels[i] = "xn--" + punycode(label)
		}
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// together are the scripts that one language writes beside each other.
var together = [][]*unicode.RangeTable{
	{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Latin},
	{unicode.Han, unicode.Hangul, unicode.Latin},
	{unicode.Han, unicode.Bopomofo, unicode.Latin},
}

// mixesScripts reports whether no script, nor any that are written together, has all
// letters of a label.
func mixesScripts(label string) bool {
	if isASCII(label) {
		return false
	}
	for _, script := range unicode.Scripts {
		if allIn(label, script) {
			return false
		}
	}
	for _, scripts := range together {
		if allIn(label, scripts...) {
			return false
		}
	}
	return true
}

func allIn(label string, scripts ...*unicode.RangeTable) bool {
	for _, r := range label {
		if !unicode.In(r, unicode.Common, unicode.Inherited) && !unicode.In(r, scripts...) {
			return false
		}
	}
	return true
}

// punycode is RFC 3492, 6.3, with the parameters of 5.
func punycode(label string) string {
	const base, least, most, skew, damp = 36, 1, 26, 38, 700
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	runes := []rune(label)
	var out strings.Builder
	for _, r := range runes {
		if r < 0x80 {
			out.WriteRune(r)
		}
	}
	basic := out.Len()
	if basic > 0 {
		out.WriteByte('-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for done := basic; done < len(runes); {
		next := rune(unicode.MaxRune)
		for _, r := range runes {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, least), most)
				if q < t {
					break
				}
				out.WriteByte(digits[t+(q-t)%(base-t)])
				q = (q - t) / (base - t)
			}
			out.WriteByte(digits[q])
			delta /= 2
			if done == basic {
				delta = delta * 2 / damp
			}
			delta += delta / (done + 1)
			for bias = 0; delta > (base-least)*most/2; bias += base {
				delta /= base - least
			}
			bias += (base - least + 1) * delta / (delta + skew)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return out.String()
}
