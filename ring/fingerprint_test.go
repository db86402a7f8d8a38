package ring

import (
	"reflect"
	"slices"
	"testing"

	"github.com/feedring/feedring/internal/fingerprint"
)

// The fingerprint covers every field but these, and they need no covering.
func TestFingerprintLeavesOut(t *testing.T) {
	want := []string{
		"proof.Places.peers: derived",
		"proof.Places.prefixes: derived",
		"proof.Waiting.stirred: derived",
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
		"ring.Machine.undoubted: derived",
		"ring.Machine.unreached: derived",
		"ringmap.Map.announced: derived",
		"ringmap.Map.changes: derived",
		"ringmap.Map.interner: changes nothing that is done",
		"ringmap.Map.led: derived",
		"ringmap.Map.near: derived",
		"ringmap.Record.sum: derived",
		"ringmap.Snapshot.borrowed: who else has it",
		"ringmap.Snapshot.derived: derived",
		"ringmap.Snapshot.shared: who else has it",
	}
	if got := fingerprint.Excused(reflect.TypeFor[Machine]()); !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}
