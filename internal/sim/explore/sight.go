package explore

import "github.com/feedring/feedring/group"

// sight is what is seen of a takeover in a state.
type sight struct {
	intention    bool // one is under way
	confirmation bool
	successor    bool // another than the first peer serves
	rivals       bool // two serve
}

// see looks for a takeover in s.
func (x *explorer) see(s *state) (seen sight) {
	for _, f := range s.flights {
		switch x.interner.verbs[f.msg] {
		case intends:
			seen.intention = true
		case confirms:
			seen.confirmation = true
		}
	}
	serving := 0
	for p := range s.n {
		if b := x.interner.briefs[s.peers[p]]; b.up && b.serving {
			serving++
			seen.successor = seen.successor || p > 0
		}
	}
	seen.rivals = serving > 1
	return seen
}

func (g sight) claimed() bool   { return g.confirmation || g.successor }
func (g sight) suspected() bool { return g.intention || g.claimed() }

// add counts a visited state.
func (g sight) add(to *Result) {
	for _, c := range []struct {
		is bool
		n  *int
	}{
		{g.intention, &to.Intentions}, {g.confirmation, &to.Confirmations},
		{g.successor, &to.Successors}, {g.rivals, &to.Rivals},
	} {
		if c.is {
			*c.n++
		}
	}
}

// verb tells the messages of a takeover from others.
type verb uint8

const (
	other verb = iota
	intends
	confirms
)

func verbOf(m Message) verb {
	if l, ok := m.(*letter); ok {
		switch l.msg.(type) {
		case group.Intention:
			return intends
		case group.Confirmation:
			return confirms
		}
	}
	return other
}
