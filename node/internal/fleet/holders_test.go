package fleet

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/fleet"
)

func TestAHolderThatComesBackHasWhatChanged(t *testing.T) {
	f := newFleet(t, 3)
	at := f.slotOf("A", "B")
	a, b := f.peers["A"], f.peers["B"]
	_, kept, v1 := feed(at, 1)
	_, gone, v2 := feed(at, 2)
	secret, fresh, v3 := feed(at, 3)
	a.put(kept, v1)
	a.put(gone, v2)
	f.quiet("A", true, false)
	if got := b.Places().Serves(at); got != "B" {
		t.Fatalf("%s serves it", got)
	}
	b.put(kept, v1)
	b.put(gone, nil)
	b.put(fresh, v3)
	b.openLists(t.Context())
	if s := b.Status(); s.Once < 2 || !b.lists.Holds(fresh.ID.String()) {
		t.Errorf("%+v, lists %v", s, slices.Collect(b.lists.Adopted()))
	}
	f.back("A")
	// Before the next minute: who asks A for it waits until A asked the others.
	if err := a.Wake(t.Context(), secret); err != nil || !a.lists.Holds(fresh.ID.String()) {
		t.Errorf("it is not opened: %v", err)
	}
	if a.holds(kept) != 2 || a.holds(gone) != -2 || a.holds(fresh) != 1 {
		t.Errorf("versions %d, %d, %d", a.holds(kept), a.holds(gone), a.holds(fresh))
	}
	a.put(kept, v1)
	if a.holds(kept) != 3 || b.holds(kept) != 3 {
		t.Errorf("versions %d and %d", a.holds(kept), b.holds(kept))
	}
	f.minute()
	f.minute()
	if b.lists.Holds(fresh.ID.String()) {
		t.Error("it is still open at the keeper")
	}
	f.minute()
	if s := a.Status(); s.Once != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAThirdTakesOverWhereAHolderIsGone(t *testing.T) {
	f := newFleet(t, 3)
	at := f.slotOf("A", "B")
	secret, key, value := feed(at, 1)
	f.peers["A"].put(key, value)
	f.quiet("A", true, false)
	f.minute()
	c := f.peers["C"]
	if c.holds(key) != 0 {
		t.Error("an outage moves rows")
	}
	f.quiet("A", true, true)
	f.minute()
	if c.holds(key) != 1 {
		t.Fatal("the third has no copy")
	}
	if s := f.peers["B"].Status(); s.Once != 0 {
		t.Errorf("%+v", s)
	}
	f.quiet("B", true, false)
	if err := c.Wake(t.Context(), secret); err != nil || !c.lists.Holds(key.ID.String()) {
		t.Errorf("the third does not open it: %v", err)
	}
	f.back("A")
	f.back("B")
	for range 3 {
		f.minute()
	}
	if c.holds(key) != 0 || c.lists.Holds(key.ID.String()) || f.peers["A"].holds(key) != 1 || f.peers["B"].holds(key) != 1 {
		t.Errorf("versions %d, %d and %d after all are back", f.peers["A"].holds(key), f.peers["B"].holds(key), c.holds(key))
	}
}

// TestRowsMoveToANewMemberAndAreDroppedOnceBothHaveThem also has one of the holders away
// meanwhile.
func TestRowsMoveToANewMemberAndAreDroppedOnceBothHaveThem(t *testing.T) {
	f := newFleet(t, 3)
	var keys []fleet.Key
	for n := range 60 {
		_, key, value := feed(fleet.Slot(n*270), n)
		first, _, _ := f.in(key.ID.Slot())
		first.put(key, value)
		keys = append(keys, key)
	}
	count := func() (copies map[fleet.Key]int) {
		copies = make(map[fleet.Key]int)
		for _, p := range f.peers {
			for _, key := range keys {
				if p.holds(key) == 1 {
					copies[key]++
				}
			}
		}
		return copies
	}
	f.add("D", 0)
	f.changed()
	f.quiet("B", true, false)
	f.minute()
	for key, n := range count() {
		if n < 2 {
			t.Fatalf("%d copies while one holder is away", n)
		}
		first, second, _ := f.in(key.ID.Slot())
		if holders := string(first.id + second.id); n != 3 && (holders == "BD" || holders == "DB") {
			t.Errorf("%d copies: the former holder did not wait for the one that is away", n)
		}
	}
	f.back("B")
	f.minute()
	f.minute()
	moved := 0
	for key, n := range count() {
		first, second, _ := f.in(key.ID.Slot())
		if n != 2 || first.holds(key) != 1 || second.holds(key) != 1 {
			t.Errorf("%d copies, versions %d and %d at the holders", n, first.holds(key), second.holds(key))
		}
		if first.id == "D" || second.id == "D" {
			moved++
		}
	}
	if moved == 0 || len(count()) != len(keys) {
		t.Errorf("%d of %d rows moved", moved, len(count()))
	}
	for _, p := range f.peers {
		if s := p.Status(); s.Moving != 0 || s.Once != 0 {
			t.Errorf("%s: %+v", p.id, s)
		}
	}
}

// TestASplitLosesNoRow: each side changes and adds, through its own door.
func TestASplitLosesNoRow(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	_, both, v := feed(at, 1)
	_, deleted, v2 := feed(at, 2)
	a.put(both, v)
	a.put(deleted, v2)
	a.cut["B"], b.cut["A"], a.away["B"], b.away["A"] = true, true, true, true
	f.changed()
	_, ofA, va := feed(at, 3)
	_, ofB, vb := feed(at, 4)
	a.put(ofA, va)
	a.put(both, append([]byte(" "), v...))
	a.put(deleted, append([]byte(" "), v2...))
	b.put(ofB, vb)
	b.put(both, append([]byte("  "), v...))
	b.put(deleted, nil)
	clear(a.cut)
	clear(b.cut)
	clear(a.away)
	clear(b.away)
	f.changed()
	f.minute()
	for _, key := range []fleet.Key{both, ofA, ofB} {
		if a.holds(key) < 1 || a.holds(key) != b.holds(key) {
			t.Errorf("%s: versions %d and %d", key.ID, a.holds(key), b.holds(key))
		}
	}
	if a.holds(deleted) != -2 || b.holds(deleted) != -2 {
		t.Errorf("versions %d and %d of what one side deleted", a.holds(deleted), b.holds(deleted))
	}
	r1, _, _ := a.read(both)
	r2, _, _ := b.read(both)
	if !bytes.Equal(r1.Value, r2.Value) || a.slots[at].sum != b.slots[at].sum {
		t.Error("the sides have other values")
	}
}

func TestTombstonesEndAtBothAndDoNotComeBack(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	r := a.put(key, value)
	old := fleet.Row{Key: key, Version: r.Version + 1, Deleted: time.Now().Add(-fleet.Stays - 48*time.Hour).UTC().Truncate(time.Second)}
	for _, p := range []*peer{a, b} {
		_, err := p.merge(t.Context(), []fleet.Row{old})
		check(t, err)
	}
	if a.holds(key) != -2 {
		t.Fatalf("version %d", a.holds(key))
	}
	a.sweep(t.Context(), time.Now())
	f.minute() // b has it yet
	if a.holds(key) != 0 {
		t.Error("it came back")
	}
	if s := a.Status(); s.Once != 0 {
		t.Errorf("%+v", s)
	}
	b.sweep(t.Context(), time.Now())
	if b.holds(key) != 0 || a.slots[at].sum != (fleet.Sum{}) || b.slots[at].sum != (fleet.Sum{}) {
		t.Error("it did not end")
	}
}

// TestLargeSlotsAreComparedInParts: what one answer does not hold comes with the next.
func TestLargeSlotsAreComparedInParts(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	var rows []fleet.Row
	for n := range 400 {
		rows = append(rows, fleet.Row{Key: fleet.Key{Kind: fleet.Hook, ID: at.ID(uint64(n) << 20)}, Version: 1, Value: bytes.Repeat([]byte{'x'}, 8000)})
	}
	_, err := a.merge(t.Context(), rows)
	check(t, err)
	f.asked = nil
	b.compareAll(t.Context(), true)
	if b.slots[at].live != len(rows) || b.slots[at].sum != a.slots[at].sum {
		t.Errorf("%d rows", b.slots[at].live)
	}
	fetches := len(slices.DeleteFunc(slices.Clone(f.asked), func(p string) bool { return p != pathFetch }))
	if fetches != 4 {
		t.Errorf("%d answers for 3.2 MB", fetches)
	}
	_, err = b.merge(t.Context(), []fleet.Row{{Key: rows[0].Key, Version: 2, Deleted: time.Now().UTC().Truncate(time.Second)}})
	check(t, err)
	b.compareAll(t.Context(), true)
	if a.holds(rows[0].Key) != -2 {
		t.Error("what is newer here was not given")
	}
}
