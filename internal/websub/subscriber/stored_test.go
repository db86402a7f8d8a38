package subscriber

import (
	"testing"

	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldSubscriptionsKeepEveryField(t *testing.T) {
	for _, r := range olddata.Records(t, olddata.Store(t), store.BucketHub, rows, 1) {
		if old := olddata.SameJSON[*subscription](t, r.Key, r.Value); old.Topic == "" || old.Expires.IsZero() {
			t.Errorf("a subscription without all fields: %+v", old)
		}
	}
}
