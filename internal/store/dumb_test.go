package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// keeper is what every store can do.
type keeper interface {
	Append(context.Context, []Item) error
	Get(feedring.FeedRef, feedring.Position) (Item, error)
	Scan(context.Context, feedring.FeedRef, feedring.Position, int, int) ([]Item, error)
	Search(context.Context, Search) ([]Item, Cursor, error)
	Head(feedring.FeedRef) (Head, bool)
	Heads() []Head
	Refs() []feedring.FeedRef
	Prune(context.Context, time.Time, func(feedring.FeedRef) bool) (int, error)
	Forget(context.Context, feedring.FeedRef) error
	Put(context.Context, Bucket, string, []byte) error
	Value(Bucket, string) ([]byte, error)
	Delete(context.Context, Bucket, string) error
	List(Bucket) iter.Seq2[Record, error]
	Stats() (Stats, error)
	Close() error
}

// dumb is a store that looks at everything each time: what is right is plain
// to see. It is for one goroutine.
type dumb struct {
	heads   map[feedring.FeedRef]Head
	order   []feedring.FeedRef // as they were first stored
	items   []Item
	records map[Bucket]map[string][]byte
}

func newDumb() *dumb {
	return &dumb{heads: map[feedring.FeedRef]Head{}, records: map[Bucket]map[string][]byte{}}
}

func (d *dumb) Append(_ context.Context, items []Item) error {
	was, heads, order := slices.Clone(d.items), maps.Clone(d.heads), slices.Clone(d.order)
	for _, it := range items {
		if err := rows.Validate(&it); err != nil {
			return err
		}
	}
	for _, it := range items {
		if old, err := d.Get(it.Ref, it.Position); err == nil {
			if old.Hash != it.Hash {
				d.items, d.heads, d.order = was, heads, order
				return ErrConflict
			}
			continue
		}
		h, known := d.heads[it.Ref]
		if !known {
			d.order = append(d.order, it.Ref)
		}
		h.Ref = it.Ref
		if it.Position.Compare(h.Last) >= 0 {
			h.Last, h.Hash, h.Theme, h.Private = it.Position, it.Hash, it.Theme, it.Private
		}
		if it.Seen.After(h.Seen) {
			h.Seen = it.Seen
		}
		d.heads[it.Ref] = h
		for i := range d.items {
			o := &d.items[i]
			taken := feedring.Taken{Position: o.Position, Hash: o.Hash, Seen: o.Seen}
			if o.Ref == it.Ref && o.ID == it.ID && slices.Contains(it.Takes, taken) && !o.Retraction && !o.Tombstone {
				o.Tombstone, o.Text, o.Payload, o.Signature = true, nil, it.Payload, it.Signature
			}
		}
		it.Takes = nil
		d.items = append(d.items, it)
	}
	return nil
}

func (d *dumb) log(ref feedring.FeedRef) []Item {
	var log []Item
	for _, it := range d.items {
		if it.Ref == ref {
			log = append(log, it)
		}
	}
	slices.SortFunc(log, func(a, b Item) int { return a.Position.Compare(b.Position) })
	return log
}

func (d *dumb) Get(ref feedring.FeedRef, p feedring.Position) (Item, error) {
	for _, it := range d.items {
		if it.Ref == ref && it.Position == p {
			return it, nil
		}
	}
	return Item{}, ErrNotFound
}

func (d *dumb) Scan(_ context.Context, ref feedring.FeedRef, after feedring.Position, most, bytes int) ([]Item, error) {
	var found []Item
	size := 0
	most, bytes = bound(most, defaultScanItems), bound(bytes, defaultScanBytes)
	for _, it := range d.log(ref) {
		if it.Position.Compare(after) <= 0 {
			continue
		}
		if size += len(it.Payload); len(found) == most || len(found) > 0 && size > bytes {
			break
		}
		found = append(found, it)
	}
	return found, nil
}

