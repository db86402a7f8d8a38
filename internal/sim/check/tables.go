package check

import (
	"reflect"
	"strings"
)

// passing names the tables of a machine that hold nothing when nobody has asked
// for a while, wherever in it they are.
var passing = map[string]bool{"asks": true, "jobs": true, "asksOf": true, "jobsFor": true, "self": true,
	"searches": true, "hops": true, "placing": true, "placingFor": true, "kept": true, "keptOf": true, "keptFor": true}

// most is how many things any one table of a machine holds in a small world.
const most = 4096

// Rest checks S12 at a machine that nobody asks any more: what was for
// questions is gone, and no table has grown beyond all need. It looks at fields
// by name, and returns how many tables it found.
func (w *Witness) Rest(p int32) (tables int) {
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
			for _, f := range w.partsOf(v.Type()) {
				look(f.name, v.Field(f.index))
			}
		case reflect.Map:
			w.table(p, name, v.Len())
			tables++
			if w.holds(v.Type().Elem()) {
				for it := v.MapRange(); it.Next(); {
					look(name, it.Value())
				}
			}
		case reflect.Slice:
			w.table(p, name, v.Len())
			tables++
		}
	}
	look("", reflect.ValueOf(w.cfg.Machine(p)))
	return tables
}

func (w *Witness) table(p int32, name string, n int) {
	switch {
	case n > most:
		w.Fail("S12", "%s keeps %d of %s", w.cfg.Name(p), n, name)
	case n > 0 && passing[name]:
		w.Fail("S12", "%s keeps %d of %s, and nobody has asked for long", w.cfg.Name(p), n, name)
	}
}

// part is a field that may hold tables.
type part struct {
	name  string
	index int
}

// partsOf lists the fields of a struct that may hold tables.
func (w *Witness) partsOf(t reflect.Type) []part {
	parts, known := w.parts[t]
	if !known {
		prefix := ""
		if strings.HasSuffix(t.PkgPath(), "/internal/spread") { // the hops of a mesh stay, those of searches do not
			prefix = "spread."
		}
		for i := range t.NumField() {
			if f := t.Field(i); w.holds(f.Type) {
				parts = append(parts, part{prefix + f.Name, i})
			}
		}
		w.parts[t] = parts
	}
	return parts
}

// holds reports whether what is of a type may hold tables.
func (w *Witness) holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return true
	case reflect.Struct:
		return len(w.partsOf(t)) > 0
	default:
		return false
	}
}
