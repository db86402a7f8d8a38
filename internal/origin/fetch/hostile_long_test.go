//go:build !race

package fetch

import (
	"strings"
	"testing"
)

// TestHostile: each class is refused by name, or read as far as it is a feed.
func TestHostile(t *testing.T) {
	names := make(map[string]bool)
	for _, g := range groups() {
		for _, c := range g.classes() {
			if names[c.name] {
				t.Errorf("%s is there twice", c.name)
			}
			names[c.name] = true
			if len(c.answer) > 64<<10 {
				continue // TestHostileCost serves it, to a process that no race detector slows down
			}
			t.Run(strings.ReplaceAll(c.name, "/", "|"), func(t *testing.T) {
				got, err := hostileLook(t.Context(), hostileServer(t, c), c.slow)
				if err != nil {
					t.Fatal(err)
				}
				c.judge(t, got)
			})
		}
	}
}
