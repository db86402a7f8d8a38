package ledger

import (
	"container/heap"
	"slices"
	"time"
)

// host is where callbacks are.
type host struct {
	name    string
	queue   []*sub // due, in their order
	running int
	subs    int
	dubious bool // it answered badly or late the last time
	listed  bool // in Ledger.clean or Ledger.dubious
}

// run is a delivery under way.
type run struct {
	sub   *sub
	began time.Time
	slow  bool // counts as doubtful
}

// runs are the deliveries under way, the oldest first.
type runs struct {
	all  []*run
	slow int
}

// Delivery is one subscriber's turn. The caller reports how it went by Done,
// once.
type Delivery struct {
	Key Key
	Subscription
	run *run
}

func (l *Ledger) host(name string) *host {
	h := l.hosts[name]
	if h == nil {
		h = &host{name: name}
		l.hosts[name] = h
	}
	return h
}

// tidy forgets a host of which nothing is known that matters.
func (l *Ledger) tidy(h *host) {
	if h.subs == 0 && h.running == 0 && len(h.queue) == 0 && !h.listed {
		delete(l.hosts, h.name)
	}
}

// Next hands out a delivery that may begin now.
func (l *Ledger) Next(now time.Time) (Delivery, bool) {
	l.age(now)
	for len(l.waiting) > 0 && !l.waiting[0].due.After(now) {
		s := heap.Pop(&l.waiting).(*sub)
		s.state = queued
		s.host.queue = append(s.host.queue, s)
		l.offer(s.host)
	}
	if len(l.running.all) >= allAtOnce {
		return Delivery{}, false
	}
	if len(l.running.all)-l.running.slow < AtOnce {
		if s := l.take(&l.clean); s != nil {
			return l.begin(now, s), true
		}
	}
	if l.running.slow < doubtful {
		if s := l.take(&l.dubious); s != nil {
			return l.begin(now, s), true
		}
	}
	return Delivery{}, false
}

// take returns the first subscription of the first host in a list.
func (l *Ledger) take(hosts *[]*host) *sub {
	for len(*hosts) > 0 {
		h := (*hosts)[0]
		(*hosts)[0] = nil
		*hosts = (*hosts)[1:]
		h.listed = false
		if len(h.queue) > 0 {
			s := h.queue[0]
			h.queue[0] = nil
			h.queue = h.queue[1:]
			return s
		}
		l.tidy(h)
	}
	return nil
}

func (l *Ledger) begin(now time.Time, s *sub) Delivery {
	r := &run{sub: s, began: now, slow: s.host.dubious}
	s.state, s.again = running, false
	s.host.running++
	if l.running.all = append(l.running.all, r); r.slow {
		l.running.slow++
	}
	l.offer(s.host)
	return Delivery{Key: s.key, Subscription: s.told(), run: r}
}

// offer lists a host that has something due and a place for it. The lists are
// turns: each host gets one delivery, then the next host.
func (l *Ledger) offer(h *host) {
	most, list := atHost, &l.clean
	if h.dubious {
		most, list = atDoubtful, &l.dubious
	}
	if !h.listed && len(h.queue) > 0 && h.running < most {
		h.listed = true
		*list = append(*list, h)
	}
}

// age takes the places of slow deliveries from those that are not.
func (l *Ledger) age(now time.Time) {
	for _, r := range l.running.all {
		if now.Sub(r.began) < Patience {
			return
		}
		if !r.slow {
			r.slow = true
			l.running.slow++
			l.markDubious(r.sub.host, true)
		}
	}
}

// markDubious moves a host between the lists.
func (l *Ledger) markDubious(h *host, dubious bool) {
	if h.dubious == dubious {
		return
	}
	if h.listed {
		for _, list := range []*[]*host{&l.clean, &l.dubious} {
			*list = slices.DeleteFunc(*list, func(other *host) bool { return other == h })
		}
		h.listed = false
	}
	h.dubious = dubious
	l.offer(h)
}

// unqueue takes a subscription out of what waits.
func (l *Ledger) unqueue(s *sub) {
	switch s.state {
	case waits:
		heap.Remove(&l.waiting, int(s.index))
	case queued:
		s.host.queue = slices.DeleteFunc(s.host.queue, func(other *sub) bool { return other == s })
	}
	if s.state != running {
		s.state = idle
	}
}

// Deadline is when Next may have something that it has not now; zero: only a
// change or a delivery's end can bring it.
func (l *Ledger) Deadline() (at time.Time) {
	if len(l.waiting) > 0 {
		at = l.waiting[0].due
	}
	for _, r := range l.running.all {
		if !r.slow {
			if slow := r.began.Add(Patience); at.IsZero() || slow.Before(at) {
				at = slow
			}
			break
		}
	}
	return at
}

// waiting is a container/heap by due.
type waiting []*sub

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].due.Before(w[j].due) }

func (w waiting) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = int32(i), int32(j)
}

// Push appends a *sub, as heap.Interface wants it.
func (w *waiting) Push(x any) {
	s := x.(*sub)
	s.index = int32(len(*w))
	*w = append(*w, s)
}

// Pop removes the last one.
func (w *waiting) Pop() any {
	last := len(*w) - 1
	s := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	s.index = -1
	return s
}
