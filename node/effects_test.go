package node

import (
	"encoding/json"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// TestRoleEventHasItsTerm: whoever reads the line need not ask whether it has one.
func TestRoleEventHasItsTerm(t *testing.T) {
	for number, want := range map[uint64]string{
		0: `{"event":"role","theme":"news","role":"none","term":0}`,
		7: `{"event":"role","theme":"news","role":"none","term":7}`,
	} {
		line, err := json.Marshal(roleEvent(group.RoleChanged{Theme: "news", Term: feedring.Term{Number: number}}))
		if err != nil || string(line) != want {
			t.Errorf("%s, %v; want %s", line, err, want)
		}
	}
	if line, err := json.Marshal(Event{Event: "ready"}); err != nil || string(line) != `{"event":"ready"}` {
		t.Errorf("%s, %v", line, err)
	}
}
