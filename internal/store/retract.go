package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
)

// retract leaves tombstones of what a retraction takes back. What is not stored, or
// is another entry than it says, stays as it is.
func (b *batch) retract(id refID, retraction *Item) {
	for _, t := range retraction.Takes {
		value, err := get(b.txn, logKey(id, t.Position))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		row, bad := decodeLog(value)
		if err == nil {
			err = bad
		}
		if err != nil {
			b.keep(fmt.Errorf("taking back: %w", err))
			return
		}
		if row.hash != t.Hash || string(row.id) != string(retraction.ID) || row.retraction || row.tombstone {
			continue
		}
		stone := row.item(retraction.Ref, t.Position)
		stone.Stone, stone.Text = true, nil
		stone.Payload, stone.Signature = retraction.Payload, retraction.Signature
		b.set(logKey(id, t.Position), encodeLog(&stone))
	}
}

// Versions returns what is stored of an entry of ref, in the order of positions,
// without what was taken back. It looks at the whole log.
func (s *Store) Versions(ctx context.Context, ref feedring.FeedRef, entry feedring.EntryID) (all []feedring.Taken, err error) {
	state, ok := s.heads.get(ref)
	if !ok {
		return nil, ctx.Err()
	}
	err = s.view(func(txn *badger.Txn) error {
		return s.eachLog(ctx, txn, state.id, feedring.Position{}, func(p feedring.Position, r *logRow) bool {
			if string(r.id) == string(entry) && !r.retraction && !r.tombstone {
				all = append(all, feedring.Taken{Position: p, Hash: r.hash, Seen: r.seen})
			}
			return true
		})
	})
	return all, err
}

// LatestByOthers returns the newest public version of an entry by each publisher
// but one, unless it was retracted: in all feeds, or in one.
func (s *Store) LatestByOthers(id feedring.EntryID, url string, but feedring.PeerID) (found []Item) {
	heads := s.HeadsWhere(func(h *Head) bool {
		return !h.Private && h.Ref.Publisher != but && (url == "" || h.Ref.URL == url)
	})
	for _, h := range heads {
		it, ok, err := s.Latest(h.Ref, id)
		if err == nil && ok && !it.Retraction && !it.Private {
			found = append(found, it)
		}
	}
	return found
}
