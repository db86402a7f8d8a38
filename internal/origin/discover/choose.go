package discover

import (
	"slices"
	"strings"
)

// Main returns the links among which a reader has to choose: one where a page
// has one feed, in several formats perhaps, beside those of comments. Atom is
// taken before RSS, and that before JSON Feed: it tells most of an entry.
func Main(links []Link) []Link {
	main := slices.DeleteFunc(slices.Clone(links), comments)
	if len(main) == 0 { // a page of nothing else
		main = links
	}
	var chosen []Link
	for _, l := range main {
		at := slices.IndexFunc(chosen, func(c Link) bool { return sameFeed(c, l) })
		switch {
		case at < 0:
			chosen = append(chosen, l)
		case rank(l) < rank(chosen[at]):
			chosen[at] = l
		}
	}
	return chosen
}

func rank(l Link) int {
	for i, format := range []string{"atom", "rss", "rdf", "json"} {
		if strings.Contains(l.Type, format) {
			return i
		}
	}
	return len(types)
}

// commentary is what feeds of comments have in their titles and addresses.
var commentary = []string{"comment", "kommentar", "comentario", "commenti", "reacties", "replies"}

func comments(l Link) bool {
	return slices.ContainsFunc(commentary, func(word string) bool {
		return strings.Contains(strings.ToLower(l.Title), word) || strings.Contains(strings.ToLower(l.URL), word)
	})
}

// sameFeed reports whether two links are one feed in two formats.
func sameFeed(a, b Link) bool {
	return a.Type != b.Type && plain(a.Title) == plain(b.Title)
}

// formats are the words of a title that say only how a feed is written.
var formats = []string{"rss", "atom", "rdf", "json", "xml", "feed", "1.0", "1.1", "2.0", "0.92", "0.91"}

// plain is a title without its format, as words.
func plain(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return strings.ContainsRune(" \t()[]-–—:»|,/+", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return slices.Contains(formats, w) }), " ")
}
