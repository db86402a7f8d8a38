package group

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"reflect"
	"time"
)

// Fingerprint is a hash of all state, the random source included: two machines
// with one fingerprint go on alike. It walks the fields by reflection, so that
// no field that is added later can be forgotten.
func (m *Machine) Fingerprint() uint64 {
	h := fnv.New64a()
	fingerprint(h, reflect.ValueOf(m).Elem())
	return mix(h.Sum64())
}

// FingerprintOf is a hash of all that a message says, its verb included.
func FingerprintOf(msg Message) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(msg.Verb()))
	fingerprint(h, reflect.ValueOf(msg))
	return mix(h.Sum64())
}

// derived is what is made anew from the rest, and so no state.
var derived = map[reflect.Type]bool{
	reflect.TypeFor[*book](): true, reflect.TypeFor[*View](): true,
}

func fingerprint(h hash.Hash64, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "sorted" && name != "mesh" {
				fingerprint(h, v.Field(i))
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && !derived[v.Type()] && v.Type() != reflect.TypeFor[*time.Location]() {
			put(h, 1)
			fingerprint(h, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		put(h, uint64(v.Len()))
		for i := range v.Len() {
			fingerprint(h, v.Index(i))
		}
	case reflect.Map:
		var sum uint64 // of the entries, in no order
		for it := v.MapRange(); it.Next(); {
			entry := fnv.New64a()
			fingerprint(entry, it.Key())
			fingerprint(entry, it.Value())
			sum += mix(entry.Sum64())
		}
		put(h, sum)
	default:
		fingerprintPlain(h, v)
	}
}

func fingerprintPlain(h hash.Hash64, v reflect.Value) {
	switch {
	case v.CanInt():
		put(h, uint64(v.Int()))
	case v.CanUint():
		put(h, v.Uint())
	case v.Kind() == reflect.Bool && v.Bool():
		put(h, 1)
	case v.Kind() == reflect.String:
		put(h, uint64(v.Len()))
		_, _ = h.Write([]byte(v.String()))
	default:
		put(h, 0)
	}
}

func put(h hash.Hash64, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:])
}
