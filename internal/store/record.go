package store

import (
	"context"
	"fmt"
	"iter"

	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// Bucket separates the kinds of small records.
type Bucket byte

// The buckets. Their numbers are on disk.
const (
	BucketMeta         Bucket = iota + 1 // the peer's own settings and counters
	BucketTerm                           // accepted terms, by group
	BucketPeer                           // known peers and their addresses
	BucketFeed                           // the peer's own feeds and their fetch state
	BucketLog                            // epochs and sequences of the peer's own logs
	BucketSubscription                   // personal feeds and resume cursors
	BucketHub                            // WebSub: who subscribes here, and what is subscribed to elsewhere
	BucketHistory                        // the index of the history
	BucketCopy                           // how far copies of others' feeds reach
	BucketFork                           // evidence against publishers that signed two histories
	BucketFleet                          // rows of the fleet
	buckets
)

// Limits of a small record, in bytes. The largest is what is known of a feed
// with 10,000 entries; it must fit into one transaction.
const (
	MaxKey   = 4 << 10
	MaxValue = 704 << 10
)

// Record is a small record.
type Record struct {
	Key   string
	Value []byte
}

// Put stores value under key and returns when it is on disk, together with
// whatever else is being written. It fails with ErrTooLarge, ErrInvalid,
// ErrFull or ErrClosed.
func (s *Store) Put(ctx context.Context, b Bucket, key string, value []byte) error {
	return s.PutAll(ctx, b, []Record{{Key: key, Value: value}})
}

// PutAll is Put of several records, of MaxValue bytes together: all of them or
// none.
func (s *Store) PutAll(ctx context.Context, b Bucket, records []Record) error {
	c := cost{rows: int64(len(records))}
	for _, r := range records {
		if err := checkRecord(b, r.Key, r.Value); err != nil {
			return err
		}
		c.bytes += int64(len(r.Key)+len(r.Value)) + 64
	}
	if len(records) > 1 && c.bytes > MaxValue {
		return fmt.Errorf("%d records of %d bytes: %w", len(records), c.bytes, ErrTooLarge)
	}
	return s.submit(ctx, &request{
		cost: c,
		apply: func(to *batch) error {
			for _, r := range records {
				to.set(rows.RecordKey(byte(b), r.Key), r.Value)
			}
			return to.err
		},
	})
}

// Delete removes key and returns when that is on disk. A key that is not
// there is no error.
func (s *Store) Delete(ctx context.Context, b Bucket, key string) error {
	if err := checkRecord(b, key, nil); err != nil {
		return err
	}
	return s.submit(ctx, &request{
		cost:  cost{bytes: int64(len(key)) + 64, rows: 1},
		frees: true,
		apply: func(from *batch) error {
			from.del(rows.RecordKey(byte(b), key))
			return from.err
		},
	})
}

// Change is a record to be put, or without a value to be deleted.
type Change struct {
	Key   string
	Value []byte // nil: delete
}

// Write makes changes to the records of a bucket in their order, and returns
// when all are on disk. They are as many transactions as their size needs: a
// crash or an error leaves a prefix of them. It fails as Put does; changes that
// only delete are made on a disk that is nearly full, too.
func (s *Store) Write(ctx context.Context, b Bucket, changes []Change) error {
	for _, c := range changes {
		if err := checkRecord(b, c.Key, c.Value); err != nil {
			return err
		}
	}
	for len(changes) > 0 {
		n, r := s.someChanges(b, changes)
		if err := s.submit(ctx, r); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// someChanges makes a request of as many changes as fit into one transaction,
// at least one.
func (s *Store) someChanges(b Bucket, changes []Change) (n int, r *request) {
	limit := s.limit()
	r = &request{frees: true}
	for n < len(changes) {
		c := &changes[n]
		with := r.cost.plus(cost{bytes: int64(len(c.Key)+len(c.Value)) + 64, rows: 1})
		if n > 0 && !with.within(limit) {
			break
		}
		r.frees = r.frees && c.Value == nil
		n, r.cost = n+1, with
	}
	part := changes[:n]
	r.apply = func(to *batch) error {
		for _, c := range part {
			if c.Value == nil {
				to.del(rows.RecordKey(byte(b), c.Key))
			} else {
				to.set(rows.RecordKey(byte(b), c.Key), c.Value)
			}
		}
		return to.err
	}
	return n, r
}

func checkRecord(b Bucket, key string, value []byte) error {
	switch {
	case b == 0 || b >= buckets:
		return fmt.Errorf("record %q: bucket %d does not exist: %w", key, b, ErrInvalid)
	case len(key) > MaxKey:
		return fmt.Errorf("record %.40q…: its key has %d bytes, at most %d are kept: %w", key, len(key), MaxKey, ErrTooLarge)
	case len(value) > MaxValue:
		return fmt.Errorf("record %q: %d bytes, at most %d are kept: %w", key, len(value), MaxValue, ErrTooLarge)
	}
	return nil
}

// Value returns what was put under key, or ErrNotFound.
func (s *Store) Value(b Bucket, key string) (value []byte, err error) {
	err = s.view(func(txn values.Txn) error {
		value, err = get(txn, rows.RecordKey(byte(b), key))
		return err
	})
	return value, err
}

// List gives the records of a bucket in order of their keys. It reads them in
// pages, so the loop's body may use the store, and may see what is written
// meanwhile. An error is given once, with an empty record, and ends the list.
func (s *Store) List(b Bucket) iter.Seq2[Record, error] { return s.ListPrefix(b, "") }

// ListPrefix is List of the records whose keys begin with prefix.
func (s *Store) ListPrefix(b Bucket, prefix string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		within := rows.RecordKey(byte(b), prefix)
		seek := within
		for seek != nil {
			page, err := s.page(within, seek)
			if err != nil {
				yield(Record{}, err)
				return
			}
			seek = nil
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
				seek = append(rows.RecordKey(byte(b), r.Key), 0)
			}
		}
	}
}

// page reads some records from seek on.
func (s *Store) page(within, seek []byte) (page []Record, err error) {
	const most, mostBytes = 256, 1 << 20
	size := 0
	err = s.view(func(txn values.Txn) error {
		return txn.Each(within, seek, func(item values.Row) (bool, error) {
			value, err := item.ValueCopy(nil)
			page = append(page, Record{Key: string(item.Key()[2:]), Value: value})
			size += len(value)
			return len(page) < most && size < mostBytes, err
		})
	})
	return page, err
}
