package group

import (
	"time"

	"github.com/feedring/feedring"
)

// chime says what is due.
type chime uint8

const (
	chimeBeat      chime = iota + 1 // manager: beacons
	chimeDoubt                      // manager: the window for the secondary ends
	chimeSilence                    // member: the manager was silent for too long
	chimeObjection                  // member: the window of its own intention ends
	chimeJoin                       // the next Join
	chimeRow                        // tell the own row
	chimeFetch                      // poll ref
	chimePlace                      // a lookup waited long enough
	chimeKept                       // a place that no client took
	chimeVouch                      // look at sites
	chimeHouse                      // prune and expire
	chimeDepart                     // the hand-over took long enough
)

// ask names one attempt of a query.
type ask struct {
	id      feedring.QueryID
	attempt uint32
}

// bell identifies an alarm: there is at most one of each.
type bell struct {
	chime chime
	ref   feedring.FeedRef
	ask   ask
}

type alarm struct {
	at   time.Time
	turn uint64 // alarms of one instant go off in the order they were set
	bell bell
}

// timers is a binary heap of alarms with their places, so that an alarm can be
// moved: it holds no more alarms than there are things to wait for.
type timers struct {
	heap  []alarm
	place map[bell]int `state:"derived"` // of heap
	turn  uint64
}

// set makes b go off at at, instead of earlier appointments.
func (t *timers) set(b bell, at time.Time) {
	t.turn++
	if i, ok := t.place[b]; ok {
		t.heap[i].at, t.heap[i].turn = at, t.turn
		t.down(t.up(i))
		return
	}
	t.heap = append(t.heap, alarm{at: at, turn: t.turn, bell: b})
	t.place[b] = len(t.heap) - 1
	t.up(len(t.heap) - 1)
}

func (t *timers) isSet(b bell) bool {
	_, ok := t.place[b]
	return ok
}

func (t *timers) cancel(b bell) {
	i, ok := t.place[b]
	if !ok {
		return
	}
	last := len(t.heap) - 1
	t.swap(i, last)
	t.heap = t.heap[:last]
	delete(t.place, b)
	if i < last {
		t.down(t.up(i))
	}
}

// next returns when the first alarm is due; the zero time if there is none.
func (t *timers) next() time.Time {
	if len(t.heap) == 0 {
		return time.Time{}
	}
	return t.heap[0].at
}

// pop takes the first alarm if it is due at now.
func (t *timers) pop(now time.Time) (bell, bool) {
	if len(t.heap) == 0 || t.heap[0].at.After(now) {
		return bell{}, false
	}
	b := t.heap[0].bell
	t.cancel(b)
	return b, true
}

func (t *timers) less(i, j int) bool {
	if c := t.heap[i].at.Compare(t.heap[j].at); c != 0 {
		return c < 0
	}
	return t.heap[i].turn < t.heap[j].turn
}

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.place[t.heap[i].bell], t.place[t.heap[j].bell] = i, j
}

func (t *timers) up(i int) int {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (t *timers) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if t.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}

// at returns when b goes off; the zero time if it is not set.
func (t *timers) at(b bell) time.Time {
	if i, ok := t.place[b]; ok {
		return t.heap[i].at
	}
	return time.Time{}
}
