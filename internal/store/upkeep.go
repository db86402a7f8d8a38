package store

import (
	"errors"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/values"
)

// What the store does by itself is done in small steps, at rest or, where the store
// is never at rest, now and then between two writes. At rest with nothing to do it
// has no timer, and badger has none that looks for work.
const (
	stepPause  = 10 * time.Millisecond // between two steps at rest
	stepBusy   = time.Second           // between two steps while others write
	askAfter   = 1 << 20               // bytes written until badger's levels are looked at
	giveUp     = time.Minute           // for a compaction that makes nothing
	compactFor = 30 * time.Second      // at least, while others write
)

// upkeep is the writer's knowledge of that.
type upkeep struct {
	last time.Time     // a step
	busy time.Duration // between two steps while others write: stepBusy
	more bool          // at once
	idle bool          // nothing is left to move

	compacts disk.Compaction
	since    time.Time // compacts was changed
	asked    int64     // written when the levels were looked at
	newest   uint64    // table when something was last made
	stuck    uint64    // newest table when no compaction made anything; 0: none was

	unflushed  bool // what is to be compacted may not be in a table yet
	flat       bool // flattening is under way
	endFlat    chan struct{}
	flattening sync.WaitGroup
	flattened  chan error
}

// quiet returns a channel that fires when nothing happened for a while and
// something is to be looked at.
func (s *Store) quiet() <-chan time.Time {
	switch {
	case s.upkeep.more:
		return time.After(stepPause)
	case s.trimmer.look:
		return time.After(trimAfter)
	}
	if wait, waits := s.values.RetryIn(); waits {
		return time.After(max(wait, trimAfter))
	}
	return nil
}

// rest does a step of what is to be done, or gives back memory.
func (s *Store) rest() {
	s.settle()
	if s.upkeep.more = s.step(); s.upkeep.more {
		return
	}
	s.trimmer.look = false
	asks, compacts := s.asks(), s.upkeep.compacts != disk.Still
	_, built := s.tables(s.trimmer.newest)
	switch {
	case s.upkeep.flat:
	case asks && !compacts:
		s.compact(disk.AsAsked)
		s.trimmer.look = true
	case compacts && !s.mayCompact():
		s.compact(disk.Still)
		s.trimmer.look = true
	case asks:
		s.trimmer.look = true
	case compacts:
		s.compact(disk.Still)
		s.trimmer.look = true
	case s.trimmer.written+built >= trimIdle:
		s.trim()
	}
}

// betweenWrites does what cannot wait until the store is at rest.
func (s *Store) betweenWrites() {
	u := &s.upkeep
	if u.compacts == disk.Still && s.trimmer.written-u.asked >= askAfter {
		if u.asked = s.trimmer.written; s.asks() {
			s.compact(disk.AsAsked)
		}
	}
	if u.compacts != disk.Still && !s.mayCompact() {
		s.compact(disk.Still)
	}
	if s.trimmer.due() {
		s.trim()
		u.asked = 0
	}
	if time.Since(u.last) < u.busy {
		return
	}
	u.last = time.Now()
	s.step()
	if u.compacts == disk.AsAsked && time.Since(u.since) >= compactFor && s.trimmer.written < askAfter && !s.asks() {
		s.compact(disk.Still)
	}
}

// compact opens the database anew, to have it compact tables or not.
func (s *Store) compact(c disk.Compaction) {
	switch {
	case s.upkeep.flat || c != disk.Still && !s.mayCompact():
		return
	case s.disk.CheckFree(s.opts.Reserve/4) != nil:
		return
	}
	s.upkeep.compacts, s.upkeep.since, s.upkeep.asked = c, time.Now(), 0
	s.upkeep.newest, _ = s.tables(0)
	s.openAnew()
}

// mayCompact reports whether there is room for it. What makes room is written below
// Reserve, too, and must be compacted before it crowds level 0. Without room nothing is:
// badger would try again and again, and let writes wait meanwhile.
func (s *Store) mayCompact() bool {
	if s.db == nil || s.disk.CheckFree(s.opts.Reserve) == nil {
		return true
	}
	crowded, room := disk.Crowded(s.db)
	return (crowded || s.upkeep.compacts != disk.Still) && s.disk.CheckFree(s.opts.Reserve/4+room) == nil
}

