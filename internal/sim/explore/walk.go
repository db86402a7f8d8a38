package explore

import "math/rand/v2"

// longest is how many units one walk may take.
const longest = 30 * unitsPerRefresh

// walk goes one drawn way from the first state, and judges each state that
// nobody visited before. A fault is drawn once in twenty steps, what ends one
// once in forty, so that most faults fall into the time in which the group
// copes with those before.
func (x *explorer) walk(chance *rand.Rand) {
	x.way = way{chance.IntN(len(x.roots)), x.way.actions[:0]}
	s := x.roots[x.way.root]
	for units := 0; units < longest && !x.full() && !x.stop(); {
		x.visitOnce(s, units)
		if s.left == 0 && s.cut == 0 && s.stopped == 0 && x.judge(s, forwards).units() == 0 && chance.IntN(20) == 0 {
			return // what follows is the same for all walks
		}
		a, ok := x.draw(chance, s)
		if !ok {
			return
		}
		if a.deed == pass {
			units++
		}
		s = x.apply(s, a)
		x.way.actions = append(x.way.actions, a)
		x.result.Transitions++
	}
}

func (x *explorer) visitOnce(s *state, units int) {
	x.scratch = s.encode(x.scratch[:0])
	if !x.visited.add(hash(x.scratch)) {
		return
	}
	x.count(s)
	x.visit(s, units, func() way { return x.way })
}

// draw chooses what happens next. It ends a walk that has come to rest.
func (x *explorer) draw(chance *rand.Rand, s *state) (action, bool) {
	x.usual, x.rare, x.odd = x.usual[:0], x.rare[:0], x.odd[:0]
	price, _ := x.price(s)
	x.actions(s, func(a action) {
		switch {
		case a.deed >= crash || a.deed == pass && price > 0:
			x.odd = append(x.odd, a)
		case a.deed >= rival:
			x.rare = append(x.rare, a)
		default:
			x.usual = append(x.usual, a)
		}
	})
	from := x.usual
	switch n := chance.IntN(40); {
	case len(x.odd) > 0 && (n < 2 || len(from) == 0):
		from = x.odd
	case len(x.rare) > 0 && (n == 2 || len(from) == 0):
		from = x.rare
	}
	if len(from) == 0 {
		return action{}, false
	}
	return from[chance.IntN(len(from))], true
}
