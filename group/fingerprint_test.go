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
		"admission.Admitter.group: the machine that this is part of",
		"fetchassign.Sharing.group: the machine that this is part of",
		"fetchassign.Sharing.parts: derived",
		"gossip.Links.below: derived",
		"gossip.Links.layout: derived",
		"gossip.Links.route: derived",
		"group.Config.Meshes: changes nothing that is done",
		"group.Machine.out: of the last step",
		"group.connections.inputs: derived",
		"group.failover.rank: derived",
		"group.failover.rankInputs: derived",
		"group.roster.cachedIndex: derived",
		"group.roster.self: derived",
		"group.roster.sum: derived",
		"group.sites.validUntil: derived",
		"group.sites.vouched: derived",
		"group.views.key: derived",
		"group.views.last: derived",
		"group.views.summary: derived",
		"group.views.validUntil: derived",
		"group.views.view: derived",
		"holdings.Holding.sum: derived",
		"holdings.Ledger.latest: derived",
		"holdings.Ledger.order: derived",
		"holdings.Ledger.sorted: derived",
		"mesh.Mesh.joined: derived",
		"mesh.Mesh.laid: derived",
		"mesh.Mesh.peers: derived",
		"mesh.Mesh.shared: changes nothing that is done",
		"orphans.Keeper.group: the machine that this is part of",
		"placement.Placer.group: the machine that this is part of",
		"replication.Replicator.group: the machine that this is part of",
		"timerqueue.Queue[github.com/feedring/feedring/group.timerKey].free: derived",
		"timerqueue.Queue[github.com/feedring/feedring/group.timerKey].number: never changes",
		"timerqueue.Queue[github.com/feedring/feedring/group.timerKey].places: derived",
		"timerqueue.Queue[github.com/feedring/feedring/group.timerKey].slots: derived",
		"timerqueue.entry[github.com/feedring/feedring/group.timerKey].slot: derived",
	}
	if got := fingerprint.Excused(reflect.TypeFor[Machine]()); !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}
