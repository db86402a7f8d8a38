package personal

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// State tells what a personal feed shows without reading it.
type State struct {
	Subscription
	Adopted  bool      // others keep it, too
	Version  uint64    // of what it shows: the same after a restart
	Modified time.Time // when that last changed, whole seconds
}

// Feed is what a personal feed shows.
type Feed struct {
	State
	Entries []feedring.Entry // in the order in which they were given, newest first
}

// State looks a secret up. It reads no disk. An adopted one is not found before its
// list was filled for the first time: see Wait.
func (r *Reflector) State(secret string) (State, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.bySecret.Get(keyOfSecret(secret))
	if s == nil || s.interest.pending {
		return State{}, false
	}
	s.interest.poll(time.Now().Unix())
	return r.state(s), true
}

func (r *Reflector) state(s *subscription) State {
	h, modified := fnv.New64a(), s.interest.modified
	row := make([]byte, 0, 28)
	r.refs.RLock()
	defer r.refs.RUnlock()
	for _, slot := range s.interest.items {
		e := &r.table.all[slot]
		if !r.shows(s.interest, e) {
			continue
		}
		version := uint64(e.version) << 1
		if e.short {
			version++
		}
		row = binary.LittleEndian.AppendUint64(append(row[:0], e.id[:]...), version)
		row = binary.LittleEndian.AppendUint32(row, e.feed)
		_, _ = h.Write(row) // documented never to fail
		modified = max(modified, e.changed)
	}
	return State{Subscription: s.public(), Adopted: s.adopted, Version: h.Sum64(), Modified: time.Unix(modified, 0).UTC()}
}

// Feed reads a personal feed: its state, and the entries of that very state.
// It fails with ErrUnknown. An entry that cannot be read any more is left out.
func (r *Reflector) Feed(ctx context.Context, secret string) (Feed, error) {
	r.mu.RLock()
	s := r.bySecret.Get(keyOfSecret(secret))
	if s == nil || s.interest.pending {
		r.mu.RUnlock()
		return Feed{}, ErrUnknown
	}
	f := Feed{State: r.state(s)}
	list, public := make([]held, 0, len(s.interest.items)), s.interest.public
	r.refs.RLock()
	for _, slot := range s.interest.items {
		if h := &r.table.all[slot]; !h.retracted && r.shows(s.interest, h) {
			list = append(list, *h)
		}
	}
	refs := make([]feedring.FeedRef, len(list))
	for i := range list {
		refs[i] = r.feeds[list[i].feed].ref
	}
	r.refs.RUnlock()
	r.mu.RUnlock()
	room := maxShownBytes
	for i := len(list) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		e, err := r.read(&list[i], refs[i])
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return f, err
		case public && e.Theme == "":
			continue
		}
		if room -= len(e.ContentHTML); room < 0 {
			rows.Shorten(e)
		}
		f.Entries = append(f.Entries, *e)
	}
	return f, nil
}

// shows reports whether an interest may show an entry: its feed may have become private
// since it was given. The caller holds refs.
func (r *Reflector) shows(in *interest, h *held) bool { return !in.public || !r.feeds[h.feed].private }

// read reads an entry: of this peer's own feeds from the store, of others' the
// copy.
func (r *Reflector) read(h *held, ref feedring.FeedRef) (*feedring.Entry, error) {
	if ref.Publisher != r.cfg.Self {
		e, err := r.copied(h.number)
		if err == nil {
			r.cfg.Peer.Attribute(e)
		}
		return e, err
	}
	it, err := r.cfg.Store.Get(ref, h.at)
	if err != nil {
		return nil, err
	}
	return r.cfg.Peer.Open(&it)
}

// copied reads the copy of an entry, which may not be on disk yet.
func (r *Reflector) copied(number uint64) (*feedring.Entry, error) {
	value, ok := r.writing.row(rows.Copy(number))
	if !ok {
		var err error
		if value, err = r.cfg.Store.Value(store.BucketSubscription, rows.Copy(number)); err != nil {
			return nil, err
		}
	}
	if value == nil {
		return nil, store.ErrNotFound // it is being removed
	}
	var e feedring.Entry
	if err := json.Unmarshal(value, &e); err != nil {
		return nil, store.ErrNotFound
	}
	return &e, nil
}

// Withdraw takes the entries of a private feed off all lists: it is not one of
// this peer's any more.
func (r *Reflector) Withdraw(url string) {
	r.changing.Lock()
	defer r.changing.Unlock()
	n, ok := r.byRef[feedring.FeedRef{URL: url, Publisher: r.cfg.Self}]
	if !ok || !r.feeds[n].private {
		return
	}
	now := time.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	for in := range r.interests.All() {
		if r.take(in, func(h *held) bool { return h.feed == n }) {
			in.modified = max(now, in.modified)
			r.writeInterest(in)
		}
	}
}

// take takes entries off a list and reports whether there were any.
func (r *Reflector) take(in *interest, off func(*held) bool) bool {
	is := func(s slot) bool { return off(&r.table.all[s]) }
	if !slices.ContainsFunc(in.items, is) {
		return false
	}
	before := in.items
	in.items, in.changed = slices.DeleteFunc(slices.Clone(before), is), true
	r.notify(in)
	r.listed -= len(before) - len(in.items)
	for _, s := range before {
		if is(s) {
			r.release(s)
		}
	}
	return true
}

// Watch says whether Peer.Changed is called for a personal feed. A secret that
// opens nothing is not watched.
func (r *Reflector) Watch(secret string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.bySecret.Get(keyOfSecret(secret))
	if s == nil {
		return
	}
	r.unwatch(s)
	if on {
		r.watched[s.interest] = append(r.watched[s.interest], secret)
	}
}

// unwatch reports whether a personal feed was watched.
func (r *Reflector) unwatch(s *subscription) bool {
	secrets := r.watched[s.interest]
	left := slices.DeleteFunc(slices.Clone(secrets), func(other string) bool { return other == s.secret })
	if r.watched[s.interest] = left; len(left) == 0 {
		delete(r.watched, s.interest)
	}
	return len(left) < len(secrets)
}

// notify says that a list shows something else.
func (r *Reflector) notify(in *interest) {
	for _, secret := range r.watched[in] {
		r.cfg.Peer.Changed(secret)
	}
}

// notifyAll says that an entry looks otherwise on the lists that hold it.
func (r *Reflector) notifyAll(s slot) {
	for in, secrets := range r.watched {
		if slices.Contains(in.items, s) {
			for _, secret := range secrets {
				r.cfg.Peer.Changed(secret)
			}
		}
	}
}
