// Package fingerprint hashes the state of a machine, so that a test
// recognizes a state that it has already visited. It is no encoding and no
// checksum against anybody: the hash is the same in every process, and can be
// forged.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
	"reflect"
	"slices"
	"time"
)

// Of returns a hash of v and of all that it refers to: two machines with one
// fingerprint go on alike. It walks every field, so that none that is added
// later can be forgotten, but for those that a tag excuses:
//
//	view *View `state:"derived"`
//
// Equal instants count as equal in every time zone, a nil slice or map as an
// empty one, and maps in no order. What v refers to must have no cycles, and
// no functions or channels without a tag: Of panics at one that it meets.
func Of(v any) uint64 { return NewHasher().Of(v) }

// Hasher is for one who hashes many values of the same types: it remembers
// what it learnt of them. It is not safe for concurrent use.
type Hasher struct{ w walker }

// NewHasher returns one that has seen no types.
func NewHasher() *Hasher { return &Hasher{walker{plans: map[reflect.Type][]int{}}} }

// Of returns the same as the function Of.
func (h *Hasher) Of(v any) uint64 { return mix(h.w.walk(0, reflect.ValueOf(v))) }

// tag excuses a field. Its text is the reason.
const tag = "state"

// Excused lists the fields that Of leaves out of a value of type t, with their
// reasons: "group.Machine.view: derived". What an interface holds is not looked at.
func Excused(t reflect.Type) []string {
	var list []string
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(t.Elem())
		case reflect.Map:
			look(t.Key())
			look(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				if reason, ok := f.Tag.Lookup(tag); ok {
					list = append(list, t.String()+"."+f.Name+": "+reason)
				} else {
					look(f.Type)
				}
			}
		}
	}
	look(t)
	slices.Sort(list)
	return list
}

// walker remembers which fields of each type count.
type walker struct{ plans map[reflect.Type][]int }

func (w *walker) plan(t reflect.Type) []int {
	if plan, ok := w.plans[t]; ok {
		return plan
	}
	plan := make([]int, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if _, excused := f.Tag.Lookup(tag); !excused && f.Type != reflect.TypeFor[*time.Location]() {
			plan = append(plan, i)
		}
	}
	w.plans[t] = plan
	return plan
}

// walk takes v into the hash h.
func (w *walker) walk(h uint64, v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Struct:
		for _, i := range w.plan(v.Type()) {
			h = w.walk(h, v.Field(i))
		}
		return h
	case reflect.Interface:
		if v.IsNil() {
			return put(h, 0)
		}
		e := v.Elem()
		return w.walk(text(h, e.Type().String()), e)
	case reflect.Pointer:
		if v.IsNil() {
			return put(h, 0)
		}
		return w.walk(put(h, 1), v.Elem())
	case reflect.Slice, reflect.Array:
		h = put(h, uint64(v.Len()))
		for i := range v.Len() {
			h = w.walk(h, v.Index(i))
		}
		return h
	case reflect.Map:
		return w.walkMap(h, v)
	default:
		return plain(h, v)
	}
}

func (w *walker) walkMap(h uint64, v reflect.Value) uint64 {
	var sum uint64 // of the entries, in no order
	for it := v.MapRange(); it.Next(); {
		sum += mix(w.walk(w.walk(1, it.Key()), it.Value()))
	}
	return put(put(h, uint64(v.Len())), sum)
}

func plain(h uint64, v reflect.Value) uint64 {
	switch {
	case v.CanInt():
		return put(h, uint64(v.Int()))
	case v.CanUint():
		return put(h, v.Uint())
	case v.Kind() == reflect.String:
		return text(h, v.String())
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return put(h, 1)
		}
		return put(h, 0)
	default:
		panic("fingerprint: a " + v.Type().String() + " has no state that can be told: excuse its field by a tag")
	}
}

func text(h uint64, s string) uint64 {
	h = put(h, uint64(len(s)))
	var rest [8]byte
	for ; len(s) >= 8; s = s[8:] {
		copy(rest[:], s)
		h = put(h, binary.LittleEndian.Uint64(rest[:]))
	}
	if s == "" {
		return h
	}
	rest = [8]byte{}
	copy(rest[:], s)
	return put(h, binary.LittleEndian.Uint64(rest[:]))
}

func put(h, n uint64) uint64 {
	return bits.RotateLeft64(h^n*0x9e3779b97f4a7c15, 29) * 0xbf58476d1ce4e5b9
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
