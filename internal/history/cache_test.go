package history

import "testing"

// TestCache keeps what is asked for again, and no more bytes than it may.
func TestCache(t *testing.T) {
	var c cache
	c.put(blockID{1, 0}, []byte("asked for"))
	body := make([]byte, 1000)
	for n := range 4 * cacheBytes / len(body) {
		c.put(blockID{2, n}, body)
		if n%1000 == 0 && string(c.get(blockID{1, 0})) != "asked for" {
			t.Fatalf("what is asked for is gone after %d others", n)
		}
	}
	held := 0
	for _, half := range []map[blockID][]byte{c.young, c.old} {
		for _, b := range half {
			held += len(b)
		}
	}
	if held > cacheBytes || held < cacheBytes/3 {
		t.Errorf("%d bytes are held", held)
	}
	if c.get(blockID{2, 0}) != nil {
		t.Error("what nobody asked for is kept")
	}
	var none *cache
	none.put(blockID{1, 0}, body)
	if none.get(blockID{1, 0}) != nil {
		t.Error("no cache keeps something")
	}
}
