package identity

import (
	"testing"

	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldRecordKeepsEveryField(t *testing.T) {
	s := olddata.Store(t)
	for _, r := range olddata.Records(t, s, store.BucketMeta, presenceRecord, 1) {
		if saved := olddata.SameJSON[savedPresence](t, r.Key, r.Value); saved.Since.IsZero() || saved.Above == 0 {
			t.Errorf("presence: %v", saved)
		}
	}
}
