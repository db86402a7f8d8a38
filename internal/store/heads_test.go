package store

import (
	"fmt"
	"testing"

	"github.com/feedring/feedring/internal/store/rows"
)

// TestHeadsOutliveATrim opens the database anew, for its memory's sake: what is
// held of logs is not read again, and is what the disk has.
func TestHeadsOutliveATrim(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.trimmer.busy = 1 // a trim after each write
	fill(t, s, 100, 100)
	ref := s.Refs()[0]
	before := s.Heads()
	state, _ := s.heads.Get(ref)
	var row []byte
	change := func(apply func(b *batch) error) {
		t.Helper()
		check(t, s.submit(ctx, &request{cost: cost{bytes: 1000, rows: 1}, apply: apply}))
	}
	change(func(b *batch) (err error) { // from now on a reader of the disk finds no such head
		row, err = get(b.Txn, rows.RefKey(state.ID))
		b.del(rows.RefKey(state.ID))
		return err
	})
	check(t, s.Put(ctx, BucketFeed, "x", []byte("y")))
	check(t, s.Put(ctx, BucketFeed, "z", []byte("y"))) // after the trim
	if _, ok := s.Head(ref); !ok {
		t.Error("the heads were read from disk again")
	}
	change(func(b *batch) error {
		b.set(rows.RefKey(state.ID), row)
		return b.err
	})
	check(t, s.Close())
	s = open(t, dir, Options{})
	if after := s.Heads(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("on disk:   %v\nin memory: %v", after, before)
	}
}
