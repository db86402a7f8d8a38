package origins

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/origins/backoff"
	"github.com/feedring/feedring/node/internal/origins/moved"
)

func TestOldRecordsKeepEveryField(t *testing.T) {
	s := olddata.Store(t)
	for _, r := range olddata.Records(t, s, store.BucketFeed, addedFeed, 4) {
		olddata.SameJSON[addedRow](t, r.Key, r.Value)
	}
	for _, r := range olddata.Records(t, s, store.BucketFeed, offeredFeed, 2) {
		olddata.SameJSON[offeredRow](t, r.Key, r.Value)
	}
	for _, r := range olddata.Records(t, s, store.BucketFeed, moved.Prefix, 1) {
		olddata.SameJSON[moved.Address](t, r.Key, r.Value)
	}
	for _, r := range olddata.Records(t, s, store.BucketFeed, backoff.Prefix, 2) {
		olddata.SameJSON[backoff.Host](t, r.Key, r.Value)
	}
}

// TestStoredKeys holds the keys of records of which the old directory has no value for
// each field.
func TestStoredKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	added := olddata.SameJSON[addedRow](t, "added", []byte(`{"Theme":"news","Provider":"example.org","URL":"https://example.org/feed",`+
		`"Share":"title","File":"/srv/feed.xml","Offered":"2026-01-02T03:04:05Z"}`))
	if want := (addedRow{feedring.FeedSpec{
		Theme: "news", Provider: "example.org", URL: "https://example.org/feed", Share: feedring.ShareTitle, File: "/srv/feed.xml",
	}, at}); added != want {
		t.Errorf("added: %+v", added)
	}
	if h := olddata.SameJSON[backoff.Host](t, "hold", []byte(`{"Until":"2026-01-02T03:04:05Z","Untold":true}`)); h != (backoff.Host{Until: at, OpenEnded: true}) {
		t.Errorf("hold: %+v", h)
	}
}