// asks reports whether badger has anything to compact that it can compact.
func (s *Store) asks() bool {
	u := &s.upkeep
	newest, _ := s.tables(0)
	if s.db == nil || u.flat || newest == u.stuck || !disk.Asks(s.db) {
		return false
	}
	if newest != u.newest {
		u.newest, u.since = newest, time.Now()
	} else if u.compacts != disk.Still && time.Since(u.since) >= giveUp {
		u.stuck = newest
	}
	return true
}

// step moves some values: out of tables after an upgrade, or out of segments that
// are mostly not in use. It reports whether there is more to do.
func (s *Store) step() (more bool) {
	u := &s.upkeep
	if s.db == nil || u.flat || s.disk.CheckFree(s.opts.Reserve) != nil {
		return false
	}
	u.last = time.Now()
	var err error
	switch {
	case !u.idle:
		more, err = s.upgradeSome()
	case s.values.Collects():
		more, err = true, s.change(func(b *batch) error { return b.Collect() })
	}
	if err != nil {
		s.opts.Log.Warn("store: moving what it holds", "err", err)
		return false
	}
	return more
}

// upgradeSome moves some of what an earlier version kept in tables. Once all is
// moved, or something was erased that they held, the tables are compacted, while others
// write, until none holds it any more.
func (s *Store) upgradeSome() (more bool, err error) {
	var stage values.Stage
	err = s.view(func(txn values.Txn) (err error) {
		stage, err = txn.Stage()
		return err
	})
	switch {
	case err != nil:
		return false, err
	case stage.Moving:
		return true, s.change(func(b *batch) error { return b.Upgrade() })
	case !stage.Flatten:
		s.upkeep.idle = true
		return true, nil
	}
	_, size := s.tables(0)
	if err := s.disk.CheckFree(s.opts.Reserve + size); err != nil {
		return false, err
	}
	u := &s.upkeep
	if u.compacts != disk.Thorough || u.unflushed {
		u.unflushed = false
		s.compact(disk.Thorough)
		return true, nil
	}
	if s.asks() {
		return true, nil
	}
	db := s.db
	end := make(chan struct{})
	u.flat, u.flattened, u.endFlat = true, make(chan error, 1), end
	u.flattening.Go(func() { u.flattened <- s.disk.Flatten(db, end) })
	return false, nil
}

// stopFlattening waits until the database may be closed, a table at most.
func (u *upkeep) stopFlattening() {
	if u.endFlat != nil {
		close(u.endFlat)
		u.endFlat = nil
	}
	u.flattening.Wait()
}

// endUpgrade notes that nothing of before is left to move.
func (s *Store) endUpgrade(err error) {
	s.upkeep.flat, s.upkeep.endFlat = false, nil
	if errors.Is(err, disk.ErrInterrupted) {
		s.trimmer.look = true // it was opened anew, and goes on at rest
		return
	}
	if err == nil && s.upkeep.unflushed { // more was erased meanwhile
		s.upkeep.more = true
		return
	}
	if err == nil {
		err = s.change(func(b *batch) error { return b.Flattened() })
	}
	if err != nil {
		s.opts.Log.Warn("store: compacting what was moved", "err", err)
	}
	s.upkeep.more = err == nil
	s.trimmer.look = true
}

// change commits what do changes.
func (s *Store) change(do func(*batch) error) error {
	b := newBatch(s)
	defer b.Discard()
	if err := do(b); err != nil {
		return err
	}
	if err := s.commit(b); err != nil {
		return err
	}
	s.settle()
	return nil
}

// settle erases what is to be erased, and removes what is not in use: no reader is
// under way then that may still read it.
func (s *Store) settle() {
	if s.db == nil || !s.values.Unsettled() || s.disk.CheckFree(s.opts.Reserve/4) != nil {
		return
	}
	s.mu.Lock() // who began before is through
	db := s.db
	s.mu.Unlock()
	if err := s.values.Settle(db); err != nil {
		s.opts.Log.Warn("store: erasing what is deleted", "err", err)
		s.reopen(fromDisk)
	}
}
