package presence

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
)

const r = 10 * time.Second

// process is one of a world's.
type process struct {
	*Machine
	epoch   uint64 // of its logs
	dead    bool
	changes []Changed
	rounds  int
}

// world plays processes with one key, that all tell some witnesses.
type world struct {
	t         *testing.T
	now       time.Time
	witnesses []*Witness
	processes []*process
	overlap   bool // two published at once
}

func newWorld(t *testing.T, witnesses int) *world {
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for range witnesses {
		w.witnesses = append(w.witnesses, &Witness{})
	}
	return w
}

// start starts a process, as saved from an earlier life if there was one.
func (w *world) start(saved Changed) *process {
	since := times.Later(w.now, saved.Since)
	p := &process{epoch: 7}
	p.Machine = New(Config{Refresh: r, Instance: uint64(len(w.processes)) + 1, Since: since, Above: saved.Above}, w.now)
	w.processes = append(w.processes, p)
	w.step(p, Tick{})
	return p
}

func (w *world) step(p *process, in Input) {
	for _, out := range p.Step(w.now, in) {
		switch out := out.(type) {
		case Changed:
			p.changes = append(p.changes, out)
			p.epoch = max(p.epoch, out.Above)
		case Ask:
			p.rounds++
			for _, witness := range w.witnesses {
				w.step(p, Heard{witness.Record(w.now, "key", out.Statement)})
			}
			w.step(p, Asked{Answers: len(w.witnesses), Nobody: len(w.witnesses) == 0, Settled: true, Epoch: p.epoch})
		}
	}
}

func (w *world) run(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(50 * time.Millisecond) {
		publish := 0
		for _, p := range w.processes {
			if p.dead {
				continue
			}
			if at := p.Deadline(); !at.IsZero() && !at.After(w.now) {
				w.step(p, Tick{})
			}
			if p.state == Publishes {
				publish++
			}
		}
		w.overlap = w.overlap || publish > 1
	}
}

func (w *world) want(p *process, state State, rival *process) {
	w.t.Helper()
	w.step(p, Tick{})
	var other uint64
	if live := p.live(); len(live) > 0 {
		other = live[0].last.Instance
	}
	if want := uint64(slices.Index(w.processes, rival) + 1); p.state != state || other != want {
		w.t.Errorf("process %d: state %d and rival %d, want %d and %d", p.own.Instance, p.state, other, state, want)
	}
}

// TestTheFirstGoesOnPublishing: a copy never publishes, both know of each other
// within three periods, and the original goes on through a restart and an absence.
func TestTheFirstGoesOnPublishing(t *testing.T) {
	for witnesses := 1; witnesses <= 3; witnesses++ {
		w := newWorld(t, witnesses)
		original := w.start(Changed{})
		w.want(original, Publishes, nil)
		w.run(time.Hour)
		copied := w.start(Changed{})
		w.want(copied, Waits, nil)
		w.run(3 * r)
		w.want(original, Publishes, copied)
		w.want(copied, Yields, original)
		w.run(time.Hour)
		w.want(original, Publishes, copied)
		w.want(copied, Yields, original)

		original.dead = true
		w.run(3 * r)
		again := w.start(Changed{})
		w.run(3 * r)
		w.want(again, Publishes, copied)
		w.want(copied, Yields, again)

		again.dead = true
		w.run(time.Hour)
		w.want(copied, Publishes, nil)
		if last := copied.changes[len(copied.changes)-1]; last.Above <= again.epoch {
			t.Errorf("it goes on in epoch %d, where the other was in %d", last.Above, again.epoch)
		}
		epoch := copied.epoch
		back := w.start(Changed{})
		w.run(6 * r)
		w.want(back, Publishes, copied)
		w.want(copied, Yields, back)
		if back.epoch <= epoch {
			t.Errorf("the original goes on in epoch %d, the copy was in %d", back.epoch, epoch)
		}
		if w.overlap {
			t.Error("two published at once")
		}
	}
}

