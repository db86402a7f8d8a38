package experiment

import "testing"

// Up to 64 peers each tells each other and answers each once, so the base
// paper's n(n-1) polls are made, n-1 at each.
func TestAllThatPublishAtOnceAnswerEachOtherOnce(t *testing.T) {
	cfg := DefaultCompare()
	for _, n := range []int{2, 10, 20} {
		got, err := measureAtOnce(cfg, n)
		if err != nil {
			t.Fatal(err)
		}
		if got.Polls != n*(n-1) || got.Least != n-1 || got.Most != n-1 || got.Notifies != n*(n-1) {
			t.Errorf("%d peers: %+v", n, got)
		}
		if way := 3 * cfg.Hop.Seconds(); got.LastHas < way || got.LastHas > way+0.05 {
			t.Errorf("%d peers: the last has all after %v s", n, got.LastHas)
		}
	}
}

// In a mesh no peer answers for all: polls stay those that copies need, and
// the busiest answers a few for each peer.
func TestAllThatPublishAtOnceInAMesh(t *testing.T) {
	if testing.Short() {
		t.Skip("a group of 70 takes some seconds")
	}
	const n = 70
	got, err := measureAtOnce(DefaultCompare(), n)
	if err != nil {
		t.Fatal(err)
	}
	if got.Polls < n*(n-1) || got.Polls > n*(n-1)*11/10 || got.Most > 2*n || got.LastHas > 1 {
		t.Errorf("%+v", got)
	}
}
