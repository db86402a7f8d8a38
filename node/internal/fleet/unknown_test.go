package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/fleet"
)

// TestWhatAPeerDoesNotKnowItAsksTheOtherHolder: it was stopped for a while and has seen
// nobody go, so it does not know that it may lack something.
func TestWhatAPeerDoesNotKnowItAsksTheOtherHolder(t *testing.T) {
	f := newFleet(t, 2)
	f.minute()
	at := f.slotOf("A", "B")
	a, b := f.peers["A"], f.peers["B"]
	secret, key, value := feed(at, 1)
	row := fleet.Row{Key: key, Version: 1, Value: value}
	_, err := b.merge(t.Context(), []fleet.Row{row})
	check(t, err)
	if err := a.Wake(t.Context(), secret); err != nil || a.holds(key) != 1 {
		t.Errorf("%v", err)
	}
	b.silent, a.patience = true, 100*time.Millisecond
	unknown, _, _ := feed(at, 2)
	if err := a.Wake(t.Context(), unknown); !errors.Is(err, ErrUnsure) {
		t.Errorf("where it does not answer: %v", err)
	}
}

// TestANewHolderAsksBeforeItSaysThatThereIsNone: it has no rows yet when it is asked.
func TestANewHolderAsksBeforeItSaysThatThereIsNone(t *testing.T) {
	f := newFleet(t, 2)
	a := f.peers["A"]
	d := f.add("D", 0)
	f.changed()
	at := f.slotOf("D", "A")
	delete(f.peers, "D")
	a.refresh()
	f.peers["B"].refresh()
	secret, key, value := feed(at, 1)
	first, _, _ := f.in(at)
	first.put(key, value)
	f.peers["D"] = d
	f.changed()
	if err := d.Wake(t.Context(), secret); err != nil || !d.lists.Holds(key.ID.String()) {
		t.Errorf("a feed that moved: %v", err)
	}
	if r := d.put(key, value); r.Version != 2 {
		t.Errorf("version %d", r.Version)
	}
	unknown, _, _ := feed(at, 2)
	if err := d.Wake(t.Context(), unknown); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	at2 := f.slotOf("D", "B")
	f.peers["A"].silent, d.patience = true, 100*time.Millisecond
	d.mu.Lock()
	d.members["A"].back = d.epoch + 1 // it is asked anew
	d.epoch++
	d.mu.Unlock()
	unknown, _, _ = feed(at2, 3)
	if err := d.Wake(t.Context(), unknown); !errors.Is(err, ErrUnsure) {
		t.Errorf("where one does not answer: %v", err)
	}
	if err := d.Wake(t.Context(), "nonsense"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// TestAPeerThatStartsBeforeTheOthersSaysOfNothingThatItIsNot: all were stopped at once,
// and it is the first that is back.
func TestAPeerThatStartsBeforeTheOthersSaysOfNothingThatItIsNot(t *testing.T) {
	f := newFleet(t, 4)
	a := f.peers["A"]
	at := f.slotOf("B", "C")
	secret, key, value := feed(at, 1)
	f.peers["B"].put(key, value)
	check(t, a.disk.Close())
	a.away["B"], a.away["C"], a.away["D"] = true, true, true
	a.start(0)
	if err := a.Wake(t.Context(), secret); !errors.Is(err, ErrUnsure) {
		t.Errorf("with three missing: %v", err)
	}
	clear(a.away)
	f.changed()
	unknown, _, _ := feed(f.slotOf("A", "B"), 2)
	if err := a.Wake(t.Context(), unknown); !errors.Is(err, ErrUnknown) {
		t.Errorf("with all there: %v", err)
	}
	f.quiet("D", true, false)
	if err := a.Wake(t.Context(), unknown); !errors.Is(err, ErrUnsure) || a.complete(time.Now()) {
		t.Errorf("with one just gone: %v", err)
	}
	if !a.complete(time.Now().Add(moved)) {
		t.Error("with one gone for long")
	}
	f.quiet("C", true, false)
	if a.complete(time.Now().Add(24 * time.Hour)) {
		t.Error("with two gone")
	}
}

// A row that this peer lacks may be at the other holder: ending it or changing it asks for
// it, and fails as reading it does. Making one does not.
func TestAChangeOfARowThatIsNotHereAsksTheOtherHolder(t *testing.T) {
	f := newFleet(t, 2)
	f.minute()
	at := f.slotOf("A", "B")
	a, b := f.peers["A"], f.peers["B"]
	_, key, value := feed(at, 1)
	_, err := b.merge(t.Context(), []fleet.Row{{Key: key, Version: 1, Value: value}})
	check(t, err)
	if a.put(key, nil); a.holds(key) != -2 || b.holds(key) != -2 {
		t.Errorf("a row that is at the other holder is not ended: versions %d and %d", a.holds(key), b.holds(key))
	}
	errNone := errors.New("there is none")
	_, lacking, value := feed(at, 2)
	end := func() error {
		_, err := a.Change(t.Context(), lacking, func(_ fleet.Row, is bool) ([]byte, error) {
			if !is {
				return nil, errNone
			}
			return nil, nil
		})
		return err
	}
	if err := end(); !errors.Is(err, errNone) {
		t.Errorf("where both lack it: %v", err)
	}
	b.silent, a.patience = true, 100*time.Millisecond
	if err := end(); !errors.Is(err, ErrUnsure) {
		t.Errorf("where the other does not answer: %v", err)
	}
	if a.put(lacking, value); a.holds(lacking) != 1 {
		t.Error("a new row is not made")
	}
}

// TestRowsComeWithThePeersThatMayHaveMore: a list is not refused because a peer is silent.
func TestRowsComeWithThePeersThatMayHaveMore(t *testing.T) {
	f := newFleet(t, 3)
	f.minute()
	at := f.slotOf("A", "B")
	a := f.peers["A"]
	_, key, value := feed(at, 1)
	a.put(key, value)
	f.peers["C"].silent, a.patience = true, 100*time.Millisecond
	f.minute()
	rows, err := a.Rows(t.Context(), at, fleet.Feed)
	var unsure *UnsureError
	if !errors.As(err, &unsure) || !errors.Is(err, ErrUnsure) || len(unsure.Silent) != 1 || unsure.Silent[0] != "C" || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
}
