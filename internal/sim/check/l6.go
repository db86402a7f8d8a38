package check

import (
	"fmt"

	"github.com/feedring/feedring"
)

// l6 checks that views of the ring are true.
type l6 struct{ *record }

// Round checks L6 at one peer: its map shows each group with its manager, and
// no other.
func (c *l6) Round(p int32, managers map[feedring.Theme]int32) (why string) {
	rows := c.cfg.Ring(p)
	if len(rows) != len(managers) {
		shown := make([]string, len(rows))
		for i, r := range rows {
			shown[i] = fmt.Sprintf("%s=%d.%s", r.Theme, r.Term.Number, r.Term.Claimant)
		}
		return fmt.Sprintf("it shows %v of %d groups", shown, len(managers))
	}
	for _, r := range rows {
		if m, ok := managers[r.Theme]; !ok || c.cfg.Name(m) != r.Term.Claimant {
			return "it shows " + string(r.Term.Claimant) + " as manager of " + string(r.Theme)
		}
	}
	return ""
}
