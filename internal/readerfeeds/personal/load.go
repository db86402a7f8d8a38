package personal

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// loading is what only reading the disk needs.
type loading struct {
	*Reflector
	entries   map[uint64]slot
	interests map[uint32]*interest
	owned     []*interest // those that somebody has
	damaged   int
}

// load reads all rows but copies, in the order in which one needs the other.
func (r *Reflector) load() error {
	l := &loading{Reflector: r, entries: make(map[uint64]slot), interests: make(map[uint32]*interest)}
	for _, kind := range []struct {
		prefix string
		take   func(key string, value []byte) bool
	}{
		{rows.Feeds, l.feed}, {rows.Entries, l.entry}, {rows.Interests, l.interest}, {rows.Journal, l.given}, {rows.Subscriptions, l.subscription},
	} {
		for record, err := range r.cfg.Store.ListPrefix(store.BucketSubscription, kind.prefix) {
			if err != nil {
				return fmt.Errorf("personal feeds: %w", err)
			}
			if !kind.take(record.Key, record.Value) {
				l.damaged++
			}
		}
	}
	l.finish()
	if l.damaged > 0 {
		r.cfg.Log.Warn("personal feeds: rows that cannot be read are passed over", "rows", l.damaged)
	}
	return nil
}

func (l *loading) feed(key string, value []byte) bool {
	n, ok := rows.Number[uint32](rows.Feeds, key)
	var row rows.FeedRow
	if !ok || json.Unmarshal(value, &row) != nil || n > 1<<24 {
		return false
	}
	for uint32(len(l.feeds)) <= n {
		l.feeds = append(l.feeds, feed{})
	}
	l.feeds[n] = feed{
		ref: feedring.FeedRef{URL: row.URL, Publisher: row.Publisher}, theme: row.Theme, private: row.Private,
		at: feedring.Position{Epoch: row.Epoch, Sequence: row.Sequence},
	}
	l.byRef[l.feeds[n].ref] = n
	return true
}

func (l *loading) entry(key string, value []byte) bool {
	n, ok := rows.Number[uint64](rows.Entries, key)
	var row rows.EntryRow
	if !ok || json.Unmarshal(value, &row) != nil || len(row.ID) != len(identity{}) || int(row.Feed) >= len(l.feeds) {
		return false
	}
	var base identity
	copy(base[:], row.Base)
	l.entries[n] = l.table.add(held{
		base: base, story: row.Story, number: n, id: identity(row.ID), at: feedring.Position{Epoch: row.Epoch, Sequence: row.Sequence}, version: row.Version,
		changed: row.Changed, link: row.Link, content: row.Content, origin: row.Origin, feed: row.Feed, size: row.Size,
		short: row.Short, given: row.Given, claim: row.Claim, sure: row.Authoritative, retracted: row.Taken, kept: true,
		published: row.Published, news: row.News,
	})
	l.last = max(l.last, n)
	return true
}

func (l *loading) interest(key string, value []byte) bool {
	n, ok := rows.Number[uint32](rows.Interests, key)
	var row rows.InterestRow
	if !ok || json.Unmarshal(value, &row) != nil {
		return false
	}
	q, expr, err := canonical(feedring.Query{
		Theme: row.Theme, Provider: row.Provider, Words: row.Words, Since: row.Since, Until: row.Until, Limit: row.Limit,
	})
	if err != nil {
		return false
	}
	in := newInterest(q, expr, row.Stem, row.Public)
	in.number, in.modified, in.filled, in.attempts, in.through = n, row.Modified, row.Filled, int32(row.Attempts), row.Through
	for _, number := range row.Items.Numbers() {
		if s, ok := l.entries[number]; ok {
			l.put(in, s, 0, false)
		}
	}
	in.changed = false
	l.interests[n] = in
	l.newest, l.serial = max(l.newest, n), max(l.serial, row.Through)
	return true
}

// given gives an entry again to the lists whose rows are older.
func (l *loading) given(key string, value []byte) bool {
	serial, ok := rows.Number[uint64](rows.Journal, key)
	j, whole := rows.DecodeJournaled(value)
	if !ok || !whole {
		return false
	}
	if l.journal == 0 {
		l.emptied = serial - 1
	}
	l.serial = max(l.serial, serial)
	l.journal += len(value)
	if int(j.Feed) < len(l.feeds) && j.Through.Compare(l.feeds[j.Feed].at) > 0 {
		l.feeds[j.Feed].at, l.feeds[j.Feed].dirty = j.Through, true
	}
	s, ok := l.entries[j.Entry]
	if !ok {
		return true // it fell off all lists since
	}
	for _, n := range j.Given {
		if in := l.interests[n]; in != nil && in.through < serial && (!j.History || l.fits(in, s, j.Now)) {
			l.put(in, s, j.Now, j.History)
		}
	}
	return true
}

func (l *loading) subscription(key string, value []byte) bool {
	var row rows.SubscriptionRow
	if json.Unmarshal(value, &row) != nil || row.Secret == "" {
		return false
	}
	in := l.interests[row.Interest]
	if in == nil || in.public != row.Adopted {
		return false
	}
	left := row.Adopted && !l.cfg.Fleet
	switch {
	case in.owners > 0:
	case left:
		l.setAside(in)
	default:
		l.open(in)
	}
	if in.owners++; left {
		return true
	}
	l.list(&subscription{
		id: strings.TrimPrefix(key, rows.Subscriptions), secret: row.Secret, key: keyOfSecret(row.Secret), interest: in, words: row.Words, created: row.Created.UnixMilli(), adopted: row.Adopted,
	})
	return true
}

// open has an interest given entries.
func (l *loading) open(in *interest) {
	l.Reflector.interests.Put(in)
	l.owned = append(l.owned, in)
	if in.attempts == 0 {
		l.due[in] = true
		if in.public {
			in.pending, in.done = true, make(chan struct{})
		}
	}
}

// setAside keeps an interest of a fleet that this peer has left, and its list, and gives it
// nothing. Feeds go on for other lists, so it is filled again before it is shown again.
func (l *loading) setAside(in *interest) {
	l.left = append(l.left, in)
	l.matcher.public++ // else a private copy would take the place of an entry that its list holds
	in.expr = nil
	if in.attempts > 0 || in.changed { // the journal, which is emptied later, has a part of its list
		in.attempts, in.filled = 0, 0
		l.writeInterest(in)
	}
}

// finish removes what a crash left: interests of nobody, entries on no list.
func (l *loading) finish() {
	l.matcher.addAll(l.owned)
	l.emptied = max(l.emptied, 0)
	if l.journal == 0 {
		l.emptied = l.serial
	}
	for _, in := range l.interests {
		if in.owners == 0 {
			l.end(in)
		}
	}
	for _, s := range l.entries {
		h := &l.table.all[s]
		if h.uses == 0 && h.number != 0 {
			l.drop(h)
			l.table.forget(s)
		}
	}
}
