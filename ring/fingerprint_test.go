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
		"ring.Config.Interner: changes nothing that is done",
		"ring.Config.Memberships: looks into the peer",
		"ring.Machine.beside: derived",
		"ring.Machine.checked: derived",
		"ring.Machine.leading: derived",
		"ring.Machine.next: derived",
		"ring.Machine.out: of the last step",
		"ring.Machine.publishAt: derived",
		"ring.Machine.random: draws from source",
		"ring.Machine.seated: derived",
		"ring.Machine.unreached: derived",
		"ring.MapSnapshot.borrowed: who else has it",
		"ring.MapSnapshot.derived: derived",
		"ring.MapSnapshot.shared: who else has it",
		"ring.chart.changes: derived",
		"ring.chart.kept: derived",
		"ring.chart.led: derived",
		"ring.chart.near: derived",
		"ring.chart.shared: changes nothing that is done",
		"ring.record.sum: derived",
	}
	if got := fingerprint.Excused(reflect.TypeFor[Machine]()); !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}
