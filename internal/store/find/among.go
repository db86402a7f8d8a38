package find

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/rows"
)

// Among is Search for who knows where to look: keys, in order, must have all
// rows that match, and may have others and some that are not there.
//
// A log row holds all that its index row does. So a candidate costs one row, and
// one question whether that is an old version, which next to none is.
func (l Log) Among(ctx context.Context, q Search, keys iter.Seq2[rows.Key, error]) ([]rows.Item, Cursor, error) {
	v := l.newVisitor(&q)
	defer v.done()
	for k, err := range keys {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, "", err
		}
		if v.pauses(k) {
			break
		}
		more, err := v.propose(k)
		if err != nil {
			return nil, "", fmt.Errorf("reading the store: %w", err)
		}
		if !more {
			break
		}
	}
	return v.page.items, v.page.next, nil
}

// propose adds the item at k to the page if it matches, and tells whether to go
// on. Where most do not match, it looks at the smaller index row first.
func (v *visitor) propose(k rows.Key) (more bool, err error) {
	was := len(v.page.items)
	if v.missed > was && v.accept == nil {
		more, err = v.proposeIndexed(k)
	} else {
		more, err = v.proposeLogged(k)
	}
	if more && len(v.page.items) == was {
		v.missed++
	}
	return more, err
}

func (v *visitor) proposeIndexed(k rows.Key) (more bool, err error) {
	row, err := v.l.Txn.Get(k.Index())
	if errors.Is(err, badger.ErrKeyNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return v.visit(row)
}

func (v *visitor) proposeLogged(k rows.Key) (more bool, err error) {
	published, id, at := k.Split()
	if published.Before(v.f.since) {
		return false, nil
	}
	ref, ok := v.l.Heads.Ref(id)
	if !ok || !v.f.wants(id) {
		return true, nil
	}
	more = true
	err = OnLog(v.l.Txn, id, at, func(r *rows.Log) error {
		if matches, err := v.matchesLogged(k, r); err != nil || !matches {
			return err
		}
		if v.page.full() {
			v.page.next, more = newCursor(v.page.last), false
			return nil
		}
		if it := r.Item(ref, at); v.accepts(&it) {
			v.page.add(it, k)
		}
		return nil
	})
	err = IgnoreLost(err)
	return more && err == nil, err
}

// matchesLogged tests what the log has where k says that a row is.
func (v *visitor) matchesLogged(k rows.Key, r *rows.Log) (bool, error) {
	published, id, at := k.Split()
	if r.Tombstone || r.Retraction || !r.Published.Equal(published) || !v.f.matches(r.Listed()) {
		return false, nil
	}
	was, err := IsOld(v.l.Txn, id, at)
	return !was, err
}
