package node

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
)

// slowDisk notes what is put, after a second, and fails at first.
type slowDisk struct {
	failures int
	put      []uint64 // term numbers
	tries    int
}

func (d *slowDisk) Put(_ context.Context, _ store.Bucket, _ string, value []byte) error {
	time.Sleep(time.Second)
	if d.tries++; d.tries <= d.failures {
		return errors.New("full")
	}
	saved, err := decodeState(value)
	d.put = append(d.put, saved.State.Term.Number)
	return err
}

func TestPersisterCoalescesAndTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		disk := &slowDisk{failures: 2}
		var told []uint64
		themes := &themes{}
		themes.add(testTheme)
		p := &persister{
			store: disk, log: quiet, themes: themes, waiting: make(map[feedring.GroupID]*unsaved), wake: make(chan struct{}, 1),
			tell: func(in persisted) { told = append(told, in.Input.(group.Persisted).Token) },
		}
		done := make(chan struct{})
		go func() { p.run(ctx); close(done) }()
		for n := uint64(1); n <= 5; n++ { // the first is on its way while the others come
			p.persist(group.Persist{
				Group: testTheme.Group(), Token: n,
				State: group.State{Term: feedring.Term{Number: n}},
			})
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !slices.Equal(told, []uint64{1, 2, 3, 4, 5}) {
			t.Errorf("told %v", told)
		}
		if !slices.Equal(disk.put, []uint64{1, 5}) {
			t.Errorf("put %v: the newest state holds what the older ones said", disk.put)
		}
		disk.failures = 1 << 30
		p.persist(group.Persist{Group: testTheme.Group(), Token: 6})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(told) != 5 {
			t.Error("told of a state that is not on disk")
		}
		cancel()
		<-done
	})
}

// TestPersistedOfAFormerMembership: a group is left and entered again while the
// disk writes, and while what it says waits for the machine.
func TestPersistedOfAFormerMembership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		disk := &slowDisk{}
		var queue []persisted
		themes := &themes{}
		themes.add(testTheme)
		p := &persister{
			store: disk, log: quiet, themes: themes, waiting: make(map[feedring.GroupID]*unsaved), wake: make(chan struct{}, 1),
			tell: func(in persisted) { queue = append(queue, in) },
		}
		done := make(chan struct{})
		go func() { p.run(ctx); close(done) }()
		persist := func(token, number uint64) {
			p.persist(group.Persist{Group: testTheme.Group(), Token: token, State: group.State{Term: feedring.Term{Number: number}}})
			synctest.Wait()
		}
		persist(1, 1) // is on its way
		persist(2, 2) // waits
		p.left(testTheme.Group())
		persist(1, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		var taken []uint64
		for _, in := range queue {
			if p.current(in) {
				taken = append(taken, in.Input.(group.Persisted).Token)
			}
		}
		if !slices.Equal(taken, []uint64{1}) || !slices.Equal(disk.put, []uint64{1, 3}) {
			t.Errorf("taken %v, put %v", taken, disk.put)
		}
		p.left(testTheme.Group()) // while the last one waits for the machine
		for _, in := range queue {
			if p.current(in) {
				t.Errorf("%v was taken after the end", in)
			}
		}
		if !p.current(peer.Tick{}) {
			t.Error("something else was refused")
		}
		persist(1, 4) // the last state of a membership is stored as well
		persist(2, 5)
		p.left(testTheme.Group())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := disk.put[len(disk.put)-1]; got != 5 {
			t.Errorf("the last state is %d", got)
		}
		cancel()
		<-done
	})
}
