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
			tell: func(_ feedring.GroupID, in group.Input) { told = append(told, in.(group.Persisted).Token) },
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
