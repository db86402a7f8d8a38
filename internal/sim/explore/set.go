package explore

// set is of hashes, none of them 0: 8 bytes a place, at most three of four
// places taken.
type set struct {
	keys []uint64
	size int
}

const smallest = 1024

func newSet() *set { return &set{keys: make([]uint64, smallest)} }

// find returns the place of a key, or the one where it belongs.
func (s *set) find(key uint64) int {
	mask := uint64(len(s.keys) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s.keys[i] == key || s.keys[i] == 0 {
			return int(i)
		}
	}
}

func (s *set) has(key uint64) bool { return s.keys[s.find(key)] == key }

// add reports whether the key is new.
func (s *set) add(key uint64) bool {
	if s.full() {
		*s = s.larger()
	}
	i := s.find(key)
	if s.keys[i] == key {
		return false
	}
	s.keys[i] = key
	s.size++
	return true
}

func (s *set) full() bool { return s.size >= len(s.keys)/4*3 }

func (s *set) larger() set {
	l := set{keys: make([]uint64, 2*len(s.keys)), size: s.size}
	for _, k := range s.keys {
		if k != 0 {
			l.keys[l.find(k)] = k
		}
	}
	return l
}

// index numbers hashes in the order in which they come: 4 bytes a place, at
// most one of two places taken. Whoever asks keeps the hashes.
type index struct {
	places []uint32 // a number and one; 0: free
}

func newIndex() *index { return &index{make([]uint32, smallest)} }

// add returns the number of a hash, and whether it is new and thus the next
// one. hashes are those before.
func (x *index) add(hash uint64, hashes []uint64) (number uint32, isNew bool) {
	if len(hashes) >= len(x.places)/2 {
		x.places = make([]uint32, 2*len(x.places))
		for i, h := range hashes {
			x.places[x.find(h, hashes)] = uint32(i) + 1
		}
	}
	i := x.find(hash, hashes)
	if n := x.places[i]; n != 0 {
		return n - 1, false
	}
	x.places[i] = uint32(len(hashes)) + 1
	return uint32(len(hashes)), true
}

func (x *index) find(hash uint64, hashes []uint64) int {
	mask := uint64(len(x.places) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if n := x.places[i]; n == 0 || hashes[n-1] == hash {
			return int(i)
		}
	}
}
