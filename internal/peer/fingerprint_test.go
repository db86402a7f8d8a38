package peer

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
		"group.Machine.out: of the last step",
		"group.connections.inputs: derived",
		"group.failover.rank: derived",
		"group.failover.rankInputs: derived",
		"group.mesh.joined: derived",
		"group.mesh.laid: derived",
		"group.mesh.peers: derived",
		"group.roster.book: derived",
		"group.roster.self: derived",
		"group.roster.sum: derived",
		"group.sharing.parts: derived",
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
		"peer.Config.Interner: changes nothing that is done",
		"peer.Machine.asking: derived",
		"peer.Machine.next: derived",
		"peer.Machine.order: derived",
		"peer.Machine.out: of the last step",
		"peer.Machine.random: draws from source",
		"peer.Machine.view: derived",
		"peer.Machine.working: derived",
		"peer.finished.seen: derived",
		"peer.membership.due: derived",
		"peer.membership.moved: derived",
		"peer.membership.seen: derived",
		"peer.membership.shown: derived",
		"peer.membership.shownOf: derived",
		"peer.membership.toldOf: derived",
		"placement.Placer.group: the machine that this is part of",
		"replication.Replicator.group: the machine that this is part of",
		"ring.Config.Interner: changes nothing that is done",
		"ring.Config.Memberships: looks into the peer",
		"ring.Machine.beside: derived",
		"ring.Machine.checked: derived",
		"ring.Machine.entryGroups: derived",
		"ring.Machine.leading: derived",
		"ring.Machine.next: derived",
		"ring.Machine.out: of the last step",
		"ring.Machine.publishAt: derived",
		"ring.Machine.random: draws from source",
		"ring.Machine.unreached: derived",
		"ringmap.Map.changes: derived",
		"ringmap.Map.interner: changes nothing that is done",
		"ringmap.Map.kept: derived",
		"ringmap.Map.led: derived",
		"ringmap.Map.near: derived",
		"ringmap.Record.sum: derived",
		"ringmap.Snapshot.borrowed: who else has it",
		"ringmap.Snapshot.derived: derived",
		"ringmap.Snapshot.shared: who else has it",
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

// Two peers of which one has counted what the other has not go on differently.
func TestFingerprintSeesCounts(t *testing.T) {
	c := newCluster(t)
	m := c.start("a")
	for name, change := range map[string]func(m *Machine){
		"places of strangers": func(m *Machine) { m.unseated.take("x", c.now) },
		"questions":           func(m *Machine) { m.asksOf["x"]++ },
		"jobs":                func(m *Machine) { m.jobsFor["x"]++ },
		"finals":              func(m *Machine) { m.finished.add(attempt{number: 7}) },
		"seats":               func(m *Machine) { m.moved = !m.moved },
	} {
		other := m.Clone()
		if other.Fingerprint() != m.Fingerprint() {
			t.Fatal("a clone differs")
		}
		if change(other); other.Fingerprint() == m.Fingerprint() {
			t.Error(name, "are not seen")
		}
	}
}
