package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// Privacy says what a search does with the entries of private feeds.
type Privacy uint8

// The ways of a search with private feeds.
const (
	PublicOnly Privacy = iota
	PublicAndPrivate
	PrivateOnly
)

// Cursor is where the next page of a search begins; empty: at its start, or,
// as an answer, there is no further page. Callers only hand it back.
type Cursor string

// Search says which entries are asked for. The zero value asks for the newest
// public ones.
type Search struct {
	Theme    feedring.Theme     // empty: every theme
	Provider string             // empty: every provider; see feedring.Provider.Matches
	Refs     []feedring.FeedRef // nil: every ref; empty: none
	Privacy  Privacy
	Since    time.Time   // published at or after; zero: no bound
	Until    time.Time   // published before; zero: no bound
	Words    *match.Expr // nil: every text
	Limit    int         // items of a page; 0: feedring.DefaultLimit, at most feedring.MaxLimit
	Cursor   Cursor      // of the page before
}

// Search returns the entries that match, newest published first, and where the
// next page begins. Of the versions of one entry within a ref only the newest
// is looked at. A page ends early, with a next one, when its payloads reach
// Options.SearchBytes. What is stored between two pages neither repeats nor
// hides an item of the second, except that a new version of an entry moves.
//
// Cost: one look at an index row, without its payload, for each entry between
// the bounds, until a page is full.
func (s *Store) Search(ctx context.Context, q Search) ([]Item, Cursor, error) {
	seek, err := q.seek()
	if err != nil {
		return nil, "", err
	}
	f := s.newFilter(&q)
	limit := q.Limit
	if limit == 0 {
		limit = feedring.DefaultLimit
	}
	p := page{limit: bound(limit, feedring.MaxLimit), bytes: s.opts.SearchBytes}
	err = s.view(func(txn *badger.Txn) error {
		return each(txn, []byte{keyIndex}, seek, func(row *badger.Item) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return s.visit(txn, row, f, &p)
		})
	})
	return p.items, p.next, err
}

// visit adds row's item to p if it matches, and tells whether to go on.
func (s *Store) visit(txn *badger.Txn, row *badger.Item, f *filter, p *page) (more bool, err error) {
	published, id, at, ok := splitIndexKey(row.Key())
	if !ok {
		return false, fmt.Errorf("index row: %w", ErrCorrupt)
	}
	if published.Before(f.since) {
		return false, nil
	}
	matches := false
	err = row.Value(func(value []byte) (err error) {
		matches, err = f.matches(id, value)
		return err
	})
	if err != nil || !matches {
		return true, err
	}
	if p.full() {
		p.next = newCursor(p.last)
		return false, nil
	}
	ref, ok := s.heads.ref(id)
	if !ok {
		return true, nil // forgotten since the transaction began
	}
	it, err := readItem(txn, ref, id, at)
	if errors.Is(err, ErrNotFound) {
		return false, fmt.Errorf("index row without its entry: %w", ErrCorrupt)
	}
	if err == nil {
		p.add(it, row.Key())
	}
	return true, err
}

// page gathers the items of one answer.
type page struct {
	items []Item
	limit int
	bytes int    // that may still be added
	last  []byte // index key of the last item
	next  Cursor
}

func (p *page) full() bool { return len(p.items) == p.limit || p.bytes <= 0 }

func (p *page) add(it Item, key []byte) {
	p.items = append(p.items, it)
	p.bytes -= len(it.Payload)
	p.last = append(p.last[:0], key...)
}

// seek returns the first index key that q is interested in.
func (q *Search) seek() ([]byte, error) {
	seek := []byte{keyIndex}
	if !q.Until.IsZero() {
		seek = indexTime(q.Until.Add(-time.Nanosecond))
	}
	if q.Cursor == "" {
		return seek, nil
	}
	key, err := q.Cursor.key()
	if err != nil {
		return nil, err
	}
	if string(key) > string(seek) {
		seek = append(key, 0)
	}
	return seek, nil
}

func newCursor(key []byte) Cursor { return Cursor(base64.RawURLEncoding.EncodeToString(key[1:])) }

func (c Cursor) key() ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(b) != indexKeyLen-1 {
		return nil, ErrCursor
	}
	return append([]byte{keyIndex}, b...), nil
}
