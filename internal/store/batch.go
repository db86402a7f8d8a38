package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// batch is one transaction under construction. Only the writer touches it.
type batch struct {
	*values.Batch
	heads     *heads.Table
	last      rows.RefID // the greatest number given, this batch included
	changed   map[feedring.FeedRef]heads.State
	forgotten map[rows.RefID]feedring.FeedRef
	holes     *heads.Holes
	holed     bool // holes changed
	opened    []opened
	lost      []feedring.Position
	number    uint64 // of its journal row, if it has one
	indexed   []byte // keys of its new index rows
	words     bool   // an index outside may have words of what it erases
	err       error  // the first row that could not be added: nothing is committed
}

func newBatch(s *Store) *batch {
	return &batch{
		Batch: s.values.Begin(s.db), heads: &s.heads, holes: &s.holes, last: s.heads.Last(),
		number: s.journal.Load() + 1, changed: make(map[feedring.FeedRef]heads.State), forgotten: make(map[rows.RefID]feedring.FeedRef),
	}
}

// set, del and erase change one row. What was erased is overwritten on disk.
func (b *batch) set(key, value []byte) { b.keep(b.Set(key, value)) }
func (b *batch) del(key []byte)        { b.keep(b.Delete(key)) }
func (b *batch) erase(key []byte)      { b.keep(b.Erase(key)) }

func (b *batch) keep(err error) {
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("writing to the store: %w", err)
	}
}

// finish adds the rows of the refs that changed, and the journal row.
func (b *batch) finish() error {
	if len(b.indexed) > 0 {
		b.set(rows.JournalKey(b.number), b.indexed)
	}
	for _, state := range b.changed {
		b.set(rows.RefKey(state.ID), rows.EncodeRef(&state.Head))
	}
	return b.err
}

// state returns ref's state within the batch, and whether it has one.
func (b *batch) state(ref feedring.FeedRef) (heads.State, bool) {
	if state, ok := b.changed[ref]; ok {
		return state, true
	}
	state, ok := b.heads.Get(ref)
	if _, gone := b.forgotten[state.ID]; gone {
		return heads.State{}, false
	}
	return state, ok
}

// change records state, giving it a number if it is new.
func (b *batch) change(state heads.State) heads.State {
	if state.ID == 0 {
		b.last++
		state.ID = b.last
	}
	b.changed[state.Ref] = state
	return state
}

// forget drops the state itself.
func (b *batch) forget(state heads.State) {
	delete(b.changed, state.Ref)
	b.forgotten[state.ID] = state.Ref
	b.del(rows.RefKey(state.ID))
}

// addAll adds items, or nothing when one of them contradicts what is stored.
func (b *batch) addAll(items []Item) error {
	fresh := make([]*Item, 0, len(items))
	type place struct {
		ref feedring.FeedRef
		pos feedring.Position
	}
	here := make(map[place][32]byte, len(items))
	for i := range items {
		it := &items[i]
		at := place{it.Ref, it.Position}
		hash, known := here[at]
		if !known {
			var err error
			if hash, known, err = b.stored(it.Ref, it.Position); err != nil {
				return err
			}
		}
		if !known {
			if err := b.readsTaken(it); err != nil {
				return err
			}
			here[at] = it.Hash
			fresh = append(fresh, it)
		} else if hash != it.Hash {
			return fmt.Errorf("entry %d of %s: %w", it.Position.Sequence, it.Ref.URL, ErrConflict)
		}
	}
	for _, it := range fresh {
		b.add(it)
	}
	return b.err
}

// stored returns the hash of the item at p, and whether there is one.
func (b *batch) stored(ref feedring.FeedRef, p feedring.Position) (hash [32]byte, ok bool, err error) {
	state, ok := b.state(ref)
	if !ok || state.Count == 0 || p.Compare(state.Last) > 0 || p.Compare(state.First) < 0 {
		return hash, false, nil
	}
	err = find.OnLog(b.Txn, state.ID, p, func(r *rows.Log) error {
		hash = r.Hash
		return nil
	})
	if err == nil {
		return hash, true, nil
	}
	if find.Lost(err) && !find.Passing(err) { // it is stored anew
		if err = b.lose(&state, false, p); err == nil {
			b.change(state)
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return hash, false, err
}

// add writes the rows of an item that is not stored yet.
func (b *batch) add(it *Item) {
	state, _ := b.state(it.Ref)
	state.Ref = it.Ref
	state.Add(it)
	state = b.change(state)
	b.keep(b.Add(rows.LogKey(state.ID, it.Position), rows.EncodeLog(it)))
	b.fill(state.ID, func(p feedring.Position) bool { return p == it.Position })
	b.retract(state.ID, it)
	published, at, found := b.newest(state.ID, it.ID)
	switch {
	case it.Tombstone:
		return // what is left of a version: the log alone holds it
	case found && at.Compare(it.Position) > 0:
		b.set(rows.OldKey(state.ID, it.Position), rows.Old) // it came late
		return
	case found:
		b.supersede(published, state.ID, at, it.Retraction)
	}
	b.set(rows.VersionKey(state.ID, it.ID), rows.EncodeVersion(it.Published, it.Position))
	if !it.Retraction {
		b.list(state.ID, it)
	}
}

// list makes the newest version of an entry known to searches. The log row has the
// text, outside of the database.
func (b *batch) list(id rows.RefID, it *Item) {
	key := rows.KeyOf(it.Published, id, it.Position)
	b.set(key.Index(), rows.EncodeIndex(it, true))
	b.indexed = key.Append(b.indexed)
}

// unlist takes an entry from all searches: a newer version came, it was pruned,
// or its publisher took it back. Who has an index is told of what comes, and by
// eraseWords of what must leave it, asks the log for what it names, and whether that is
// old: see supersede. Retractions
// were never listed.
func (b *batch) unlist(published time.Time, id rows.RefID, p feedring.Position) {
	b.del(rows.KeyOf(published, id, p).Index())
}

// supersede takes a version from all searches that stays in the log: a newer one
// came, or its publisher took the entry back.
func (b *batch) supersede(published time.Time, id rows.RefID, p feedring.Position, takenBack bool) {
	b.unlist(published, id, p)
	why := rows.Old
	if takenBack {
		why = rows.TakenBack
	}
	b.set(rows.OldKey(id, p), why)
}

// remove deletes the rows of the item at p. Its ref's state is the caller's
// business.
func (b *batch) remove(id rows.RefID, p feedring.Position, row *rows.Log, erase bool) {
	b.removeLog(id, p, erase)
	entry := feedring.EntryID(row.ID)
	if _, at, found := b.newest(id, entry); found && at == p {
		b.del(rows.VersionKey(id, entry))
		b.unlist(row.Published, id, p)
	} else {
		b.del(rows.OldKey(id, p))
	}
}

func (b *batch) removeLog(id rows.RefID, p feedring.Position, erase bool) {
	if erase {
		b.erase(rows.LogKey(id, p))
	} else {
		b.del(rows.LogKey(id, p))
	}
}

// newest finds where the newest version of an entry stands.
func (b *batch) newest(id rows.RefID, entry feedring.EntryID) (published time.Time, p feedring.Position, found bool) {
	row, err := get(b.Txn, rows.VersionKey(id, entry))
	if err == nil {
		published, p, err = rows.DecodeVersion(row)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		b.keep(err)
	}
	return published, p, err == nil
}
