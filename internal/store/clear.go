package store

import (
	"context"
	"fmt"

	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// clearCost bounds one transaction of clear: few enough rows that what others
// write meanwhile does not wait.
var clearCost = cost{bytes: 128 << 10, rows: 2000}

// DeleteRange removes the records of a bucket from one key up to another, in
// small transactions: when it is interrupted those from some key on are left.
func (s *Store) DeleteRange(ctx context.Context, b Bucket, from, to string) error {
	for _, key := range []string{from, to} {
		if err := checkRecord(b, key, nil); err != nil {
			return err
		}
	}
	return s.clear(ctx, rows.RecordKey(byte(b), from), rows.RecordKey(byte(b), to))
}

// clear deletes the rows from one key up to another, which begin with the same
// byte.
func (s *Store) clear(ctx context.Context, from, to []byte) error {
	for from != nil {
		var next []byte
		err := s.submit(ctx, &request{cost: clearCost, frees: true, apply: func(b *batch) (err error) {
			next, err = b.clear(from, to)
			return err
		}})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// clear deletes some rows and returns where to go on; nil: all are deleted.
func (b *batch) clear(from, to []byte) (next []byte, err error) {
	var keys [][]byte
	size := int64(0)
	err = b.Each(from[:1], from, func(row values.Row) (bool, error) {
		switch key := row.Key(); {
		case string(key) >= string(to):
			return false, nil
		case int64(len(keys)) == clearCost.rows, size+int64(len(key))+64 > clearCost.bytes:
			next = row.KeyCopy(nil)
			return false, nil
		default:
			keys = append(keys, row.KeyCopy(nil))
			size += int64(len(key)) + 64
			return true, nil
		}
	})
	if err != nil {
		return nil, fmt.Errorf("deleting: %w", err)
	}
	for _, key := range keys {
		b.del(key)
	}
	return next, b.err
}
