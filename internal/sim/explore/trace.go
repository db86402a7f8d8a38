package explore

import (
	"fmt"
	"strings"
)

// traces writes how the bad and the slow state are reached, and what follows.
func (x *explorer) traces() {
	if x.result.Bad > 0 {
		x.result.Trace = x.trace(x.worst, x.worstBy)
	}
	if x.units > 0 {
		x.result.SlowTrace = x.trace(x.slowest, x.slowestBy)
	}
}

func (x *explorer) trace(w way, by order) []string {
	t := &writer{x: x}
	s := x.roots[w.root]
	t.write(s, "")
	for _, a := range w.actions {
		text := x.describe(s, a)
		s = x.apply(s, a)
		if a.deed == pass {
			t.units++
		}
		t.write(s, text)
	}
	t.texts = append(t.texts, "--- all faults end")
	x.onwards(t, s, by)
	return t.texts
}

// mostTold bounds the lines of a trace after the faults.
const mostTold = 100

// onwards writes the run without faults, until it is settled or for 8r.
func (x *explorer) onwards(t *writer, s *state, by order) {
	left := x.judge(s, by)
	s, ok := x.faultless(s)
	if !ok {
		return
	}
	most := left.units() + 1
	if left.bad() {
		most = 8 * unitsPerRefresh
	}
	tell := func(s *state, a action) {
		if a.deed == pass {
			t.units++
		}
		t.write(x.apply(s, a), x.describe(s, a))
	}
	for units, end := 0, len(t.texts)+mostTold; units < most && len(t.texts) < end; {
		var passed bool
		if s, passed = x.onward(s, by, tell); passed {
			units++
		}
	}
}

// writer writes a trace: what happened, with the peers whenever one of them
// takes itself or others for something else than before.
type writer struct {
	x     *explorer
	units int
	last  string
	texts []string
}

func (t *writer) write(s *state, text string) {
	if text == "r/12 passes" && t.x.standings(s) == t.last {
		return // the time is told with every line
	}
	if text != "" {
		t.texts = append(t.texts, fmt.Sprintf("%6.2fr %s", float64(t.units)/unitsPerRefresh, text))
	}
	if now := t.x.standings(s); now != t.last {
		t.last = now
		t.texts = append(t.texts, "        = "+now)
	}
}

func (x *explorer) standings(s *state) string {
	var parts []string
	for p := range s.n {
		id := s.peers[p]
		text := "down"
		if x.interner.briefs[id].up {
			text = x.interner.take(id).String()
		}
		if s.isStopped(p) {
			text += " (stopped)"
		}
		parts = append(parts, fmt.Sprintf("p%d %s", p, text))
	}
	return strings.Join(parts, "; ")
}