func (d *dumb) Search(_ context.Context, q Search) ([]Item, Cursor, error) {
	var found []Item
	for _, ref := range d.order {
		newest := map[feedring.EntryID]Item{}
		for _, it := range d.log(ref) {
			if !it.Tombstone {
				newest[it.ID] = it
			}
		}
		for _, it := range newest {
			if d.matches(&q, &it) {
				found = append(found, it)
			}
		}
	}
	slices.SortFunc(found, func(a, b Item) int {
		return cmp.Or(b.Published.Compare(a.Published),
			cmp.Compare(slices.Index(d.order, a.Ref), slices.Index(d.order, b.Ref)),
			b.Position.Compare(a.Position))
	})
	from := 0
	if q.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(string(q.Cursor)); err != nil {
			return nil, "", ErrCursor
		}
	}
	found = found[from:]
	limit := bound(cmp.Or(q.Limit, feedring.DefaultLimit), feedring.MaxLimit)
	if len(found) > limit {
		return found[:limit], Cursor(fmt.Sprint(from + limit)), nil
	}
	return found, "", nil
}

func (d *dumb) matches(q *Search, it *Item) bool {
	switch {
	case it.Retraction,
		q.Theme != "" && it.Theme != q.Theme,
		!it.Provider.Matches(q.Provider),
		q.Refs != nil && !slices.Contains(q.Refs, it.Ref),
		q.Privacy == PublicOnly && it.Private,
		q.Privacy == PrivateOnly && !it.Private,
		!q.Since.IsZero() && it.Published.Before(q.Since),
		!q.Until.IsZero() && !it.Published.Before(q.Until):
		return false
	}
	return q.Words.Match(it.Text)
}

func (d *dumb) Head(ref feedring.FeedRef) (Head, bool) {
	h, ok := d.heads[ref]
	if log := d.log(ref); len(log) > 0 {
		h.First, h.Count = log[0].Position, len(log)
	}
	return h, ok
}

func (d *dumb) Heads() []Head {
	var all []Head
	for _, ref := range d.Refs() {
		h, _ := d.Head(ref)
		all = append(all, h)
	}
	return all
}

func (d *dumb) Refs() []feedring.FeedRef {
	return slices.SortedFunc(slices.Values(d.order), feedring.FeedRef.Compare)
}

func (d *dumb) Prune(_ context.Context, before time.Time, keep func(feedring.FeedRef) bool) (n int, err error) {
	for _, ref := range d.order {
		if keep(ref) {
			continue
		}
		for _, it := range d.log(ref) {
			if !it.Seen.Before(before) {
				break
			}
			d.items = slices.DeleteFunc(d.items, func(o Item) bool { return o.Ref == ref && o.Position == it.Position })
			n++
		}
	}
	return n, nil
}

func (d *dumb) Forget(_ context.Context, ref feedring.FeedRef) error {
	delete(d.heads, ref)
	d.order = slices.DeleteFunc(d.order, func(r feedring.FeedRef) bool { return r == ref })
	d.items = slices.DeleteFunc(d.items, func(it Item) bool { return it.Ref == ref })
	return nil
}

func (d *dumb) Put(_ context.Context, b Bucket, key string, value []byte) error {
	if err := checkRecord(b, key, value); err != nil {
		return err
	}
	if d.records[b] == nil {
		d.records[b] = map[string][]byte{}
	}
	d.records[b][key] = bytes.Clone(value)
	return nil
}

func (d *dumb) Value(b Bucket, key string) ([]byte, error) {
	if value, ok := d.records[b][key]; ok {
		return value, nil
	}
	return nil, ErrNotFound
}

func (d *dumb) Delete(_ context.Context, b Bucket, key string) error {
	delete(d.records[b], key)
	return nil
}

func (d *dumb) List(b Bucket) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(d.records[b])) {
			if !yield(Record{key, d.records[b][key]}, nil) {
				return
			}
		}
	}
}

func (d *dumb) Stats() (Stats, error) { return Stats{Refs: len(d.order), Entries: len(d.items)}, nil }
func (d *dumb) Close() error          { return nil }
