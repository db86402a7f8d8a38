package web

import (
	"testing"
)

func TestStatusTellsTheOwnerMore(t *testing.T) {
	f := newFake()
	f.status.Entries, f.status.PrivateEntries = 12, 5
	f.status.Fleet = "fleet-0011223344556677"
	for _, tt := range []struct {
		private bool
		want    int
	}{{false, 7}, {true, 12}} {
		s := &site{Config: Config{Backend: f}}
		if st := s.publicStatus(tt.private); st.Entries != tt.want {
			t.Errorf("private %t: %d entries", tt.private, st.Entries)
		} else if (st.Fleet != "") != tt.private {
			t.Errorf("private %t: the fleet is told as %q", tt.private, st.Fleet)
		}
	}
}

func TestProfilesAreOnTheControlSocketAlone(t *testing.T) {
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=0.1", "/debug/pprof/cmdline", "/debug/vars"} {
		if w := call(t, testSite(newFake(), false), "GET", target, "", "Authorization: Bearer "+testToken); w.Code != 404 {
			t.Errorf("the web address answers %s: %d", target, w.Code)
		}
	}
	for _, target := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/trace?seconds=0.1"} {
		if w := call(t, testSite(newFake(), true), "GET", target, ""); w.Code != 200 || w.Body.Len() == 0 {
			t.Errorf("the socket answers %s: %d", target, w.Code)
		}
	}
}
