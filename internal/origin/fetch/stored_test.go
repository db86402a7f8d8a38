package fetch

import (
	"bytes"
	"testing"

	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
)

func TestOldStatesKeepEveryField(t *testing.T) {
	s := olddata.Store(t)
	known := make(map[string][]byte)
	for _, r := range olddata.Records(t, s, store.BucketFeed, "known/", 8) {
		known[r.Key[len("known/"):]] = r.Value
	}
	for _, r := range olddata.Records(t, s, store.BucketFeed, "state/", 8) {
		var st State
		if err := st.UnmarshalBinary(r.Value); err != nil {
			t.Fatal(err)
		}
		if again, err := st.MarshalBinary(); err != nil || !bytes.Equal(again, r.Value) {
			t.Errorf("%s: stored %q, read as %q, %v", r.Key, r.Value, again, err)
		}
		entries := known[st.URL]
		if err := st.LoadKnown(entries); err != nil || st.Known() == 0 {
			t.Fatalf("%s: %d entries, %v", r.Key, st.Known(), err)
		}
		if again, err := st.MarshalKnown(); err != nil || !bytes.Equal(again, entries) {
			t.Errorf("%s: its entries are read as others: %v", r.Key, err)
		}
	}
}