// TestACopyThatPublishedForADayStays: then it is the one that people know.
func TestACopyThatPublishedForADayStays(t *testing.T) {
	w := newWorld(t, 1)
	original := w.start(Changed{})
	copied := w.start(Changed{})
	w.run(3 * r)
	original.dead = true
	w.run(Behind + time.Hour)
	w.want(copied, Publishes, nil)
	back := w.start(Changed{})
	w.run(6 * r)
	w.want(back, Yields, copied)
	w.want(copied, Publishes, back)
	if w.overlap {
		t.Error("two published at once")
	}
}

// TestYieldingSurvivesARestart: a copy that yielded stays behind, also when only
// it was started again.
func TestYieldingSurvivesARestart(t *testing.T) {
	w := newWorld(t, 1)
	original := w.start(Changed{})
	w.run(r)
	copied := w.start(Changed{})
	w.run(3 * r)
	copied.dead, original.dead = true, true
	saved := copied.changes[len(copied.changes)-1]
	w.run(time.Hour)
	copied = w.start(saved)
	w.run(r)
	w.want(copied, Publishes, nil)
	w.run(time.Hour)
	original = w.start(Changed{})
	w.run(6 * r)
	w.want(original, Publishes, copied)
	w.want(copied, Yields, original)
}

// TestARestartIsNoDuplicate: the statements of an earlier life, which witnesses
// repeat, are nobody's; a process that left in good order is not waited for.
func TestARestartIsNoDuplicate(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		w := newWorld(t, 2)
		first := w.start(Changed{})
		w.run(time.Minute)
		if leaves {
			w.step(first, Leave{})
		}
		first.dead = true
		w.run(time.Second)
		again := w.start(Changed{})
		if leaves {
			w.want(again, Publishes, nil)
		}
		w.run(2*r + time.Second)
		w.want(again, Publishes, nil)
		w.run(time.Hour)
		w.want(again, Publishes, nil)
		for _, c := range again.changes {
			if c.Rival != nil || c.Above != 0 {
				t.Errorf("left %v: %+v", leaves, c)
			}
		}
	}
}

// TestRepeatedStatementsProveNothing: a witness that repeats what it heard, as
// often as it likes and as new, does not make a rival.
func TestRepeatedStatementsProveNothing(t *testing.T) {
	w := newWorld(t, 1)
	p := w.start(Changed{})
	var old []Statement
	for i := range 40 {
		old = append(old, Statement{Instance: 77, Count: uint64(i + 1), Since: w.now.Add(-time.Hour), Publishes: true, Seen: []Sight{{99, 1}, {1, 1000}}})
	}
	for _, s := range old {
		w.step(p, Heard{[]HeardStatement{{Statement: s}}})
		w.run(r)
		w.want(p, Publishes, nil)
	}
	if p.rounds > 500 {
		t.Errorf("%d rounds in 40 periods", p.rounds)
	}
}

// TestAlone: a process that nobody answers publishes after a moment, at once
// where there is nobody to ask.
func TestAlone(t *testing.T) {
	w := newWorld(t, 0)
	w.want(w.start(Changed{}), Publishes, nil)
	m := New(Config{Refresh: r, Instance: 1, Since: w.now}, w.now)
	for d := time.Duration(0); d < 4*time.Second; d += 100 * time.Millisecond {
		for _, out := range m.Step(w.now.Add(d), Tick{}) {
			if _, ok := out.(Ask); ok {
				m.Step(w.now.Add(d), Asked{})
			}
		}
		if (m.state == Publishes) != (d >= silence) {
			t.Fatalf("after %s: %d", d, m.state)
		}
	}
}

