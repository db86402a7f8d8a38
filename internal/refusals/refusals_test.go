package refusals

import (
	"slices"
	"sync"
	"testing"
)

func TestCounts(t *testing.T) {
	var c Counts
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			c.Add(Stream, Share)
			c.Add(HTTP, Token)
			c.Add(HTTP, Host)
		})
	}
	all.Wait()
	want := []Count{{HTTP, Host, 10}, {HTTP, Token, 10}, {Stream, Share, 10}}
	if got := c.All(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var none *Counts
	if none.Add(HTTP, Full); none.All() != nil {
		t.Errorf("nil counts %v", none.All())
	}
}
