package sim

import "time"

// never is later than all that happens.
const never = time.Duration(1<<63 - 1)

// ticks knows when each node wants to be woken: a heap in which a node's place
// is known, so that its time can change.
type ticks struct {
	at    []time.Duration // by node
	heap  []int32
	place []int32 // by node
}

const fork = 4 // children of a place in the heap: fewer levels

func (t *ticks) add() {
	n := int32(len(t.at))
	t.at = append(t.at, never)
	t.place = append(t.place, n)
	t.heap = append(t.heap, n)
}

// next returns the node that is due first, and when.
func (t *ticks) next() (node int32, at time.Duration) {
	if len(t.heap) == 0 {
		return -1, never
	}
	return t.heap[0], t.at[t.heap[0]]
}

func (t *ticks) less(a, b int32) bool { return t.at[a] < t.at[b] || t.at[a] == t.at[b] && a < b }

func (t *ticks) set(node int32, at time.Duration) {
	was := t.at[node]
	if at == was {
		return
	}
	t.at[node] = at
	if at < was {
		t.up(int(t.place[node]))
	} else {
		t.down(int(t.place[node]))
	}
}

func (t *ticks) put(i int, node int32) { t.heap[i], t.place[node] = node, int32(i) }

func (t *ticks) up(i int) {
	node := t.heap[i]
	for i > 0 {
		parent := (i - 1) / fork
		if !t.less(node, t.heap[parent]) {
			break
		}
		t.put(i, t.heap[parent])
		i = parent
	}
	t.put(i, node)
}

func (t *ticks) down(i int) {
	node := t.heap[i]
	for {
		first := i*fork + 1
		if first >= len(t.heap) {
			break
		}
		least := first
		for c := first + 1; c < min(first+fork, len(t.heap)); c++ {
			if t.less(t.heap[c], t.heap[least]) {
				least = c
			}
		}
		if !t.less(t.heap[least], node) {
			break
		}
		t.put(i, t.heap[least])
		i = least
	}
	t.put(i, node)
}
