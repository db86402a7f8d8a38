package node

import (
	"reflect"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/olddata"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/contacts"
)

func TestOldRecordsKeepEveryField(t *testing.T) {
	s := olddata.Store(t)
	themes := make(map[feedring.Theme]bool)
	for _, r := range olddata.Records(t, s, store.BucketTerm, "", 4) {
		saved := olddata.SameJSON[savedState](t, r.Key, r.Value)
		themes[saved.Theme] = saved.State.Highest > 0 && saved.State.Incarnation > 0
		if saved.Theme.Group().String() != r.Key {
			t.Errorf("the state of %s is under %s", saved.Theme, r.Key)
		}
	}
	if want := (map[feedring.Theme]bool{"arts": true, "news": true, "science": true, "society": true}); !reflect.DeepEqual(themes, want) {
		t.Errorf("states of %v", themes)
	}
	for _, r := range olddata.Records(t, s, store.BucketPeer, contacts.KnownRecord, 1) {
		if known := olddata.SameJSON[[]feedring.PeerInfo](t, r.Key, r.Value); len(known) != 1 || known[0].ID == "" || len(known[0].Addrs) != 1 {
			t.Errorf("known peers: %v", known)
		}
	}
	if j, err := contacts.OpenJoins(s, nil); err != nil || len(j.All()) != 1 {
		t.Errorf("joins: %v, %v", j, err)
	}
}

// TestStoredKeys holds the keys of records of which the old directory has no value for
// each field.
func TestStoredKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	state := olddata.SameJSON[savedState](t, "state", []byte(`{"Theme":"news","State":{"Term":{"Number":3,"Claimant":"peer"},"Highest":4,"Incarnation":5,`+
		`"From":"2026-01-02T03:04:05Z","Dropped":"2026-01-02T03:04:05Z"}}`))
	if want := (savedState{Theme: "news", State: group.State{
		Term: feedring.Term{Number: 3, Claimant: "peer"}, Highest: 4, Incarnation: 5, From: at, Dropped: at,
	}}); state != want {
		t.Errorf("state: %+v", state)
	}
}
