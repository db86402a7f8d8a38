package index

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring/internal/match"
)

// rule is an interest that is more than a conjunction, with its owners.
type rule struct {
	key    string // what it asks, in one form
	since  time.Time
	words  *match.Expr
	places []branch // where it is filed; theme and provider are in each

	// owners only grows, behind what readers of an older list see. What was
	// deleted goes when the index is packed.
	owners atomic.Pointer[[]ID]
}

// ruleKey tells equal rules.
func ruleKey(in *Interest) string {
	since := ""
	if !in.Since.IsZero() {
		since = strconv.FormatInt(in.Since.UnixNano(), 36)
	}
	return string(in.Theme) + "\x00" + in.Provider + "\x00" + since + "\x00" + in.Words.String()
}

func newRule(key string, in *Interest, places []branch) *rule {
	r := &rule{key: key, since: in.Since, words: in.Words, places: places}
	r.owners.Store(&[]ID{})
	return r
}

func (r *rule) add(id ID) {
	owners := append(*r.owners.Load(), id)
	r.owners.Store(&owners)
}

// matches tests what places do not tell.
func (r *rule) matches(d *Doc) bool {
	return (r.since.IsZero() || !d.Published.Before(r.since)) && r.words.Match(d.Text)
}
