package replicate

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldRecordsOfCopiesAreRead(t *testing.T) {
	s := olddata.Store(t)
	for _, theme := range []feedring.Theme{"arts", "news", "science", "society"} {
		if at, err := DroppedTo(s, theme.Group(), time.Time{}); err != nil || at.IsZero() {
			t.Errorf("what was dropped of %s: %v, %v", theme, at, err)
		}
	}
	for _, r := range olddata.Records(t, s, store.BucketCopy, "", 2) {
		if ref, since, ok := readReach(r); !ok || ref.URL == "" || ref.Publisher == "" || since.IsZero() {
			t.Errorf("reach of a copy: %v, %v, %v", ref, since, ok)
		}
	}
}
