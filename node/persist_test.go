package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
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

// postFunc is told of what was stored.
type postFunc func(persisted)

func (f postFunc) Post(in peer.Input) bool {
	f(in.(persisted))
	return true
}

func TestPersisterCoalescesAndTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		disk := &slowDisk{failures: 2}
		var told []uint64
		p := newPersister(disk, postFunc(func(in persisted) { told = append(told, in.Input.(group.Persisted).Token) }), quiet)
		p.themes.add(testTheme)
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
		if !slices.Equal(disk.put, []uint64{5}) {
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

// oneRefused refuses the states of one group, and takes the others'.
type oneRefused struct {
	sync.Mutex
	group  feedring.GroupID
	heals  time.Time
	tries  int
	stored []string
}

func (d *oneRefused) Put(_ context.Context, _ store.Bucket, key string, value []byte) error {
	time.Sleep(time.Millisecond)
	d.Lock()
	defer d.Unlock()
	if key == d.group.String() && time.Now().Before(d.heals) {
		d.tries++
		return errors.New("refused")
	}
	saved, err := decodeState(value)
	d.stored = append(d.stored, fmt.Sprint(saved.Theme, " ", saved.State.Term.Number))
	return err
}

// TestOneGroupsRefusedStateHoldsUpNoOther: the disk refuses one group's states for a
// minute. All others are stored and told of at once, and of the refused one the newest
// is once it can be.
func TestOneGroupsRefusedStateHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		disk := &oneRefused{group: testTheme.Group(), heals: began.Add(time.Minute)}
		type told struct {
			group feedring.GroupID
			token uint64
		}
		at := map[told]time.Duration{}
		p := newPersister(disk, postFunc(func(in persisted) {
			disk.Lock()
			defer disk.Unlock()
			at[told{in.Group, in.Input.(group.Persisted).Token}] = time.Since(began)
		}), quiet)
		p.themes.add(testTheme)
		p.themes.add("sport")
		done := make(chan struct{})
		go func() { p.run(ctx); close(done) }()
		defer func() { cancel(); <-done }()
		other := feedring.Theme("sport").Group()
		for n := uint64(1); n <= 30; n++ {
			for _, g := range []feedring.GroupID{testTheme.Group(), other} {
				p.persist(group.Persist{Group: g, Token: n, State: group.State{Term: feedring.Term{Number: n}}})
			}
			time.Sleep(time.Second)
		}
		disk.Lock()
		first, tries := maps.Clone(at), disk.tries
		disk.Unlock()
		for n := uint64(1); n <= 30; n++ {
			if took, ok := first[told{other, n}]; !ok || took > time.Duration(n)*time.Second {
				t.Fatalf("the other group's state %d was told of after %s: %v", n, took, ok)
			}
		}
		if tries > 31 {
			t.Errorf("%d tries in 30 seconds", tries)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		disk.Lock()
		defer disk.Unlock()
		for n := uint64(1); n <= 30; n++ {
			if took := at[told{testTheme.Group(), n}]; took < time.Minute || took > time.Minute+2*persistRetry {
				t.Errorf("the refused state %d was told of after %s", n, took)
			}
		}
		if last := disk.stored[len(disk.stored)-1]; last != string(testTheme)+" 30" || len(disk.stored) != 31 {
			t.Errorf("stored: %v", disk.stored)
		}
	})
}

// TestPersistedOfAFormerMembership: a group is left and entered again while the
// disk writes, and while what it says waits for the machine.
func TestPersistedOfAFormerMembership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		disk := &slowDisk{}
		var queue []persisted
		p := newPersister(disk, postFunc(func(in persisted) { queue = append(queue, in) }), quiet)
		p.themes.add(testTheme)
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
