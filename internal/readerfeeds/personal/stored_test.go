package personal

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

func TestOldRowsKeepEveryField(t *testing.T) {
	s := olddata.Store(t)
	each := func(prefix string, count int, check func(t testing.TB, key string, value []byte)) {
		for _, r := range olddata.Records(t, s, store.BucketSubscription, prefix, count) {
			check(t, r.Key, r.Value)
		}
	}
	each(rows.Subscriptions, 4, func(t testing.TB, key string, value []byte) { olddata.SameJSON[rows.SubscriptionRow](t, key, value) })
	each(rows.Interests, 4, func(t testing.TB, key string, value []byte) {
		if row := olddata.SameJSON[rows.InterestRow](t, key, value); len(row.Items.Numbers()) == 0 {
			t.Errorf("an interest without entries: %+v", row)
		}
	})
	each(rows.Feeds, 10, func(t testing.TB, key string, value []byte) { olddata.SameJSON[rows.FeedRow](t, key, value) })
	each(rows.Entries, 42, func(t testing.TB, key string, value []byte) { olddata.SameJSON[rows.EntryRow](t, key, value) })
	each(rows.Copies, 14, func(t testing.TB, key string, value []byte) { olddata.SameJSON[feedring.Entry](t, key, value) })
	each(rows.Journal, 5, func(t testing.TB, key string, value []byte) {
		if j, whole := rows.DecodeJournaled(value); !whole || j.Entry == 0 || len(j.Given) == 0 {
			t.Errorf("%q: %+v, %v", key, j, whole)
		}
	})
}
