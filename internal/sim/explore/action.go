package explore

import "fmt"

// deed is what kind of thing happens to a group.
type deed uint8

const (
	arrive deed = iota // flight a
	timer              // of peer a
	pass               // a unit of time
	rival              // a hears of b
	start              // a starts again
	heal               // all cuts
	goOn               // a is no longer stopped
	// What follows are faults.
	crash // a, b: which of what its disk may hold
	cut   // b: the directions
	lose  // flight a
	stop  // a
)

// action is one thing that may happen to a group.
type action struct {
	deed deed
	a    uint8
	b    uint32 // 25 bits at most
}

// maxDelay is how many units a message may be late: the least probe window.
const maxDelay = unitsPerRefresh / 4

// maxHeld bounds what waits for a stopped peer in one lane; more is lost.
const maxHeld = 3

// actions calls yield with all that may happen in s. What changes nothing may
// be among it.
func (x *explorer) actions(s *state, yield func(action)) {
	for i, f := range s.flights {
		if s.head(i) && !s.isStopped(int(f.to)) {
			yield(action{deed: arrive, a: uint8(i)})
		}
	}
	for p := range s.n {
		if x.isDue(s, p) {
			yield(action{deed: timer, a: uint8(p)})
		}
	}
	if price, ok := x.price(s); ok && price <= int(s.left) && (price == 0 || x.kinds&Delays != 0) {
		yield(action{deed: pass})
	}
	x.meetings(s, yield)
	x.repairs(s, yield)
	if s.left > 0 {
		x.faults(s, yield)
	}
}

func (x *explorer) isDue(s *state, p int) bool {
	return !s.isStopped(p) && x.interner.briefs[s.peers[p]].due
}

// price returns how many messages are late if time passes now. It cannot pass
// when a timer is due or a message was late for long enough.
func (x *explorer) price(s *state) (price int, ok bool) {
	for p := range s.n {
		if x.isDue(s, p) {
			return 0, false
		}
	}
	for i, f := range s.flights {
		if s.isStopped(int(f.to)) {
			continue
		}
		if f.age >= maxDelay {
			return 0, false
		}
		if f.age == 0 && s.head(i) {
			price++
		}
	}
	return price, true
}

// meetings are of managers that learn of one another from the ring's map.
func (x *explorer) meetings(s *state, yield func(action)) {
	for a := range s.n {
		for b := range s.n {
			if a != b && x.serves(s, a) && x.serves(s, b) && !s.isCut(a, b) && !s.isCut(b, a) {
				yield(action{deed: rival, a: uint8(a), b: uint32(b)})
			}
		}
	}
}

func (x *explorer) serves(s *state, p int) bool {
	return !s.isStopped(p) && x.interner.briefs[s.peers[p]].up && x.interner.briefs[s.peers[p]].serving
}

// repairs cost nothing.
func (x *explorer) repairs(s *state, yield func(action)) {
	if s.cut != 0 {
		yield(action{deed: heal})
	}
	for p := range s.n {
		if !x.interner.briefs[s.peers[p]].up {
			yield(action{deed: start, a: uint8(p)})
		} else if s.isStopped(p) {
			yield(action{deed: goOn, a: uint8(p)})
		}
	}
}

func (x *explorer) faults(s *state, yield func(action)) {
	for p := range s.n {
		if !x.interner.briefs[s.peers[p]].up {
			continue
		}
		if x.kinds&Crashes != 0 {
			for i := range x.interner.crash(s.peers[p]) {
				yield(action{deed: crash, a: uint8(p), b: uint32(i)})
			}
		}
		if x.kinds&Stops != 0 && !s.isStopped(p) {
			yield(action{deed: stop, a: uint8(p)})
		}
	}
	if x.kinds&Cuts != 0 && s.cut == 0 {
		for _, c := range x.cuts {
			yield(action{deed: cut, b: c})
		}
	}
	if x.kinds&Losses != 0 {
		for i, f := range s.flights {
			if f.from != f.to && s.head(i) {
				yield(action{deed: lose, a: uint8(i)})
			}
		}
	}
}

// cutsOf lists the cuts of n peers: in two parts, and of one direction.
func cutsOf(n int) []uint32 {
	var cuts []uint32
	s := state{n: n}
	for side := 1; side < 1<<(n-1); side++ { // the last peer is on the other
		var c uint32
		for a := range n {
			for b := range n {
				if side>>a&1 != side>>b&1 {
					c |= s.direction(a, b)
				}
			}
		}
		cuts = append(cuts, c)
	}
	for a := range n {
		for b := range n {
			if a != b {
				cuts = append(cuts, s.direction(a, b))
			}
		}
	}
	return cuts
}

// describe says for people what happens to s by a.
func (x *explorer) describe(s *state, a action) string {
	switch a.deed {
	case arrive, lose:
		f := s.flights[a.a]
		verb := "arrives"
		if a.deed == lose {
			verb = "FAULT: is lost"
		}
		return fmt.Sprintf("p%d -> p%d %s %s", f.from, f.to, x.interner.messages[f.msg], verb)
	case timer:
		return fmt.Sprintf("p%d: timer", a.a)
	case pass:
		if price, _ := x.price(s); price > 0 {
			return fmt.Sprintf("FAULT: r/12 passes, and %d messages are late", price)
		}
		return "r/12 passes"
	case rival:
		return fmt.Sprintf("p%d hears of p%d from the map", a.a, a.b)
	case start:
		return fmt.Sprintf("p%d starts again", a.a)
	case heal:
		return "all cuts heal"
	case goOn:
		return fmt.Sprintf("p%d goes on", a.a)
	case crash:
		return fmt.Sprintf("FAULT: p%d crashes%s", a.a, []string{"", ", its last write done"}[min(a.b, 1)])
	case stop:
		return fmt.Sprintf("FAULT: p%d stops", a.a)
	default:
		return "FAULT: cut" + cutText(s, a.b)
	}
}

func cutText(s *state, c uint32) string {
	text := ""
	for a := range s.n {
		for b := range s.n {
			if c&s.direction(a, b) != 0 {
				text += fmt.Sprintf(" p%d>p%d", a, b)
			}
		}
	}
	return text
}
