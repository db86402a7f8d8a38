package explore

// mostRemembered bounds what is remembered of what became of peers: 20 bytes
// each.
const mostRemembered = 1 << 23

// memory remembers what became of peers. It forgets where it is full: what is
// asked again then happens again, with the same end.
type memory struct {
	keys   []happening
	values []step
	size   int
	most   int
}

// slotsPerBucket is in how many places one thing may be.
const slotsPerBucket = 4

func newMemory(most int) *memory {
	return &memory{keys: make([]happening, 1024), values: make([]step, 1024), most: most}
}

func (m *memory) get(h happening) (step, bool) {
	first := m.first(h)
	for i := first; i < first+slotsPerBucket; i++ {
		if m.keys[i] == h {
			return m.values[i], true
		}
	}
	return step{}, false
}

// put remembers what was not there.
func (m *memory) put(h happening, s step) {
	if m.size > len(m.keys)/2 && len(m.keys) < m.most {
		m.grow()
	}
	first := m.first(h)
	for i := first; i < first+slotsPerBucket; i++ {
		if m.keys[i].what == nothing {
			m.keys[i], m.values[i] = h, s
			m.size++
			return
		}
	}
	i := first + m.hash(h)>>62 // forget another one
	m.keys[i], m.values[i] = h, s
}

func (m *memory) grow() {
	old := *m
	m.keys, m.values, m.size = make([]happening, 2*len(old.keys)), make([]step, 2*len(old.keys)), 0
	for i, h := range old.keys {
		if h.what != nothing {
			m.put(h, old.values[i])
		}
	}
}

func (m *memory) first(h happening) uint64 {
	return m.hash(h) & uint64(len(m.keys)-1) &^ (slotsPerBucket - 1)
}

func (*memory) hash(h happening) uint64 {
	return mix(mix(uint64(h.peer)<<32|uint64(h.with)) ^ uint64(h.what)<<8 ^ uint64(h.from))
}
