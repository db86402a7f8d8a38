package store

import (
	"context"
	"fmt"

	"github.com/feedring/feedring/internal/store/disk"
)

// cost is what a request adds to a transaction, at most.
type cost struct{ bytes, rows int64 }

func (c cost) plus(o cost) cost { return cost{c.bytes + o.bytes, c.rows + o.rows} }

func (c cost) within(o cost) bool { return c.bytes <= o.bytes && c.rows <= o.rows }

// request is one caller's wish to write. apply checks everything before it
// writes anything, so that a refused request leaves no trace in the batch that
// it shares with others.
type request struct {
	apply func(b *batch) error
	cost  cost
	frees bool // makes room: allowed while the disk is nearly full
	done  chan error
}

// submit hands r to the writer and waits until it is on disk or failed. When
// ctx ends first, r may be written all the same.
func (s *Store) submit(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.done = make(chan error, 1)
	select {
	case s.requests <- r:
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write is the one goroutine that writes. Requests that arrive while a
// transaction is being synced share the next one.
func (s *Store) write() {
	defer close(s.stopped)
	var first *request
	for {
		if first == nil {
			select {
			case first = <-s.requests:
			case <-s.quiet():
				s.rest()
				continue
			case d := <-s.values.Damaged():
				s.loseDamaged(d)
				continue
			case err := <-s.upkeep.flattened:
				s.endUpgrade(err)
				continue
			case <-s.quit:
				return
			}
		}
		group, later := s.gather(first)
		s.writeGroup(group)
		s.settle()
		s.betweenWrites()
		first = later
	}
}

// gather collects what waits and fits into one transaction with first. The
// request that no longer fits begins the next.
func (s *Store) gather(first *request) (group []*request, later *request) {
	limit := s.limit()
	group, total := []*request{first}, first.cost
	for {
		select {
		case r := <-s.requests:
			if total = total.plus(r.cost); !total.within(limit) {
				return group, r
			}
			group = append(group, r)
		default:
			return group, nil
		}
	}
}

// limit is what one transaction may cost: badger's own limits (15 % of a
// memtable; one row for each of its 96-byte nodes that fit) less a margin.
func (s *Store) limit() cost {
	const bytes = disk.Memtable * 15 / 100
	return cost{bytes: bytes - bytes/64, rows: bytes / 96 * 9 / 10}
}

// writeGroup writes and syncs group as one transaction, then answers each.
func (s *Store) writeGroup(group []*request) {
	group = s.refuseWhenFull(group)
	if len(group) == 0 {
		return
	}
	if err := s.ready(); err != nil {
		answer(group, err)
		return
	}
	b := newBatch(s)
	defer b.Discard()
	written := group[:0]
	for _, r := range group {
		if err := r.apply(b); err != nil {
			r.done <- err
			continue
		}
		written = append(written, r)
	}
	answer(written, s.commit(b))
}

func answer(group []*request, err error) {
	for _, r := range group {
		r.done <- err
	}
}

// commit makes b durable, then visible in the heads.
func (s *Store) commit(b *batch) error {
	if err := b.finish(); err != nil {
		return err
	}
	err := b.Write()
	if err == nil {
		if err = s.failure; err == nil {
			for _, h := range b.opened { // readers of the log without these entries know the holes
				s.holes.Add(h.log, h.at)
			}
			err = b.Commit()
		}
		if err != nil {
			s.reopen(fromDisk)
		}
	}
	if err != nil {
		if disk.Full(err) {
			err = ErrFull
		}
		err = fmt.Errorf("writing to %s: %w", s.dir, err)
		s.failed.Store(&err)
		return err
	}
	b.Committed()
	if b.Flattens() {
		s.upkeep.idle, s.upkeep.unflushed = false, true
	}
	s.failed.Store(nil)
	s.heads.Install(b.changed, b.forgotten)
	if b.holed {
		s.noteHoles()
	}
	if len(b.indexed) > 0 {
		s.noted(b.number)
	}
	if b.words {
		s.erasures.Add(1)
		s.tell()
	}
	s.trimmer.written += b.Bytes()
	s.trimmer.look = true
	return nil
}

// Refuses returns why the store takes no entries now, nil if it does: its disk
// has no room, it could not be opened again, or the last write failed, which
// only another write can show to be over.
func (s *Store) Refuses() error {
	s.mu.RLock()
	broken := s.broken
	s.mu.RUnlock()
	if broken != nil {
		return broken
	}
	if err := s.disk.CheckFree(s.opts.Reserve); err != nil {
		return err
	}
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// refuseWhenFull answers ErrFull to the requests for which the disk has no
// room, and returns the others.
func (s *Store) refuseWhenFull(group []*request) []*request {
	err := s.disk.CheckFree(s.opts.Reserve)
	if err == nil {
		return group
	}
	kept := group[:0]
	for _, r := range group {
		if r.frees && s.disk.CheckFree(s.opts.Reserve/4) == nil {
			kept = append(kept, r)
		} else {
			r.done <- err
		}
	}
	return kept
}
