package personal

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
)

// ErrUnknown is for a subscription or a secret that nobody has.
var ErrUnknown = errors.New("there is no such subscription")

// ErrTooMany refuses a subscription beyond the bound.
var ErrTooMany = fmt.Errorf("this peer keeps %d subscriptions already", MaxSubscriptions)

// Subscription is one reader's personal feed.
type Subscription struct {
	ID      string // names it to its owner
	Secret  string // opens it to whoever has it: part of its address
	Query   feedring.Query
	Stem    bool // words are met by other forms of them, in the language of an entry
	Created time.Time
}

type subscription struct {
	id, secret string
	key        secretKey // of the secret
	interest   *interest
	words      string // as they were typed
	created    int64  // Unix milliseconds
	adopted    bool
}

// secretKey is the hash by which a secret is found: how long a look takes then
// says nothing of how much of it was right.
type secretKey [16]byte

func keyOfSecret(secret string) secretKey {
	sum := sha256.Sum256([]byte("feedring personal feed\x00" + secret))
	return secretKey(sum[:16])
}

// random returns so many random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // documented never to fail
	return b
}

func (s *subscription) public() Subscription {
	q := s.interest.query()
	q.Words = s.words
	return Subscription{ID: s.id, Secret: s.secret, Query: q, Stem: s.interest.stem, Created: time.UnixMilli(s.created).UTC().Truncate(time.Second)}
}

// Subscribe makes a personal feed and returns when it is on disk. Its list may
// then still be on its way: it is waited for, but not for long. It fails with a
// *match.SyntaxError, or as the store's Write does.
func (r *Reflector) Subscribe(ctx context.Context, q feedring.Query, stem bool) (Subscription, error) {
	asked, expr, err := canonical(q)
	if err != nil {
		return Subscription{}, err
	}
	secret := base64.RawURLEncoding.EncodeToString(random(18))
	s := &subscription{id: hex.EncodeToString(random(8)), secret: secret, key: keyOfSecret(secret), words: q.Words, created: time.Now().UnixMilli()}
	r.changing.Lock()
	s.created = max(s.created, r.created+1) // so that the list keeps the order in which they were made
	if r.byID.Len() >= r.most {
		r.changing.Unlock()
		return Subscription{}, ErrTooMany
	}
	if r.byID.Len() == 0 && len(r.left) == 0 { // what a list that was left holds may have been taken back since
		r.catchUp()
	}
	in := r.interestFor(newInterest(asked, expr, stem, false))
	s.interest = in
	r.created = s.created
	in.owners++
	ticket := r.writing.put(rows.Subscriptions+s.id, rows.Encode(rows.SubscriptionRow{
		Secret: s.secret, Interest: in.number, Words: s.words, Created: time.UnixMilli(s.created).UTC(),
	}))
	r.changing.Unlock()
	if err := r.writing.wait(ctx, ticket); err != nil {
		r.changing.Lock()
		defer r.changing.Unlock()
		r.writing.put(rows.Subscriptions+s.id, nil)
		r.leave(in)
		return Subscription{}, err
	}
	r.changing.Lock()
	r.list(s)
	r.changing.Unlock()
	signal(r.changed)
	r.await(ctx, in)
	return s.public(), nil
}

// catchUp takes all that is stored as shown: while nobody subscribes nothing is
// given.
func (r *Reflector) catchUp() {
	for _, h := range r.cfg.Store.Heads() {
		n := r.feedOf(h.Ref, h.Theme, h.Private)
		if f := &r.feeds[n]; h.Last.Compare(f.at) > 0 {
			f.at, f.dirty = h.Last, true
		}
	}
}

// interestFor returns the interest that asks what fresh does.
func (r *Reflector) interestFor(fresh *interest) *interest {
	if in := r.interests.Get(fresh.key); in != nil {
		return in
	}
	r.newest++
	now := time.Now().Unix()
	fresh.number, fresh.modified, fresh.filled, fresh.done = r.newest, now, now, make(chan struct{})
	r.setDue(fresh)
	r.writeInterest(fresh)
	r.mu.Lock()
	r.interests.Put(fresh)
	r.mu.Unlock()
	r.matcher.add(fresh)
	return fresh
}

