package index

import "sync/atomic"

// live says which subscriptions are there. One goroutine changes it, any number
// look.
type live []uint64

func newLive(ids int) live { return make(live, (ids+63)/64) }

// has reports whether id is there. What is beyond the end is not.
func (l live) has(id ID) bool {
	i := int(id / 64)
	return i < len(l) && atomic.LoadUint64(&l[i])>>(id%64)&1 != 0
}

func (l live) set(id ID) { atomic.StoreUint64(&l[id/64], l[id/64]|1<<(id%64)) }

func (l live) clear(id ID) { atomic.StoreUint64(&l[id/64], l[id/64]&^(1<<(id%64))) }
