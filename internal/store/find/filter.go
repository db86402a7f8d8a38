package find

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store/rows"
)

// filter is a Search made ready to look at very many index rows.
type filter struct {
	theme     string
	provider  string
	privacy   Privacy
	since     time.Time
	words     *match.Expr
	refs      map[rows.RefID]bool // nil: every ref
	providers map[string]bool     // answers of Provider.Matches so far
}

func (l Log) newFilter(q *Search) *filter {
	f := &filter{
		theme: string(q.Theme), provider: q.Provider, privacy: q.Privacy, since: q.Since,
		words: q.Words, providers: make(map[string]bool),
	}
	if q.Since.IsZero() {
		f.since = time.Unix(-1<<62, 0)
	}
	if q.Refs != nil {
		f.refs = make(map[rows.RefID]bool, len(q.Refs))
		for _, ref := range q.Refs {
			if state, ok := l.Heads.Get(ref); ok {
				f.refs[state.ID] = true
			}
		}
	}
	return f
}

// wants tests the number of a ref.
func (f *filter) wants(id rows.RefID) bool { return f.refs == nil || f.refs[id] }

// matches tests an index row, the cheapest test first.
func (f *filter) matches(row *rows.Index) bool {
	return f.listed(row) && (f.words == nil || f.words.Match(row.Text))
}

// listed is matches without the text.
func (f *filter) listed(row *rows.Index) bool {
	switch {
	case row.Private && f.privacy == PublicOnly, !row.Private && f.privacy == PrivateOnly:
		return false
	case f.theme != "" && string(row.Theme) != f.theme:
		return false
	case f.provider != "" && !f.providerMatches(row.Provider):
		return false
	}
	return true
}

func (f *filter) providerMatches(name []byte) bool {
	answer, known := f.providers[string(name)]
	if !known {
		answer = feedring.Provider(name).Matches(f.provider)
		f.providers[string(name)] = answer
	}
	return answer
}
