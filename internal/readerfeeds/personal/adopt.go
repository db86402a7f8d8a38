package personal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
)

// Adopted is a personal feed that others keep, too: peers of one fleet. It shows no
// entries of private feeds, and shares its list with no subscription that may.
type Adopted struct {
	ID      string // not empty, of no other personal feed
	Secret  string
	Query   feedring.Query
	Stem    bool
	Created time.Time
}

// Adopt opens personal feeds, and returns when that is on disk. Their lists are filled
// behind the caller's back. One that is open stays as it is, or asks for what it now
// says. Those that cannot be opened are passed over: their errors wrap a
// *match.SyntaxError, ErrTooMany or ErrTaken, and any other is that of the store's
// Write, which is tried again then.
func (r *Reflector) Adopt(ctx context.Context, all ...Adopted) error {
	var passed []error
	ticket := uint64(0)
	r.changing.Lock()
	for i := range all {
		at, err := r.adopt(&all[i])
		if err != nil {
			passed = append(passed, fmt.Errorf("personal feed %s: %w", all[i].ID, err))
		}
		ticket = max(ticket, at)
	}
	r.changing.Unlock()
	signal(r.changed)
	if ticket > 0 {
		passed = append(passed, r.writing.wait(ctx, ticket))
	}
	return errors.Join(passed...)
}

// ErrTaken refuses to adopt a personal feed whose id or secret another has.
var ErrTaken = errors.New("another personal feed has its id or its secret")

// adopt opens one, and returns what to wait for; 0: nothing.
func (r *Reflector) adopt(a *Adopted) (ticket uint64, err error) {
	old, key := r.byID.Get(a.ID), keyOfSecret(a.Secret)
	if by := r.bySecret.Get(key); by != old || old != nil && !old.adopted || a.ID == "" {
		return 0, ErrTaken
	}
	if old != nil && old.says(a) {
		return 0, nil
	}
	q, expr, err := canonical(a.Query)
	if err != nil {
		return 0, err
	}
	fresh := newInterest(q, expr, a.Stem, true)
	fresh.pending = true
	s := &subscription{id: a.ID, secret: a.Secret, key: key, words: a.Query.Words, created: a.Created.UnixMilli(), adopted: true}
	switch {
	case old == nil && r.byID.Len() >= r.most:
		return 0, ErrTooMany
	case r.byID.Len() == 0:
		r.catchUp()
	}
	s.interest = r.interestFor(fresh)
	s.interest.owners++
	if old != nil {
		r.unlist(old)
		r.leave(old.interest)
	}
	r.list(s)
	return r.writing.put(rows.Subscriptions+s.id, rows.Encode(rows.SubscriptionRow{
		Secret: s.secret, Interest: s.interest.number, Words: s.words, Created: time.UnixMilli(s.created).UTC(), Adopted: true,
	})), nil
}

// says reports whether a personal feed that is open is as an adopted one says. After a
// restart all are, and their words need not be read again.
func (s *subscription) says(a *Adopted) bool {
	q := a.Query
	bound(&q)
	q.Words = s.interest.words
	return q == s.interest.query() && s.interest.stem == a.Stem && s.words == a.Query.Words && s.created == a.Created.UnixMilli()
}

// Forget closes adopted personal feeds and drops their lists; nobody is told. It returns
// when that is on disk. Those that are not open are passed over. It fails as the store's
// Write does; then it is tried again.
func (r *Reflector) Forget(ctx context.Context, ids ...string) error {
	ticket := uint64(0)
	r.changing.Lock()
	for _, id := range ids {
		s := r.byID.Get(id)
		if s == nil || !s.adopted {
			continue
		}
		r.unlist(s)
		ticket = r.writing.put(rows.Subscriptions+id, nil)
		r.leave(s.interest)
	}
	r.changing.Unlock()
	if ticket == 0 {
		return nil
	}
	signal(r.changed)
	return r.writing.wait(ctx, ticket)
}

// Adopted gives the ids of all adopted personal feeds, in no order.
func (r *Reflector) Adopted() iter.Seq[string] {
	r.mu.RLock()
	ids := make([]string, 0, r.adopted)
	for s := range r.byID.All() {
		if s.adopted {
			ids = append(ids, s.id)
		}
	}
	r.mu.RUnlock()
	return slices.Values(ids)
}

// Holds reports whether a personal feed is adopted here.
func (r *Reflector) Holds(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.byID.Get(id)
	return s != nil && s.adopted
}

// Wait waits until the list of an adopted personal feed was filled once, which comes
// before all that nobody waits for, though not for long. It reports whether it was.
func (r *Reflector) Wait(ctx context.Context, id string) bool {
	r.mu.RLock()
	s := r.byID.Get(id)
	waits := s != nil && s.interest.pending
	r.mu.RUnlock()
	if !waits {
		return s != nil
	}
	r.await(ctx, s.interest)
	r.mu.RLock()
	defer r.mu.RUnlock()
	return !s.interest.pending
}
