package find

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
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
	// Accept decides about what matches otherwise, with the whole item. Nil: all
	// of that.
	Accept func(*rows.Item) bool
	Limit  int    // items of a page; 0: feedring.DefaultLimit, at most feedring.MaxLimit
	Cursor Cursor // of the page before
	Pause  *Pause // nil: none; Among alone makes it
}

// Pause has a page end, with a next one, after some time, and is for all pages of
// one answer, one after the other. While a page is read the database cannot be
// closed and opened anew, and whoever comes after that waits, too.
type Pause struct {
	After time.Duration
	Made  bool // the last page ended for it
	bytes int  // of payloads so far, of Log.Bytes
}

// Search returns the entries that match, newest published first, and where the
// next page begins. Of the versions of one entry within a ref only the newest
// is looked at. A page ends early, with a next one, when its payloads reach
// Log.Bytes. What is stored between two pages neither repeats nor
// hides an item of the second, except that a new version of an entry moves.
//
// Cost: one look at an index row, without its payload, for each entry between
// the bounds, until a page is full.
func (l Log) Search(ctx context.Context, q Search) ([]rows.Item, Cursor, error) {
	first, _, err := q.Bounds()
	if err != nil {
		return nil, "", err
	}
	v := l.newVisitor(&q)
	err = l.Txn.Each([]byte{rows.KeyIndex}, first.Index(), func(row values.Row) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return v.visit(row)
	})
	return v.page.items, v.page.next, err
}

// Matching gives the keys of the rows from one on that match, found by looking
// at each.
func (l Log) Matching(ctx context.Context, q Search, from rows.Key) iter.Seq2[rows.Key, error] {
	return func(yield func(rows.Key, error) bool) {
		v := l.newVisitor(&q)
		err := l.Txn.Each([]byte{rows.KeyIndex}, from.Index(), func(row values.Row) (bool, error) {
			k, matches, more, err := v.look(row)
			if err != nil || !matches {
				return more, err
			}
			return yield(k, ctx.Err()), nil
		})
		if err != nil {
			yield(rows.Key{}, err)
		}
	}
}

// visitor looks at index rows in order, and keeps those that match.
type visitor struct {
	l      Log
	f      *filter
	accept func(*rows.Item) bool
	page   page
	missed int // candidates that do not match, or are not there any more

	pause *Pause
	began time.Time
	at    *rows.Key // the last candidate; nil: none yet
}

func (l Log) newVisitor(q *Search) *visitor {
	limit := q.Limit
	if limit == 0 {
		limit = feedring.DefaultLimit
	}
	if limit < 0 || limit > feedring.MaxLimit {
		limit = feedring.MaxLimit
	}
	v := &visitor{l: l, f: l.newFilter(q), accept: q.Accept, page: page{limit: limit, bytes: l.Bytes}}
	if q.Pause != nil {
		v.pause, v.began = q.Pause, time.Now()
		v.pause.Made = false
		v.page.bytes -= v.pause.bytes
	}
	return v
}

// pauses ends the page before the candidate at k where it is time.
func (v *visitor) pauses(k rows.Key) bool {
	if v.pause == nil {
		return false
	}
	if v.at != nil && !v.page.full() && time.Since(v.began) >= v.pause.After {
		v.page.next, v.pause.Made = newCursor(*v.at), true
		return true
	}
	v.at = &k
	return false
}

// done notes what the pages so far hold.
func (v *visitor) done() {
	if v.pause != nil {
		v.pause.bytes = v.l.Bytes - v.page.bytes
	}
}

// look tests a row. There is no more where it and all after it are too old.
func (v *visitor) look(row values.Row) (k rows.Key, matches, more bool, err error) {
	k, ok := rows.ReadIndexKey(row.Key())
	if !ok {
		return k, false, false, fmt.Errorf("index row: %w", disk.ErrCorrupt)
	}
	published, id, _ := k.Split()
	if published.Before(v.f.since) {
		return k, false, false, nil
	}
	if !v.f.wants(id) {
		return k, false, true, nil
	}
	err = row.Value(func(value []byte) error {
		r, err := rows.DecodeIndex(value)
		if err != nil || !v.f.listed(&r) {
			return err
		}
		if v.f.words == nil {
			matches = true
			return nil
		}
		return WithText(v.l.Txn, k, &r, func() { matches = v.f.words.Match(r.Text) })
	})
	return k, matches, err == nil, err
}

// visit adds row's item to the page if it matches, and tells whether to go on.
func (v *visitor) visit(row values.Row) (more bool, err error) {
	k, matches, more, err := v.look(row)
	if err != nil || !matches {
		return more, err
	}
	if v.page.full() {
		v.page.next = newCursor(v.page.last)
		return false, nil
	}
	_, id, at := k.Split()
	ref, ok := v.l.Heads.Ref(id)
	if !ok {
		return true, nil // forgotten since the transaction began
	}
	it, err := ReadItem(v.l.Txn, ref, id, at)
	if err == nil && v.accepts(&it) {
		v.page.add(it, k)
	}
	return true, IgnoreLost(err)
}

func (v *visitor) accepts(it *rows.Item) bool { return v.accept == nil || v.accept(it) }

// page gathers the items of one answer.
type page struct {
	items []rows.Item
	limit int
	bytes int      // that may still be added
	last  rows.Key // of the last item
	next  Cursor
}

func (p *page) full() bool { return len(p.items) == p.limit || p.bytes <= 0 }

func (p *page) add(it rows.Item, k rows.Key) {
	p.items = append(p.items, it)
	p.bytes -= len(it.Payload)
	p.last = k
}

// Bounds returns the first key that q is interested in, and one after all such
// keys.
func (q *Search) Bounds() (first, end rows.Key, err error) {
	end = rows.Key{Second: math.MaxUint64, Nano: math.MaxUint32, Ref: math.MaxUint32, Epoch: math.MaxUint64, Sequence: math.MaxUint64}
	if !q.Until.IsZero() {
		first = rows.FirstAt(q.Until.Add(-time.Nanosecond))
	}
	if !q.Since.IsZero() {
		end = rows.FirstAt(q.Since.Add(-time.Nanosecond))
	}
	if q.Cursor == "" {
		return first, end, nil
	}
	last, err := q.Cursor.key()
	if next := last.Next(); err == nil && next.Compare(first) > 0 {
		first = next
	}
	return first, end, err
}

func newCursor(k rows.Key) Cursor { return Cursor(base64.RawURLEncoding.EncodeToString(k.Append(nil))) }

func (c Cursor) key() (rows.Key, error) {
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(b) != rows.KeyLen {
		return rows.Key{}, ErrCursor
	}
	return rows.ReadKey(b), nil
}
