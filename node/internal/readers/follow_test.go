package readers

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// A gap passes through a stream of both sides, before the first answer and
// after it.
func TestFollowOfBothSidesPassesGaps(t *testing.T) {
	told := 0
	b := &both{reader: updates(func(u web.Update) error {
		if u.Gap != nil {
			told++
		}
		return nil
	})}
	gap := web.Update{Gap: &web.Gap{Event: "gap", Theme: testTheme, Feed: testURL}}
	check(t, b.take(1, gap))
	check(t, b.pass(1, gap))
	check(t, b.pass(1, web.Update{Cursor: feedring.Cursor{{URL: testURL}: {}}}))
	if told != 2 {
		t.Errorf("%d of two gaps were told", told)
	}
}
