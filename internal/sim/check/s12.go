package check

import (
	"reflect"
	"strings"
	"time"
)

// s12 checks that every table of a machine is bounded.
type s12 struct {
	*record
	questions *questions
	next      time.Duration           // when tables are looked at again
	looked    int32                   // whose they were last
	parts     map[reflect.Type][]part // see partsOf
}

// passing names the maps of a machine that hold nothing when nobody has asked
// for a while, wherever in it they are; so does the list "self".
var passing = map[string]bool{"asks": true, "jobs": true, "asksOf": true, "jobsFor": true,
	"searches": true, "hops": true, "lookups": true, "lookupsOf": true, "reserved": true, "reservedOf": true, "reservedFor": true}

// most is how many things any one table of a machine holds: some for each peer,
// each feed and each question of late.
func (c *s12) most() int {
	return perThing * (c.cfg.Peers() + len(c.cfg.Logs()) + 64)
}

const perThing = 16

// Rest checks S12 at a machine that nobody asks any more: what was for
// questions is gone, but for places that wait a moment for their readers, and no
// table has grown beyond all need. It looks at fields by name, and returns how many
// tables it found.
func (c *s12) Rest(p int32) (tables int) {
	return c.tables(p, perAsked*c.questions.asks(c.cfg.Now(), 2*max(c.cfg.Refresh, 2*time.Second)))
}

// Bounded checks S12 at a machine while things go on: no table is larger than
// what there is in the world gives cause for.
func (c *s12) Bounded(p int32) { c.tables(p, perAsked*c.questions.recent(c.cfg.Now())+few) }

// lookOn looks, every two periods, at the tables of the next machine that runs.
func (c *s12) lookOn() {
	now := c.cfg.Now()
	if now < c.next {
		return
	}
	c.next = now + 2*c.cfg.Refresh
	for range c.cfg.Peers() {
		c.looked = (c.looked + 1) % int32(c.cfg.Peers())
		if c.cfg.Runs(c.looked) {
			c.Bounded(c.looked)
			return
		}
	}
}

// What a question of the last minute takes of a table: it is open for ten seconds,
// in several tries; and what is there whoever asks.
const (
	perAsked = 1
	few      = 12
)

// tables looks at all tables of a machine: those that are for questions hold open
// at most.
func (c *s12) tables(p int32, open int) (tables int) {
	seen := map[uintptr]bool{}
	var look func(name string, v reflect.Value)
	look = func(name string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && !seen[v.Pointer()] {
				seen[v.Pointer()] = true
				look(name, v.Elem())
			}
		case reflect.Struct:
			for _, f := range c.partsOf(v.Type()) {
				look(f.name, v.Field(f.index))
			}
		case reflect.Map:
			c.table(p, name, v.Len(), open, passing[name])
			tables++
			if c.holds(v.Type().Elem()) {
				for it := v.MapRange(); it.Next(); {
					look(name, it.Value())
				}
			}
		case reflect.Slice:
			c.table(p, name, v.Len(), open, name == "self")
			tables++
		}
	}
	look("", reflect.ValueOf(c.cfg.Machine(p)))
	return tables
}

func (c *s12) table(p int32, name string, n, open int, passes bool) {
	switch {
	case n > c.most():
		c.Fail("S12", "%s keeps %d of %s", c.cfg.Name(p), n, name)
	case n > open && passes:
		c.Fail("S12", "%s keeps %d of %s, and what was asked lately gives cause for %d", c.cfg.Name(p), n, name, open)
	}
}

// part is a field that may hold tables.
type part struct {
	name  string
	index int
}

// partsOf lists the fields of a struct that may hold tables.
func (c *s12) partsOf(t reflect.Type) []part {
	parts, known := c.parts[t]
	if !known {
		prefix := ""
		if strings.HasSuffix(t.PkgPath(), "/internal/gossip") { // the hops of a mesh stay, those of searches do not
			prefix = "spread."
		}
		for i := range t.NumField() {
			if f := t.Field(i); c.holds(f.Type) {
				parts = append(parts, part{prefix + f.Name, i})
			}
		}
		c.parts[t] = parts
	}
	return parts
}

// holds reports whether a value of this type may contain tables.
func (c *s12) holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return true
	case reflect.Struct:
		return len(c.partsOf(t)) > 0
	default:
		return false
	}
}
