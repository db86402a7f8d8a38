package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// An index outside of this package may hold words of what was taken back or forgotten. A
// row says of what, in the transaction that erases the text, until the index holds none.

// maxErasures bounds what Erasures returns, and what one transaction of Erased deletes.
const maxErasures = 4096

// Erasure is an entry that was taken back, or a feed that was forgotten.
type Erasure struct {
	Entry RowKey // without its time; of a feed Ref alone
	Feed  bool
	Since time.Time
}

func (e *Erasure) key() []byte {
	_, id, p := e.Entry.Split()
	if e.Feed {
		return rows.FeedErasureKey(id)
	}
	return rows.ErasureKey(id, p)
}

// eraseWords notes an erasure at a key, anew where there is one: more of a feed may have
// gone away since that was looked at.
func (b *batch) eraseWords(key []byte) {
	b.words = true
	b.set(key, binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano())))
}

// Erasures counts the transactions since the store was opened that erased something.
func (s *Store) Erasures() int64 { return s.erasures.Load() }

// Erasures returns what was erased, and the index may have words of: the oldest 4,096, so that
// no publisher that takes back very much holds up what others took back before.
func (r *Reader) Erasures() (all []Erasure, err error) {
	err = r.txn.Each([]byte{rows.KeyErasure}, nil, func(row values.Row) (bool, error) {
		e, key := Erasure{}, row.Key()
		if id, p, ok := rows.LogPlace(key); ok {
			e.Entry = rows.KeyOf(time.Time{}, id, p)
			e.Entry.Second, e.Entry.Nano = 0, 0
		} else if len(key) == len(rows.FeedErasureKey(0)) {
			e.Feed, e.Entry.Ref = true, binary.BigEndian.Uint32(key[1:])
		} else {
			return false, fmt.Errorf("erasure: %w", ErrCorrupt)
		}
		err := row.Value(func(v []byte) error {
			if len(v) != 8 {
				return fmt.Errorf("erasure: %w", ErrCorrupt)
			}
			e.Since = time.Unix(0, int64(binary.BigEndian.Uint64(v)))
			return nil
		})
		if all = append(all, e); len(all) >= 2*maxErasures {
			all = oldest(all)
		}
		return true, err
	})
	return oldest(all), err
}

func oldest(all []Erasure) []Erasure {
	slices.SortStableFunc(all, func(a, b Erasure) int { return a.Since.Compare(b.Since) })
	return all[:min(len(all), maxErasures)]
}

// Erased notes that no record of an index has words of what Erasures returned any more,
// and has the tables compacted, which may hold records that were deleted.
func (s *Store) Erased(ctx context.Context, done []Erasure) error {
	n := int64(len(done))
	return s.submit(ctx, &request{cost: cost{bytes: 64 + 96*n, rows: 1 + n}, frees: true, apply: func(b *batch) error {
		for i := range done {
			key := done[i].key()
			since, err := get(b.Txn, key)
			switch {
			case errors.Is(err, ErrNotFound):
			case err != nil:
				return err
			case len(since) != 8:
				return fmt.Errorf("erasure: %w", ErrCorrupt)
			case int64(binary.BigEndian.Uint64(since)) == done[i].Since.UnixNano():
				b.del(key)
			}
		}
		b.keep(b.FlattenLater())
		return b.err
	}})
}
