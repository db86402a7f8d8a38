package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// s5 checks that there is at most one final for an attempt.
type s5 struct {
	*record
	questions *questions
	finals    map[ended]bool
}

// answered returns the question that an asked peer answers; nil: there is none.
func (c *s5) answered(p int32, out peer.Answer) *asked {
	a := c.questions.answered(p, out)
	if a == nil {
		c.Fail("S5", "%s answers stream %d, which was answered or never asked", c.cfg.Name(p), out.Stream)
	} else if f := &out.Final; f.ID != a.in.ID || f.Attempt != a.in.Attempt {
		c.Fail("S5", "%s answers attempt %d with the final of %d", c.cfg.Name(p), a.in.Attempt, f.Attempt)
	}
	return a
}

// final checks what a coordinator answers.
func (c *s5) final(p int32, f feedring.Final) {
	key := ended{p, c.peer(p).life, f.ID, f.Attempt}
	if c.finals[key] {
		c.Fail("S5", "%s sends a second final for attempt %d", c.cfg.Name(p), f.Attempt)
	}
	c.finals[key] = true
	if f.Status < feedring.Answered || f.Status > feedring.Incomplete {
		c.Fail("S5", "%s sends a final with status %d", c.cfg.Name(p), f.Status)
	}
}

// search checks that a coordinator does not search on after its final.
func (c *s5) search(p int32, s ring.Search) {
	if s.Coordinator == c.cfg.Name(p) && c.finals[ended{p, c.peer(p).life, s.ID, s.Attempt &^ 1}] {
		c.Fail("S5", "%s searches on after its final for attempt %d", s.Coordinator, s.Attempt)
	}
}
