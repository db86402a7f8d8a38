package disk

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

func entries(log *Log, n int) []*Entry {
	var all []*Entry
	for i := range n {
		all = append(all, &Entry{Position: feedring.Position{Epoch: 1, Sequence: uint64(len(log.Entries) + i + 1)}, ID: i})
	}
	return all
}

// What was not synced is lost, in part lost, or there; never a hole.
func TestCrash(t *testing.T) {
	for left := range 4 {
		log, d := &Log{}, New()
		first := d.Begin(Write{Log: log, Entries: entries(log, 2)})
		d.Begin(Write{Theme: "news", State: group.State{Highest: 7}})
		d.End(first)
		log.Entries = append(log.Entries, d.Copy(log).Held...)
		d.Begin(Write{Log: log, Entries: entries(log, 3)})
		told := 0
		d.Crash(func(n int) int { return min(n, left) }, func(_ *Log, e []*Entry) { told += len(e) })
		if got := len(d.Copy(log).Held); got != 2+left || told != left {
			t.Errorf("%d entries are left and %d told, not %d", got, told, 2+left)
		}
		if got := d.States["news"].Highest; (got == 7) != (left > 0) {
			t.Errorf("the state is left: %v", got == 7)
		}
		for i, e := range d.Copy(log).Held {
			if e.Position.Sequence != uint64(i+1) {
				t.Errorf("entry %d has position %d", i, e.Position.Sequence)
			}
		}
		if d.Head(log).Position.Sequence != uint64(2+left) {
			t.Errorf("the head is %v", d.Head(log))
		}
	}
}

func TestCancel(t *testing.T) {
	log, d := &Log{}, New()
	d.Cancel(d.Begin(Write{Log: log, Entries: entries(log, 2)}))
	d.Crash(func(n int) int { return n }, nil)
	if d.Copy(log) != nil {
		t.Error("a write that failed is there")
	}
}

// A position is used once.
func TestAdd(t *testing.T) {
	log := &Log{}
	for _, e := range entries(log, 2) {
		if err := log.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if log.Add(&Entry{Position: feedring.Position{Epoch: 1, Sequence: 2}}) == nil {
		t.Error("a position was used twice")
	}
}

func TestPruneAndAfter(t *testing.T) {
	log := &Log{}
	c := Copy{Log: log, Held: entries(log, 5)}
	for i, e := range c.Held {
		e.Seen = time.Unix(int64(i), 0)
	}
	c.Prune(time.Unix(2, 0))
	if len(c.Held) != 3 || c.Held[0].Position.Sequence != 3 {
		t.Errorf("%d are held", len(c.Held))
	}
	if rest := After(c.Held, feedring.Position{Epoch: 1, Sequence: 4}); len(rest) != 1 || rest[0].Position.Sequence != 5 {
		t.Errorf("%d after 4", len(rest))
	}
}

// A write that failed may have left a part of itself.
func TestKeep(t *testing.T) {
	log, d := &Log{}, New()
	d.Keep(d.Begin(Write{Log: log, Entries: entries(log, 3)}), 2)
	if got := d.Head(log).Position.Sequence; got != 2 {
		t.Errorf("%d are kept", got)
	}
	d.Crash(func(n int) int { return n }, func(*Log, []*Entry) { t.Error("it is still under way") })
}

// A copy of a disk stays as it was.
func TestSnapshot(t *testing.T) {
	log, d := &Log{}, New()
	write := func(n int) {
		all := entries(log, n)
		d.End(d.Begin(Write{Log: log, Entries: all}))
		log.Entries = append(log.Entries, all...)
	}
	write(2)
	d.End(d.Begin(Write{Theme: "news", State: group.State{Highest: 7}}))
	d.Dropped("news", time.Unix(1, 0))
	old := d.Snapshot()
	write(3)
	d.End(d.Begin(Write{Theme: "news", State: group.State{Highest: 8}}))
	d.Dropped("news", time.Unix(2, 0))
	d.Copy(log).Prune(time.Unix(9, 0))
	if old.Head(log).Position.Sequence != 2 || len(old.Copy(log).Held) != 2 || old.States["news"].Highest != 7 || !old.DroppedTo("news").Equal(time.Unix(1, 0)) {
		t.Errorf("it is %+v", old)
	}
}
