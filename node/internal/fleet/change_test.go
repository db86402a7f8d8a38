package fleet

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
)

func TestAChangeIsAtBothHoldersBeforeItReturns(t *testing.T) {
	f := newFleet(t, 3)
	for n := range 20 {
		secret, key, value := feed(fleet.Slot(800*n), n)
		first, second, others := f.in(key.ID.Slot())
		if r := first.put(key, value); r.Version != 1 {
			t.Errorf("version %d", r.Version)
		}
		if a, b, c := first.holds(key), second.holds(key), others[0].holds(key); a != 1 || b != 1 || c != 0 {
			t.Errorf("versions %d, %d and %d", a, b, c)
		}
		first.openLists(t.Context())
		if id := key.ID.String(); !first.lists.Holds(id) || second.lists.Holds(id) {
			t.Error("it is not open at the one that serves it alone")
		}
		if got := first.lists.Get(key.ID.String()); got.Secret != secret || got.Query.Words != fmt.Sprint("w", n) {
			t.Errorf("%+v is open", got)
		}
		var elsewhere *ElsewhereError
		if _, err := second.Change(t.Context(), key, nil); !errors.As(err, &elsewhere) || elsewhere.Peer != first.id {
			t.Errorf("the keeper changes it: %v", err)
		}
		first.put(key, nil)
		if a, b := first.holds(key), second.holds(key); a != -2 || b != -2 || first.lists.Holds(key.ID.String()) {
			t.Errorf("deleted: versions %d and %d", a, b)
		}
		if _, err := first.Get(t.Context(), key); !errors.Is(err, ErrUnknown) {
			t.Errorf("a deleted row: %v", err)
		}
	}
	f.minute()
	for _, p := range f.peers {
		if s := p.Status(); s.Once != 0 || s.Moving != 0 {
			t.Errorf("%s: %+v", p.id, s)
		}
	}
}

func TestARowThatAKeeperDidNotTakeIsMendedByTheNextComparison(t *testing.T) {
	f := newFleet(t, 3)
	f.minute()
	at := f.slotOf("A", "B")
	a, b := f.peers["A"], f.peers["B"]
	_, other, value := feed(at, 1)
	a.put(other, value)
	b.silent, a.patience = true, 100*time.Millisecond
	began := time.Now()
	_, key, value := feed(at, 2)
	a.put(key, value)
	if took := time.Since(began); took < a.patience {
		t.Errorf("it returned after %s, the patience is %s", took, a.patience)
	}
	if s := a.Status(); s.Once != 1 || s.Rows != 2 {
		t.Errorf("%+v", s)
	}
	b.silent, a.patience = false, time.Minute
	f.minute()
	if s := a.Status(); s.Once != 0 || b.holds(key) != 1 {
		t.Errorf("%+v, version %d at the keeper", s, b.holds(key))
	}
}

// TestAChangeThatMeetsANewerVersionIsMadeAgainOnTop: the other holder was changed by its
// own door, and this one has not heard of it.
func TestAChangeThatMeetsANewerVersionIsMadeAgainOnTop(t *testing.T) {
	f := newFleet(t, 2)
	f.minute()
	at := f.slotOf("A", "B")
	a, b := f.peers["A"], f.peers["B"]
	key := fleet.Key{Kind: fleet.Invitation, ID: at.ID(1 << 40)}
	a.put(key, []byte("x"))
	newer := fleet.Row{Key: key, Version: 5, Value: []byte("theirs")}
	if _, err := b.merge(t.Context(), []fleet.Row{newer}); err != nil {
		t.Fatal(err)
	}
	var olds []string
	r, err := a.Change(t.Context(), key, func(old fleet.Row, is bool) ([]byte, error) {
		olds = append(olds, string(old.Value))
		return append(old.Value, '+'), nil
	})
	check(t, err)
	if r.Version != 6 || string(r.Value) != "theirs+" || b.holds(key) != 6 || fmt.Sprint(olds) != "[x theirs]" {
		t.Errorf("%+v after %q", r, olds)
	}
}

func TestAFullDiskOfTheKeeperStopsNobody(t *testing.T) {
	f := &fleetOf{t: t, peers: make(map[feedring.PeerID]*peer)}
	a, b := f.add("A", 0), f.add("B", 1<<60)
	f.changed()
	f.minute()
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	a.put(key, value)
	f.minute()
	if s := a.Status(); s.Once != 1 || s.Full || b.holds(key) != 0 {
		t.Errorf("%+v", s)
	}
	if s := b.Status(); !s.Full {
		t.Errorf("it does not say that it is full: %+v", s)
	}
	ofItsOwn := map[feedring.PeerID]fleet.Slot{"A": at, "B": f.slotOf("B", "A")}
	for _, p := range []*peer{a, b} {
		if _, err := p.Rows(t.Context(), ofItsOwn[p.id], fleet.Feed); err != nil {
			t.Errorf("%s takes the other to be silent: %v", p.id, err)
		}
	}
	_, key, value = feed(f.slotOf("B", "A"), 2)
	if _, err := b.Change(t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return value, nil }); !errors.Is(err, store.ErrFull) {
		t.Errorf("%v", err)
	}
	if a.holds(key) != 0 || b.Status().Rows != 0 {
		t.Error("a change that failed is there")
	}
}

func TestAPeerWithoutPresentHoldersChangesNothing(t *testing.T) {
	f := newFleet(t, 3)
	at := f.slotOf("A", "B")
	c := f.peers["C"]
	c.away["A"], c.away["B"] = true, true
	c.refresh()
	_, key, value := feed(at, 1)
	if _, err := c.Change(t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return value, nil }); !errors.Is(err, ErrNobody) {
		t.Errorf("%v", err)
	}
}
