package fleet

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
)

// A reader whose poll is answered before the list was filled would be told that there is no
// such feed.
func TestAFeedThatIsBeingFilledIsNotAwake(t *testing.T) {
	f := newFleet(t, 2)
	secret, key, value := feed(7, 1)
	first, second, _ := f.in(key.ID.Slot())
	first.put(key, value)
	for _, m := range []*peer{first, second} {
		m.lists.filling.Store(true)
		if err := m.Wake(t.Context(), secret); !errors.Is(err, ErrFilling) {
			t.Errorf("while it is filled: %v", err)
		}
		m.lists.filling.Store(false)
		check(t, m.Wake(t.Context(), secret))
	}
}

func TestRowsAreKeptOverARestart(t *testing.T) {
	f := newFleet(t, 2)
	a := f.peers["A"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	a.put(key, value)
	_, orphan, _ := feed(at, 2)
	check(t, a.disk.Put(t.Context(), store.BucketFleet, orphan.Record(), []byte("damaged")))
	check(t, a.lists.Adopt(t.Context(), personal.Adopted{ID: orphan.ID.String()}))
	f.minute()
	sum, status := a.slots[at].sum, a.Status()
	check(t, a.disk.Close())
	a.start(0)
	if a.slots[at].sum != sum {
		t.Error("another sum")
	}
	f.changed()
	a.reconcile(t.Context())
	f.minute()
	if got := a.Status(); got != status {
		t.Errorf("%+v, before %+v", got, status)
	}
	if a.lists.Holds(orphan.ID.String()) || !a.lists.Holds(key.ID.String()) {
		t.Error("what is open is not what there is")
	}
}

// TestRunDoesAllOfThisByItself: the driver's own goroutines.
func TestRunDoesAllOfThisByItself(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	row := fleet.Row{Key: key, Version: 1, Value: value}
	_, err := b.merge(t.Context(), []fleet.Row{row})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	late := time.After(20 * time.Second)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !a.lists.Holds(key.ID.String()) {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("a feed that only the keeper had is never open")
		}
	}
	a.Changed()
	cancel()
	running.Wait()
}
