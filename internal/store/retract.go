package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// retract leaves tombstones of what a retraction takes back. What is not stored, or
// is another entry than it says, stays as it is. Of what is damaged nobody knows what it
// says, and its text may be there but for a byte: it is taken for what the retraction
// says.
func (b *batch) retract(id rows.RefID, retraction *Item) {
	for _, t := range retraction.Takes {
		err := find.OnLog(b.Txn, id, t.Position, func(row *rows.Log) error {
			if row.Hash != t.Hash || string(row.ID) != string(retraction.ID) || row.Retraction || row.Tombstone {
				return nil
			}
			left := row.Item(retraction.Ref, t.Position)
			left.Tombstone, left.Text = true, nil
			left.Payload, left.Signature = retraction.Payload, retraction.Signature
			b.eraseWords(rows.ErasureKey(id, t.Position))
			return b.Set(rows.LogKey(id, t.Position), rows.EncodeLog(&left))
		})
		switch {
		case errors.Is(err, ErrNotFound):
			err = nil
		case find.Lost(err) && !find.Passing(err):
			b.eraseWords(rows.ErasureKey(id, t.Position))
			err = b.Set(rows.LogKey(id, t.Position), rows.EncodeLog(&Item{
				ID: retraction.ID, Version: retraction.Version, Theme: retraction.Theme, Provider: retraction.Provider,
				Private: retraction.Private, Published: retraction.Published, Seen: t.Seen, Hash: t.Hash,
				Payload: retraction.Payload, Signature: retraction.Signature, Tombstone: true,
			}))
		}
		if err != nil {
			b.keep(fmt.Errorf("taking back: %w", err))
			return
		}
	}
}

// readsTaken fails where the disk does not give for the moment what a retraction takes
// back: its text would stay, and be told later.
func (b *batch) readsTaken(retraction *Item) error {
	state, ok := b.state(retraction.Ref)
	if !ok {
		return nil
	}
	for _, t := range retraction.Takes {
		err := find.OnLog(b.Txn, state.ID, t.Position, func(*rows.Log) error { return nil })
		if find.Passing(err) {
			return fmt.Errorf("taking back: %w", err)
		}
	}
	return nil
}

// Versions returns what is stored of an entry of ref, in the order of positions,
// without what was taken back. It looks at the whole log.
func (s *Store) Versions(ctx context.Context, ref feedring.FeedRef, entry feedring.EntryID) (all []feedring.Taken, err error) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return nil, ctx.Err()
	}
	var passing *values.Damage
	err = s.view(func(txn values.Txn) error {
		return s.eachLog(ctx, txn, state.ID, feedring.Position{}, func(p feedring.Position, r *rows.Log, lost *values.Damage) bool {
			if r == nil && lost.Passing() {
				passing = lost
				return false
			}
			if r != nil && string(r.ID) == string(entry) && !r.Retraction && !r.Tombstone {
				all = append(all, feedring.Taken{Position: p, Hash: r.Hash, Seen: r.Seen})
			}
			return true
		})
	})
	if err == nil && passing != nil {
		return nil, fmt.Errorf("versions of %s: %w", entry, passing)
	}
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
