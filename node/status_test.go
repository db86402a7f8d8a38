package node

import (
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// TestStatusOfWhatIsRead: a theme that is only read shows before somebody founds
// its group, and once.
func TestStatusOfWhatIsRead(t *testing.T) {
	cfg := peerConfig(t, "a.example")
	cfg.Read = []feedring.Theme{"zoology", testTheme}
	n := startPeer(t, cfg)
	formed(t, n)
	st := n.Status()
	want := []web.RoleStatus{{Theme: testTheme, Role: "manager", Term: 1}, {Theme: "zoology", Role: "waiting"}}
	if !slices.Equal(st.Roles, want) || !n.Ready() {
		t.Errorf("roles %v, want %v; ready %v", st.Roles, want, n.Ready())
	}
	if detail := checkOf(t, n, "roles").Detail; detail != "manager of "+string(testTheme)+", waiting for zoology" {
		t.Errorf("the doctor says %q", detail)
	}
}
