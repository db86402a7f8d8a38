package network

import (
	"strings"
	"testing"

	"github.com/feedring/feedring/node"
)

// TestMoveTellsOfRootKeysThatItLeft: whoever removes the former directory would lose them.
func TestMoveTellsOfRootKeysThatItLeft(t *testing.T) {
	m := node.Moved{Network: "x-new", Feeds: 1, Entries: 2, Former: "/d/former"}
	if got := confirmMoved(&m); strings.Contains(got, "root key") {
		t.Errorf("without root keys: %s", got)
	}
	m.Roots = []string{"/d/former/network/root-1.key", "/d/former/network/root-2.key"}
	if got := confirmMoved(&m); !strings.Contains(got, "first move /d/former/network/root-1.key and /d/former/network/root-2.key") {
		t.Errorf("with root keys: %s", got)
	}
}
