package watch

import (
	"testing"
	"unsafe"
)

// TestAFeedIsSmall: there may be a million of them.
func TestAFeedIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(watched{}); size > 48 {
		t.Errorf("a feed that is watched takes %d bytes", size)
	}
	if size := unsafe.Sizeof(demand{}); size > 32 {
		t.Errorf("what is planned with of a feed takes %d bytes", size)
	}
}

// TestAQuietFeedIsNothingMore: what is said of few feeds takes no room of one that
// waits for its time again.
func TestAQuietFeedIsNothingMore(t *testing.T) {
	f := newWatched("https://a.example:444/feed", "a.example:444", false)
	if f.extra != nil || f.host() != "a.example:444" {
		t.Errorf("%q, %+v", f.host(), f.extra)
	}
	f.moveTo("b.example")
	if f.host() != "b.example" {
		t.Errorf("moved, it is asked for at %q", f.host())
	}
	f.change().again = true
	f.moveTo("a.example:444")
	if !f.now().again || f.host() != "a.example:444" {
		t.Errorf("%q, %+v", f.host(), f.extra)
	}
	f.change().again = false
	if f.settle(); f.extra != nil {
		t.Errorf("%+v", f.extra)
	}
}
