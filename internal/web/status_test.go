package web

import (
	"testing"
)

func TestStatusCountsPrivateEntriesForTheOwner(t *testing.T) {
	f := newFake()
	f.status.Entries, f.status.PrivateEntries = 12, 5
	for _, tt := range []struct {
		private bool
		want    int
	}{{false, 7}, {true, 12}} {
		s := &site{Config: Config{Backend: f}}
		if st := s.publicStatus(tt.private); st.Entries != tt.want {
			t.Errorf("private %t: %d entries", tt.private, st.Entries)
		}
	}
}