// list makes a subscription known.
func (r *Reflector) list(s *subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.words == s.interest.words {
		s.words = s.interest.words // one string is kept for both
	}
	if !s.adopted { // by the clock of another peer
		r.created = max(r.created, s.created)
	}
	r.byID.Put(s)
	r.bySecret.Put(s)
	if s.adopted {
		r.adopted++
	}
	r.count(s, 1)
}

// leave takes one owner from an interest.
func (r *Reflector) leave(in *interest) {
	if in.owners--; in.owners == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.interests.Delete(in.key)
		r.undue(in)
		r.matcher.remove(in)
		r.end(in)
	}
}

// end forgets an interest that nobody has, and what only it held.
func (r *Reflector) end(in *interest) {
	r.writing.put(rows.Interest(in.number), nil)
	for _, s := range in.items {
		r.release(s)
	}
	r.listed -= len(in.items)
	in.items = nil
}

// Unsubscribe revokes a personal feed at once and returns when that is on disk.
// It fails with ErrUnknown, also for an adopted one, or as the store's Write does; then
// it is tried again.
func (r *Reflector) Unsubscribe(ctx context.Context, id string) error {
	r.changing.Lock()
	s := r.byID.Get(id)
	if s == nil || s.adopted {
		r.changing.Unlock()
		return ErrUnknown
	}
	if r.unlist(s) {
		r.cfg.Peer.Changed(s.secret)
	}
	ticket := r.writing.put(rows.Subscriptions+id, nil)
	r.leave(s.interest)
	r.changing.Unlock()
	signal(r.changed)
	return r.writing.wait(ctx, ticket)
}

// Interests counts what is asked: subscriptions that ask the same are one.
func (r *Reflector) Interests() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.interests.Len()
}

// unlist makes a subscription unknown and reports whether it was watched.
func (r *Reflector) unlist(s *subscription) (watched bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.adopted {
		r.adopted--
	}
	r.count(s, -1)
	r.byID.Delete(s.id)
	r.bySecret.Delete(s.key)
	return r.unwatch(s)
}

// Subscriptions lists those that Subscribe made, the oldest first. If there are more than
// most, it lists so many after one id, by id, and next is the id to go on after; empty:
// nothing follows.
func (r *Reflector) Subscriptions(after string, most int) (page []Subscription, next string) {
	var listed []*subscription
	cut := func() {
		slices.SortFunc(listed, func(a, b *subscription) int { return cmp.Compare(a.id, b.id) })
		if len(listed) > most {
			listed, next = listed[:most], listed[most-1].id
		}
	}
	r.mu.RLock()
	for s := range r.byID.All() {
		if s.adopted || s.id <= after || next != "" && s.id > next {
			continue
		}
		if listed = append(listed, s); len(listed) >= 2*most {
			cut()
		}
	}
	r.mu.RUnlock()
	cut()
	if after == "" && next == "" {
		slices.SortFunc(listed, func(a, b *subscription) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
		})
	}
	page = make([]Subscription, len(listed))
	for i, s := range listed {
		page[i] = s.public()
	}
	return page, next
}

// scope is which feeds a subscription reads as a whole.
type scope struct {
	theme    feedring.Theme // empty: all
	provider string         // as a query names it; empty: all
	public   bool           // without private feeds
}

// count keeps the count. Who searches all feeds of a theme for words reads none
// of them.
func (r *Reflector) count(s *subscription, change int) {
	q := &s.interest.question
	if q.words != "" && q.provider == "" {
		return
	}
	key := scope{q.theme, strings.ToLower(q.provider), s.adopted}
	if r.reads[key] += change; r.reads[key] == 0 {
		delete(r.reads, key)
	}
}

// Readers is how many personal feeds read a feed of a theme and provider; without
// a theme it is a private one.
func (r *Reflector) Readers(theme feedring.Theme, provider feedring.Provider) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sum := r.asking(theme, "")
	if provider == "" {
		return sum
	}
	labels := strings.Split(strings.ToLower(string(provider)), ".")
	for from := range labels {
		for to := from + 1; to <= len(labels); to++ {
			sum += r.asking(theme, strings.Join(labels[from:to], "."))
		}
	}
	return sum
}

// asking is how many ask for a theme, or for all of them, and for a provider by this
// name.
func (r *Reflector) asking(theme feedring.Theme, provider string) int {
	sum := r.reads[scope{theme, provider, false}]
	if theme != "" {
		sum += r.reads[scope{"", provider, false}] + r.reads[scope{theme, provider, true}] + r.reads[scope{"", provider, true}]
	}
	return sum
}
