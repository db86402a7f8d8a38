package index

import (
	"errors"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// Interest is what a subscription asks of entries. The zero value asks nothing
// and is refused. See Index.Insert.
type Interest struct {
	Theme    feedring.Theme // empty: every theme
	Provider string         // empty: every provider; see feedring.Provider.Matches
	Since    time.Time      // published at or after; zero: no bound
	Words    *match.Expr    // nil: every text
}

// ErrBroad refuses an interest that would have to be looked at for nearly every
// entry.
var ErrBroad = errors.New("this matches nearly every entry: it has no theme, no provider, and no word that each match must have " +
	`(beside NOT, on both sides of OR, and not only words like "the")`)

// Matches says whether d is what i asks, without any index.
func (i *Interest) Matches(d *Doc) bool {
	return (i.Theme == "" || i.Theme == d.Theme) && d.Provider.Matches(i.Provider) &&
		(i.Since.IsZero() || !d.Published.Before(i.Since)) && i.Words.Match(d.Text)
}

// Doc is what an index looks at in an entry.
type Doc struct {
	Text      match.Text
	Theme     feedring.Theme
	Provider  feedring.Provider
	Published time.Time
}
