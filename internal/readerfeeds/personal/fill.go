package personal

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// await has an interest filled that never was, and waits for that, though not
// for long: the list goes on filling behind the caller's back.
func (r *Reflector) await(ctx context.Context, in *interest) {
	r.changing.Lock()
	done := in.done
	r.changing.Unlock()
	if done == nil {
		return
	}
	late := time.NewTimer(fillWait)
	defer late.Stop()
	select {
	case r.fills <- in:
	case <-late.C:
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-late.C:
	case <-ctx.Done():
	}
}

// Restore has the lists that private feeds come to filled again, soon: a feed
// that Withdraw took off them is this peer's again, and its log goes on behind
// what was given. It does not block.
func (r *Reflector) Restore() {
	r.changing.Lock()
	defer r.changing.Unlock()
	for in := range r.interests.All() {
		if in.theme != "" || in.public {
			continue
		}
		r.setDue(in)
		select {
		case r.fills <- in:
		default: // it is filled with the next that are due
		}
	}
}

// setDue notes that an interest is to be filled. The caller holds changing.
func (r *Reflector) setDue(in *interest) {
	r.due[in] = true
	signal(r.lacking)
}

// undue forgets that an interest is to be filled. The caller holds changing.
func (r *Reflector) undue(in *interest) {
	if delete(r.due, in); len(r.due) == 0 {
		r.due = make(map[*interest]bool) // one that had a million keeps its room
	}
}

// fillAll fills interests as they come, until ctx ends.
func (r *Reflector) fillAll(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, fillsAtOnce)
	begin := func(in *interest) bool {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		if !r.claim(in) {
			<-places
			return true
		}
		running.Go(func() {
			defer func() { <-places }()
			r.fill(ctx, in)
		})
		return true
	}
	again := time.NewTicker(fillAgain)
	defer again.Stop()
	for {
		var later <-chan time.Time
		if r.anyDue() {
			later = again.C
		}
		select {
		case <-ctx.Done():
			return
		case <-r.lacking:
		case in := <-r.fills:
			begin(in)
		case <-later:
			for _, in := range r.dueInterests() {
				for asked := true; asked; { // somebody waits for these
					select {
					case in := <-r.fills:
						begin(in)
					default:
						asked = false
					}
				}
				if !begin(in) {
					return
				}
			}
		}
	}
}

// dueInterests returns the interests whose lists may lack something.
func (r *Reflector) dueInterests() []*interest {
	r.changing.Lock()
	defer r.changing.Unlock()
	return slices.SortedFunc(maps.Keys(r.due), func(a, b *interest) int { return int(a.number) - int(b.number) })
}

func (r *Reflector) anyDue() bool {
	r.changing.Lock()
	defer r.changing.Unlock()
	return len(r.due) > 0
}

// claim claims an interest for one fill at a time.
func (r *Reflector) claim(in *interest) bool {
	r.changing.Lock()
	defer r.changing.Unlock()
	if in.busy || in.owners == 0 || !r.due[in] {
		return false
	}
	in.busy = true
	return true
}

// fill asks for the newest entries of an interest. An answer that is not whole
// is asked for again, some times.
func (r *Reflector) fill(ctx context.Context, in *interest) {
	r.changing.Lock()
	first := in.attempts == 0
	r.changing.Unlock()
	most := fillWithin
	if first {
		most = fillFirst
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began := time.Now().Unix()
	entries, whole, err := r.found(within, in)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.cfg.Log.Debug("personal feeds: a list was not filled", "err", err)
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	in.busy = false
	if in.owners == 0 {
		return
	}
	in.attempts++
	if whole && err == nil || in.attempts >= fillAttempts {
		r.undue(in)
	}
	r.enlist(in, entries, began)
	if in.done != nil {
		close(in.done)
		in.done = nil
	}
}

// found asks for the newest entries of an interest.
func (r *Reflector) found(ctx context.Context, in *interest) (entries []feedring.Entry, whole bool, err error) {
	private := in.theme == "" && !in.public
	q := in.query()
	if !in.stem {
		return r.cfg.Peer.Query(ctx, q, private)
	}
	q.Stem = true
	entries, whole, err = r.cfg.Peer.Query(ctx, q, private)
	return slices.DeleteFunc(entries, func(e feedring.Entry) bool { return !in.meets(&e) }), whole, err
}

// enlist puts the newest entries, which come newest first, into a list, each at
// its place by date: the first time below what came since as news, unless the list is one
// of a fleet that was left, whose news came before.
func (r *Reflector) enlist(in *interest, entries []feedring.Entry, began int64) {
	now := time.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	live, changed := slices.Clone(in.items), false
	for i := range slices.Backward(entries) { // the oldest first: each goes above those of the same second
		r.noteDelay(entries[i].Publisher, entries[i].Seen)
		if entries[i].Theme == "" && (in.public || !r.cfg.Peer.Listed(entries[i].Feed)) {
			continue // it was withdrawn since it was found
		}
		s := r.slotOf(&entries[i], asked{&entries[i]})
		if r.table.all[s].retracted || in.holds(r.table, s, r.table.shared(&r.table.all[s])) || !r.fits(in, s, now) {
			continue
		}
		r.keepOnce(s, &entries[i], r.table.all[s].news)
		r.put(in, s, now, true)
		changed = true
	}
	if in.attempts == 1 && in.filled > 0 {
		cameLive := func(s slot) bool { return r.table.all[s].news > 0 && slices.Contains(live, s) }
		above := slices.DeleteFunc(slices.Clone(in.items), func(s slot) bool { return !cameLive(s) })
		in.items = append(slices.DeleteFunc(in.items, cameLive), above...)
	}
	in.pending = false
	if in.filled > 0 || !r.due[in] {
		in.filled = began
	}
	if changed {
		r.notify(in)
	}
	r.writeInterest(in)
}
