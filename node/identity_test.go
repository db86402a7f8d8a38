package node

import (
	"strings"
	"testing"

	"github.com/feedring/feedring/group"
)

// TestDuplicateIdentityIsShown: readiness, status and doctor tell of a sign.
func TestDuplicateIdentityIsShown(t *testing.T) {
	cfg := peerConfig(t, "a.example")
	n := startPeer(t, cfg)
	eventually(t, "a role", n.Ready)
	well := func() bool {
		for _, c := range n.Doctor(t.Context()) {
			if c.Name == "identity" {
				return c.OK
			}
		}
		t.Fatal("the doctor does not look at the identity")
		return false
	}
	if len(n.Status().Warnings) != 0 || !well() {
		t.Error("alone, and warned")
	}
	n.effects.do(group.DuplicateIdentity{Theme: testTheme})
	if is := n.Readiness(); len(is.Reasons) != 1 || !strings.Contains(is.Reasons[0], "another process") {
		t.Errorf("%+v", is)
	}
	if w := n.Status().Warnings; len(w) != 1 || !strings.Contains(w[0], "data directory of its own") || well() {
		t.Errorf("warnings %q", w)
	}
}
