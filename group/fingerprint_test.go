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
		"gossip.Links.below: derived",
		"gossip.Links.lay: derived",
		"gossip.Links.route: derived",
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
		"placement.Placer.group: the machine that this is part of",
		"replication.Replicator.group: the machine that this is part of",
		"timerqueue.Queue[github.com/feedring/feedring/group.bell].free: derived",
		"timerqueue.Queue[github.com/feedring/feedring/group.bell].number: never changes",
		"timerqueue.Queue[github.com/feedring/feedring/group.bell].places: derived",
		"timerqueue.Queue[github.com/feedring/feedring/group.bell].slots: derived",
		"timerqueue.entry[github.com/feedring/feedring/group.bell].slot: derived",
	}
	if got := fingerprint.Excused(reflect.TypeFor[Machine]()); !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}
