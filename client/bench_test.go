package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// BenchmarkQuery asks for ten entries, all of them checked, over pipes.
func BenchmarkQuery(b *testing.B) {
	w := newWorld(b)
	p := w.provider()
	for i := range 10 {
		w.publish(p, "news", fmt.Sprint(i))
	}
	c := w.client(p)
	ctx := within(b, time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		answer, err := c.Query(ctx, feedring.Query{Theme: "news"})
		if err != nil || len(answer.Entries) != 10 {
			b.Fatal(len(answer.Entries), err)
		}
	}
}
