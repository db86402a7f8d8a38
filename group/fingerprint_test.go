package group

import (
	"reflect"
	"slices"
	"testing"

	"github.com/feedring/feedring/internal/fingerprint"
)

// The fingerprint covers every field but these, and they need no covering.
func TestFingerprintLeavesOut(t *testing.T) {
	want := []string{
		"alarm.Queue[github.com/feedring/feedring/group.bell].free: derived",
		"alarm.Queue[github.com/feedring/feedring/group.bell].number: never changes",
		"alarm.Queue[github.com/feedring/feedring/group.bell].places: derived",
		"alarm.Queue[github.com/feedring/feedring/group.bell].slots: derived",
		"alarm.entry[github.com/feedring/feedring/group.bell].slot: derived",
		"group.Config.Meshes: changes nothing that is done",
		"group.Machine.book: derived",
		"group.Machine.census: derived",
		"group.Machine.guarded: derived",
		"group.Machine.joined: derived",
		"group.Machine.laid: derived",
		"group.Machine.mesh: derived",
		"group.Machine.out: of the last step",
		"group.Machine.parts: derived",
		"group.Machine.self: derived",
		"group.Machine.sends: room",
		"group.Machine.shown: derived",
		"group.Machine.shownAt: derived",
		"group.Machine.shownTo: derived",
		"group.Machine.sum: derived",
		"group.Machine.turnIs: derived",
		"group.Machine.turnOf: derived",
		"group.Machine.view: derived",
		"group.Machine.words: derived",
		"group.Machine.wordsTo: derived",
		"holdings.Holding.sum: derived",
		"holdings.Ledger.latest: derived",
		"holdings.Ledger.order: derived",
		"holdings.Ledger.sorted: derived",
		"spread.Links.below: derived",
		"spread.Links.lay: derived",
		"spread.Links.route: derived",
	}
	if got := fingerprint.Excused(reflect.TypeFor[Machine]()); !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}
