package fingerprint

import (
	"reflect"
	"testing"
	"time"
)

type leaf struct {
	n    int
	name string
}

type thing struct {
	a     uint8
	b     bool
	c     string
	d     [2]byte
	e     []leaf
	f     map[leaf]*leaf
	g     *leaf
	h     any
	at    time.Time
	cache int    `state:"derived"`
	do    func() `state:"never changes"`
}

func sample() *thing {
	return &thing{a: 1, c: "twelve chars", d: [2]byte{1, 2}, e: []leaf{{1, "x"}, {2, "y"}},
		f: map[leaf]*leaf{{1, ""}: {2, "z"}, {2, ""}: nil}, g: &leaf{3, ""}, h: leaf{4, ""}, at: time.Unix(9, 0)}
}

// Every field counts, wherever it is, and nothing else does.
func TestEveryFieldCounts(t *testing.T) {
	want := Of(sample())
	for name, change := range map[string]func(*thing){
		"number":           func(x *thing) { x.a++ },
		"bool":             func(x *thing) { x.b = true },
		"end of a text":    func(x *thing) { x.c = "twelve charz" },
		"length of a text": func(x *thing) { x.c += "\x00" },
		"array":            func(x *thing) { x.d[1]++ },
		"order":            func(x *thing) { x.e[0], x.e[1] = x.e[1], x.e[0] },
		"length":           func(x *thing) { x.e = append(x.e, leaf{}) },
		"value of a map":   func(x *thing) { x.f[leaf{1, ""}].n++ },
		"key of a map":     func(x *thing) { x.f[leaf{3, ""}] = x.f[leaf{1, ""}]; delete(x.f, leaf{1, ""}) },
		"swap in a map":    func(x *thing) { x.f[leaf{1, ""}], x.f[leaf{2, ""}] = x.f[leaf{2, ""}], x.f[leaf{1, ""}] },
		"size of a map":    func(x *thing) { x.f[leaf{}] = nil },
		"pointer":          func(x *thing) { x.g = nil },
		"interface":        func(x *thing) { x.h = struct{ n, m int }{4, 0} },
		"instant":          func(x *thing) { x.at = x.at.Add(1) },
	} {
		x := sample()
		change(x)
		if Of(x) == want {
			t.Error(name, "does not count")
		}
	}
	for name, change := range map[string]func(*thing){
		"nothing":          func(*thing) {},
		"what is excused":  func(x *thing) { x.cache, x.do = 7, func() {} },
		"place of a clock": func(x *thing) { x.at = x.at.In(time.FixedZone("far", 3600)) },
	} {
		x := sample()
		change(x)
		if Of(x) != want {
			t.Error(name, "counts")
		}
	}
	if got := Excused(reflect.TypeFor[*thing]()); !reflect.DeepEqual(got, []string{"fingerprint.thing.cache: derived", "fingerprint.thing.do: never changes"}) {
		t.Error(got)
	}
}

func TestFunctionsNeedAnExcuse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a function was passed over")
		}
	}()
	Of(&struct{ do func() }{func() {}})
}
