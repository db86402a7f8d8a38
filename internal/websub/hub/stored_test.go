package hub

import (
	"testing"

	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldSubscribersKeepEveryField(t *testing.T) {
	for _, r := range olddata.Records(t, olddata.Store(t), store.BucketHub, subscriptions, 3) {
		if old := olddata.SameJSON[row](t, r.Key, r.Value); old.Secret == "" || old.Expires == 0 || old.Sent == 0 {
			t.Errorf("a subscription without all fields: %+v", old)
		}
	}
}
