package peer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/fingerprint"
	"github.com/feedring/feedring/ring"
)

// The fingerprint covers every field but these, and they need no covering.
func TestFingerprintLeavesOut(t *testing.T) {
	want := []string{
		"limits.Finished.seen: derived",
		"peer.Config.Interner: changes nothing that is done",
		"peer.Machine.asking: derived",
		"peer.Machine.next: derived",
		"peer.Machine.order: derived",
		"peer.Machine.out: of the last step",
		"peer.Machine.random: draws from source",
		"peer.Machine.view: derived",
		"peer.Machine.working: derived",
		"peer.membership.due: derived",
		"peer.membership.lastView: derived",
		"peer.membership.lastViewOf: derived",
		"peer.membership.moved: derived",
		"peer.membership.seen: derived",
		"peer.membership.toldOf: derived",
	}
	got := slices.DeleteFunc(fingerprint.Excused(reflect.TypeFor[Machine]()), func(field string) bool {
		return !strings.HasPrefix(field, "peer.") && !strings.HasPrefix(field, "limits.") // group and ring hold their own
	})
	if !slices.Equal(got, want) {
		t.Errorf("it leaves out\n%q", got)
	}
}

// Two peers of which one has counted what the other has not go on differently.
func TestFingerprintSeesCounts(t *testing.T) {
	c := newCluster(t)
	m := c.start("a")
	for name, change := range map[string]func(m *Machine){
		"places of strangers": func(m *Machine) { m.outsiders.Take("x", c.now) },
		"questions":           func(m *Machine) { m.asksOf["x"]++ },
		"jobs":                func(m *Machine) { m.jobsFor["x"]++ },
		"finals":              func(m *Machine) { m.finished.Add(ring.Attempt{Number: 7}) },
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
