package throttle

import "testing"

func TestPlaces(t *testing.T) {
	p := NewPlaces(5, 2)
	for i, step := range []struct {
		give  bool
		asker string
		want  Taken
	}{
		{false, "a", Got}, {false, "a", Got}, {false, "a", Share},
		{false, "b", Got},
		{true, "a", 0}, {false, "a", Got},
		{false, "", Got}, {false, "", Got}, {false, "", Full}, // the owner is bounded by all alone
		{false, "c", Full}, {false, "a", Share},
		{true, "", 0}, {false, "c", Got},
	} {
		if step.give {
			p.Give(step.asker)
			continue
		}
		if got := p.Take(step.asker); got != step.want {
			t.Errorf("step %d, %q: %v, want %v", i, step.asker, got, step.want)
		}
	}
	for _, asker := range []string{"a", "a", "b", "c", ""} {
		p.Give(asker)
	}
	if p.held != 0 || len(p.by) != 0 {
		t.Errorf("%d are held, by %v", p.held, p.by)
	}
}
