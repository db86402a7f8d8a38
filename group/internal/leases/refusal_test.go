package leases

import "testing"

func TestEachRefusalHasItsOwnText(t *testing.T) {
	seen := map[string]Refusal{}
	for r := NotRefused; r <= NotMember; r++ {
		if (r.Error() == "") != (r == NotRefused) {
			t.Errorf("refusal %d has the text %q", r, r.Error())
		}
		if other, twice := seen[r.Error()]; twice {
			t.Errorf("refusals %d and %d have one text", other, r)
		}
		seen[r.Error()] = r
	}
}
