package check

import (
	"reflect"
	"testing"

	"github.com/feedring/feedring/internal/peer"
)

// TestPassingTablesExist: a table that is called otherwise in the machine would be
// looked past.
func TestPassingTablesExist(t *testing.T) {
	names, seen := map[string]bool{}, map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				f := of.Field(i)
				if f.Type.Kind() == reflect.Map {
					names[f.Name] = true
				}
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[peer.Machine]())
	for name := range passing {
		if !names[name] {
			t.Errorf("no table of the machine is called %q", name)
		}
	}
}
