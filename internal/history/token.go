package history

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// A token is what documents are looked up by: a folded word, or a facet, which
// begins with a byte that no word begins with. Longer ones are cut: they name
// too much then, never too little.
const maxToken = 64

const (
	facetTheme    = "\x01"
	facetProvider = "\x02" // and one label of the provider's name
	facetRef      = "\x03"
	facetPrivate  = "\x04"
)

func clip[T string | []byte](token T) T { return token[:min(len(token), maxToken)] }

func refToken(ref uint32) string {
	return string(binary.BigEndian.AppendUint32([]byte(facetRef), ref))
}

// labels gives the tokens that a provider's name has, and so each name that is
// asked for and names it.
func labels(provider string, each func(token string)) {
	for label := range strings.SplitSeq(strings.ToLower(provider), ".") {
		if label != "" {
			each(clip(facetProvider + label))
		}
	}
}

// words gives the words of a text: what stands between two blanks, by which a
// term of an expression finds it whole.
func words(t match.Text, each func(word []byte)) {
	from := bytes.IndexByte(t, ' ') + 1
	for from > 0 {
		n := bytes.IndexByte(t[from:], ' ')
		if n < 0 {
			return
		}
		if n > 0 && t[from] > ' ' {
			each(t[from : from+n])
		}
		from += n + 1
	}
}

// facets gives the tokens of a row that are no words.
func facets(k store.RowKey, row *store.Row, each func(token string)) {
	each(clip(facetTheme + string(row.Theme)))
	each(refToken(k.Ref))
	labels(string(row.Provider), each)
	if row.Private {
		each(facetPrivate)
	}
}
