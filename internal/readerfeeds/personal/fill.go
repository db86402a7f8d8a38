package personal

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// await has an interest filled that never was, and waits for that, though not
// for long: the list goes on filling behind the caller's back.
func (r *Room) await(ctx context.Context, in *interest) {
	r.giving.Lock()
	done := in.done
	r.giving.Unlock()
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
func (r *Room) Restore() {
	r.giving.Lock()
	defer r.giving.Unlock()
	for _, in := range r.interests {
		if in.query.Theme != "" {
			continue
		}
		r.due[in] = true
		select {
		case r.fills <- in:
		default: // it is filled with the next that are due
		}
	}
}

// fillAll fills interests as they come, until ctx ends.
func (r *Room) fillAll(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, fillsAtOnce)
	again := time.NewTicker(fillAgain)
	defer again.Stop()
	for {
		var due []*interest
		select {
		case <-ctx.Done():
			return
		case in := <-r.fills:
			due = append(due, in)
		case <-again.C:
			due = r.hungry()
		}
		for _, in := range due {
			if !r.begin(in) {
				continue
			}
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			running.Go(func() {
				defer func() { <-places }()
				r.fill(ctx, in)
			})
		}
	}
}

// hungry returns the interests whose lists may lack something.
func (r *Room) hungry() (due []*interest) {
	r.giving.Lock()
	defer r.giving.Unlock()
	for in := range r.due {
		due = append(due, in)
	}
	slices.SortFunc(due, func(a, b *interest) int { return int(a.number) - int(b.number) })
	return due
}

// begin claims an interest for one fill at a time.
func (r *Room) begin(in *interest) bool {
	r.giving.Lock()
	defer r.giving.Unlock()
	if in.busy || in.owners == 0 || !r.due[in] {
		return false
	}
	in.busy = true
	return true
}

// fill asks for the newest entries of an interest. An answer that is not whole
// is asked for again, some times.
func (r *Room) fill(ctx context.Context, in *interest) {
	within, cancel := context.WithTimeout(ctx, fillWithin)
	defer cancel()
	began := time.Now().Unix()
	entries, whole, err := r.found(within, in)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.cfg.Log.Debug("personal feeds: a list was not filled", "err", err)
	}
	r.giving.Lock()
	defer r.giving.Unlock()
	in.busy = false
	if in.owners == 0 {
		return
	}
	in.attempts++
	if whole && err == nil || in.attempts >= fillAttempts {
		delete(r.due, in)
	}
	r.enlist(in, entries, began)
	if in.done != nil {
		close(in.done)
		in.done = nil
	}
}

// found asks for the newest entries of an interest.
func (r *Room) found(ctx context.Context, in *interest) (entries []feedring.Entry, whole bool, err error) {
	if !in.stem {
		return r.cfg.Network.Query(ctx, in.query)
	}
	q := in.query
	q.Stem = true
	entries, whole, err = r.cfg.Network.Query(ctx, q)
	return slices.DeleteFunc(entries, func(e feedring.Entry) bool { return !in.meets(&e) }), whole, err
}

// enlist puts the newest entries, which come newest first, into a list, each at
// its place by date: the first time below what came since as news.
func (r *Room) enlist(in *interest, entries []feedring.Entry, began int64) {
	now := time.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	live, changed := slices.Clone(in.items), false
	for i := range slices.Backward(entries) { // the oldest first: each goes above those of the same second
		if entries[i].Theme == "" && !r.cfg.Listed(entries[i].Feed) {
			continue // it was withdrawn since it was found
		}
		s := r.slotOf(&entries[i])
		if r.table.all[s].taken || in.holds(r.table, s, r.table.shared(&r.table.all[s])) || !r.fits(in, s, now) {
			continue
		}
		r.keepOnce(s, &entries[i])
		r.put(in, s, now, true)
		changed = true
	}
	if in.attempts == 1 {
		cameLive := func(s slot) bool { return r.table.all[s].news > 0 && slices.Contains(live, s) }
		above := slices.DeleteFunc(slices.Clone(in.items), func(s slot) bool { return !cameLive(s) })
		in.items = append(slices.DeleteFunc(in.items, cameLive), above...)
	}
	if in.filled = began; changed {
		r.tell(in)
	}
	r.writeInterest(in)
}
