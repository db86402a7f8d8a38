package explore

// table maps hashes, none of them 0, to small values: 10 bytes a place, at
// most three of four places taken.
type table struct {
	keys   []uint64
	values []uint16
	size   int
}

func newTable() *table { return &table{keys: make([]uint64, 1024), values: make([]uint16, 1024)} }

// find returns the place of a key, or the one where it belongs.
func (t *table) find(key uint64) int {
	mask := uint64(len(t.keys) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if t.keys[i] == key || t.keys[i] == 0 {
			return int(i)
		}
	}
}

func (t *table) get(key uint64) (uint16, bool) {
	i := t.find(key)
	return t.values[i], t.keys[i] == key
}

// put sets a value and reports whether the key is new.
func (t *table) put(key uint64, value uint16) bool {
	i := t.find(key)
	t.values[i] = value
	if t.keys[i] == key {
		return false
	}
	t.keys[i] = key
	if t.size++; t.size > len(t.keys)/4*3 {
		t.grow()
	}
	return true
}

func (t *table) grow() {
	old := *t
	t.keys, t.values = make([]uint64, 2*len(old.keys)), make([]uint16, 2*len(old.keys))
	for i, k := range old.keys {
		if k != 0 {
			j := t.find(k)
			t.keys[j], t.values[j] = k, old.values[i]
		}
	}
}