// TestManyProcesses: of any number exactly one publishes, and the next one when
// it stops.
func TestManyProcesses(t *testing.T) {
	w := newWorld(t, 2)
	for range 5 {
		w.start(Changed{})
		w.run(time.Second)
	}
	for range w.processes {
		w.run(10 * r)
		var publish []int
		for i, p := range w.processes {
			if !p.dead && p.state == Publishes {
				publish = append(publish, i)
			}
		}
		if len(publish) != 1 {
			t.Fatalf("%v publish", publish)
		}
		w.processes[publish[0]].dead = true
	}
	if w.overlap {
		t.Error("two published at once")
	}
}

// TestWitnessKeepsLittle: whatever is told to it.
func TestWitnessKeepsLittle(t *testing.T) {
	var w Witness
	now := time.Now()
	for i := range 1000 {
		w.Record(now, "key", Statement{Instance: uint64(i + 1), Count: 1})
	}
	if n := len(w.Record(now, "key", Statement{Instance: 1, Count: 2})); n > maxEach {
		t.Errorf("%d statements of one key", n)
	}
	for i := range 2 * maxKeys {
		w.Record(now, feedring.PeerID(fmt.Sprint(i)), Statement{Instance: 1, Count: 1})
	}
	if len(w.keys) > maxKeys {
		t.Errorf("%d keys", len(w.keys))
	}
	w.Record(now.Add(2*witnessFor), "late", Statement{Instance: 1, Count: 1})
	if len(w.keys) != 1 {
		t.Errorf("%d keys after all are old", len(w.keys))
	}
	// An older statement does not replace a newer one.
	w.Record(now, "one", Statement{Instance: 1, Count: 5})
	w.Record(now, "one", Statement{Instance: 1, Count: 4})
	if told := w.Record(now.Add(time.Second), "one", Statement{Instance: 2, Count: 1}); len(told) != 1 || told[0].Statement.Count != 5 || told[0].Age != time.Second {
		t.Errorf("%+v", told)
	}
}

// TestChoose: two processes with one key and the same map tell some peer in
// common, whomever they are connected with.
func TestChoose(t *testing.T) {
	var ring []feedring.PeerID
	for i := range 40 {
		ring = append(ring, feedring.PeerID(fmt.Sprintf("leader %d", i)))
	}
	a := Choose("self", []feedring.PeerID{"m", "s", "self", ""}, ring, []feedring.PeerID{"a", "b"})
	slices.Reverse(ring)
	b := Choose("self", nil, ring, []feedring.PeerID{"c", "d"})
	common := slices.DeleteFunc(slices.Clone(a), func(p feedring.PeerID) bool { return !slices.Contains(b, p) })
	if len(common) != ringPeers || len(a) != 2+ringPeers || slices.Contains(a, "self") {
		t.Errorf("%q and %q", a, b)
	}
	if c := Choose("self", nil, nil, []feedring.PeerID{"e", "d", "c", "b", "a", "self"}); len(c) != atLeast {
		t.Errorf("%q", c)
	}
	if c := Choose("self", ring, ring, nil); len(c) != ownLeaders+ringPeers {
		t.Errorf("%d are told", len(c))
	}
}

// TestWitnessKeepsFewBytes: long statements of many keys take no more than so
// much memory, which is there again when they are old.
func TestWitnessKeepsFewBytes(t *testing.T) {
	var w Witness
	now := time.Now()
	long := &feedring.Seal{Payload: make([]byte, 8<<10)}
	for round := range 2 {
		for i := range maxKeys {
			w.Record(now, feedring.PeerID(fmt.Sprint(round, i)), Statement{Instance: 1 + uint64(i%3), Count: 1, Seal: long})
			w.Record(now, feedring.PeerID(fmt.Sprint(round, i/2)), Statement{Instance: 9, Count: uint64(i + 1), Seal: long})
		}
		kept := 0
		for _, all := range w.keys {
			kept += sizeOf(all)
		}
		if kept != w.bytes || kept > maxBytes || kept < maxBytes/2 {
			t.Errorf("%d bytes are kept, and %d counted", kept, w.bytes)
		}
		now = now.Add(2 * witnessFor)
	}
}
