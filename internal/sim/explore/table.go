package explore

// table maps hashes, none of them 0, to small values: 10 bytes a place, at
// most three of four places taken.
type table struct {
	set
	values []uint16
}

func newTable() *table { return &table{*newSet(), make([]uint16, smallest)} }

func (t *table) get(key uint64) (uint16, bool) {
	i := t.find(key)
	return t.values[i], t.keys[i] == key
}

// put sets a value.
func (t *table) put(key uint64, value uint16) {
	if t.full() {
		t.grow()
	}
	t.add(key)
	t.values[t.find(key)] = value
}

func (t *table) grow() {
	old := *t
	t.set, t.values = old.larger(), make([]uint16, 2*len(old.keys))
	for i, k := range old.keys {
		if k != 0 {
			t.values[t.find(k)] = old.values[i]
		}
	}
}
