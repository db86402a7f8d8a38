package catalogue

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestContentHashIsAsTheProtocolSays computes the test vectors of docs/protocol.md,
// section 17.
func TestContentHashIsAsTheProtocolSays(t *testing.T) {
	text, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	row := func(change func(*Row)) *Row {
		r := &Row{Group: feedring.Theme("news").Group(), Peer: "a", Incarnation: 1, Version: 2}
		change(r)
		return r
	}
	for told, r := range map[string]*Row{
		"nothing else":                row(func(*Row) {}),
		"admitted 1000, from 2000":    row(func(r *Row) { r.Admitted, r.From = at(1000), at(2000) }),
		"addresses `/x`, `/y`":        row(func(r *Row) { r.Addrs = []string{"/x", "/y"} }),
		"feed `u`, `t`, `p`, epoch 3": row(func(r *Row) { r.Feeds = []feedring.Feed{{URL: "u", Title: "t", Provider: "p", Epoch: 3}} }),
		"backfilling `u` of `b`":      row(func(r *Row) { r.Backfilling = []feedring.FeedRef{{URL: "u", Publisher: "b"}} }),
		"vouch `s`, `b`, 3000, `u`": row(func(r *Row) {
			r.Vouches = []Vouch{{Site: "s", Publisher: "b", At: at(3000), Feeds: []string{"u"}}}
		}),
		"feed `u`, `t`, `p`, epoch 3, carried since 4": row(func(r *Row) {
			r.Feeds = []feedring.Feed{{URL: "u", Title: "t", Provider: "p", Epoch: 3, Carried: 4}}
		}),
		"volunteers":         row(func(r *Row) { r.Volunteer = true }),
		"left":               row(func(r *Row) { r.Left = true }),
		"keeps for a second": row(func(r *Row) { r.Keep = time.Second }),
		"gone `u` of `b`, `p`": row(func(r *Row) {
			r.Gone = []Gone{{Ref: feedring.FeedRef{URL: "u", Publisher: "b"}, Provider: "p"}}
		}),
	} {
		if vector := fmt.Sprintf("%s: 0x%016x", told, r.hash()); !strings.Contains(string(text), vector) {
			t.Errorf("no vector %s", vector)
		}
	}
}
