package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fleetOf is several keepers in one process, each with a disk of its own.
type fleetOf struct {
	t     *testing.T
	peers map[feedring.PeerID]*peer
	mu    sync.Mutex
	asked []string // paths
}

// peer is one of them. Its views of others are its own.
type peer struct {
	*Keeper
	id     feedring.PeerID
	all    *fleetOf
	dir    string
	disk   *store.Store
	lists  *lists
	away   map[feedring.PeerID]bool // as it sees them
	gone   map[feedring.PeerID]bool
	silent bool // it answers nobody
	cut    map[feedring.PeerID]bool
	before func(path string) // of a request that it gets
}

func newFleet(t *testing.T, n int) *fleetOf {
	f := &fleetOf{t: t, peers: make(map[feedring.PeerID]*peer)}
	for i := range n {
		f.add(feedring.PeerID(rune('A'+i)), 0)
	}
	f.changed()
	return f
}

// add adds a peer; reserve is what its disk must have left.
func (f *fleetOf) add(id feedring.PeerID, reserve int64) *peer {
	p := &peer{
		id: id, all: f, dir: f.t.TempDir(), lists: &lists{open: make(map[string]personal.Adopted)},
		away: make(map[feedring.PeerID]bool), gone: make(map[feedring.PeerID]bool), cut: make(map[feedring.PeerID]bool),
	}
	f.peers[id] = p
	p.start(reserve)
	f.t.Cleanup(func() { check(f.t, p.disk.Close()) })
	return p
}

func (p *peer) start(reserve int64) {
	var err error
	p.disk, err = store.Open(p.dir, store.Options{Reserve: max(reserve, 1)})
	check(p.all.t, err)
	p.Keeper, err = Open(Config{Self: p.id, Store: p.disk, Peers: p, Lists: p.lists, Log: slog.New(slog.DiscardHandler)})
	check(p.all.t, err)
	p.patience = time.Minute // where nobody is silent a slow disk is no reason to give up
}

// Members are all, as the peer sees them.
func (p *peer) Members() (members []fleet.Member) {
	for id := range p.all.peers {
		gone := p.gone[id]
		members = append(members, fleet.Member{Peer: id, Interests: 1 << 14, Present: !gone && !p.away[id], Gone: gone})
	}
	return members
}

// Do calls the other's handler. A peer that is silent or cut off keeps the caller
// waiting.
func (p *peer) Do(ctx context.Context, to feedring.PeerID, r *http.Request) (*http.Response, error) {
	p.all.mu.Lock()
	other := p.all.peers[to]
	p.all.asked = append(p.all.asked, r.URL.Path)
	silent := other == nil || other.silent || p.cut[to]
	p.all.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if other.before != nil {
		other.before(r.URL.Path)
	}
	w := httptest.NewRecorder()
	other.ServeHTTP(w, r)
	return w.Result(), nil
}

// changed has all see who is there.
func (f *fleetOf) changed() {
	for _, p := range f.peers {
		p.refresh()
	}
}

// minute is what peers do once a minute, each in turn.
func (f *fleetOf) minute() {
	for _, id := range slices.Sorted(maps.Keys(f.peers)) {
		if p := f.peers[id]; !p.silent {
			p.compareAll(f.t.Context(), true)
			p.openLists(f.t.Context())
			p.closeLists(f.t.Context())
		}
	}
}

// quiet has a peer answer nobody, and all others see it as it is said.
func (f *fleetOf) quiet(id feedring.PeerID, away, gone bool) {
	f.peers[id].silent = true
	for _, p := range f.peers {
		if p.id != id {
			p.away[id], p.gone[id] = away, gone
			f.peers[id].away[p.id] = true
		}
	}
	f.changed()
}

func (f *fleetOf) back(id feedring.PeerID) {
	f.peers[id].silent = false
	for _, p := range f.peers {
		delete(p.away, id)
		delete(p.gone, id)
		if !p.silent {
			delete(f.peers[id].away, p.id)
		}
	}
	f.changed()
}

// in returns the holders of a slot, and the others.
func (f *fleetOf) in(at fleet.Slot) (first, second *peer, others []*peer) {
	var p *peer
	for _, p = range f.peers {
		break
	}
	a, b := p.Places().Holders(at)
	for _, id := range slices.Sorted(maps.Keys(f.peers)) {
		if id != a && id != b {
			others = append(others, f.peers[id])
		}
	}
	return f.peers[a], f.peers[b], others
}

// slotOf finds a slot whose first holders are these.
func (f *fleetOf) slotOf(first, second feedring.PeerID) fleet.Slot {
	for at := range fleet.Slot(fleet.Slots) {
		if a, b := f.peers[first].Places().Holders(at); a == first && b == second {
			return at
		}
	}
	f.t.Fatalf("no slot is of %s and %s", first, second)
	return 0
}

// feed returns the n-th secret of a slot, and the key and value of its row.
func feed(at fleet.Slot, n int) (secret string, key fleet.Key, value []byte) {
	secret = at.Secret([fleet.SecretBytes]byte{17: byte(n), 16: byte(n >> 8)})
	id, _ := fleet.IDOf(secret)
	value, _ = json.Marshal(fleet.FeedValue{Secret: secret, Theme: "news", Words: fmt.Sprint("w", n), Created: time.Unix(int64(n), 0).UTC()})
	return secret, fleet.Key{Kind: fleet.Feed, ID: id}, value
}

func (p *peer) put(key fleet.Key, value []byte) fleet.Row {
	p.all.t.Helper()
	r, err := p.Change(p.all.t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return value, nil })
	check(p.all.t, err)
	return r
}

// holds reads a row from a peer's disk: its version; 0: it is not there, negative: it
// was deleted.
func (p *peer) holds(key fleet.Key) int {
	p.all.t.Helper()
	r, ok, err := p.read(key)
	check(p.all.t, err)
	switch {
	case !ok:
		return 0
	case !r.Live():
		return -int(r.Version)
	}
	return int(r.Version)
}

// lists are open personal feeds.
type lists struct {
	mu   sync.Mutex
	open map[string]personal.Adopted

	filling atomic.Bool
}

func (l *lists) Adopt(_ context.Context, all ...personal.Adopted) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range all {
		l.open[a.ID] = a
	}
	return nil
}

func (l *lists) Forget(_ context.Context, ids ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.open, id)
	}
	return nil
}

func (l *lists) Adopted() iter.Seq[string] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Values(slices.Collect(maps.Keys(l.open)))
}

func (l *lists) Holds(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.open[id]
	return ok
}

func (l *lists) Wait(context.Context, string) bool { return !l.filling.Load() }

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
		if got := first.lists.open[key.ID.String()]; got.Secret != secret || got.Query.Words != fmt.Sprint("w", n) {
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
		t.Errorf("%+v, lists %v", s, b.lists.open)
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
	if s := a.Status(); s.Once != 1 || b.holds(key) != 0 {
		t.Errorf("%+v", s)
	}
	_, key, value = feed(f.slotOf("B", "A"), 2)
	if _, err := b.Change(t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return value, nil }); !errors.Is(err, store.ErrFull) {
		t.Errorf("%v", err)
	}
	if a.holds(key) != 0 || b.Status().Rows != 0 {
		t.Error("a change that failed is there")
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

// TestAPeerThatStartsBeforeTheOthersSaysOfNothingThatItIsNot: all were stopped at once,
// and it is the first that is back.
func TestAPeerThatStartsBeforeTheOthersSaysOfNothingThatItIsNot(t *testing.T) {
	f := newFleet(t, 4)
	a := f.peers["A"]
	at := f.slotOf("B", "C")
	secret, key, value := feed(at, 1)
	f.peers["B"].put(key, value)
	a.saveKnown(t.Context(), time.Now())
	check(t, a.disk.Close())
	all := f.peers
	f.peers = map[feedring.PeerID]*peer{"A": a}
	a.start(0)
	if err := a.Wake(t.Context(), secret); !errors.Is(err, ErrUnsure) {
		t.Errorf("with three missing: %v", err)
	}
	f.peers = all
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
	if a.complete(time.Now().Add(24*time.Hour)) || !a.complete(time.Now().Add(fleet.Stays+time.Hour)) {
		t.Error("with two gone")
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

func TestWhatNoPeerWouldAskIsRefused(t *testing.T) {
	f := newFleet(t, 2)
	a := f.peers["A"]
	_, key, value := feed(f.slotOf("A", "B"), 1)
	good := fleet.Row{Key: key, Version: 1, Value: value}
	row := appendRow(nil, &good)
	large := append([]byte{0x20, 0x01}, bytes.Repeat([]byte{1}, fleet.MaxRow+1)...)
	for _, c := range []struct {
		method, path string
		body         []byte
		want         int
	}{
		{"GET", pathRows, nil, 405}, {"POST", "/fleet/v1/other", nil, 404}, {"POST", "/", nil, 404},
		{"POST", pathRows, row[:len(row)-1], 400}, {"POST", pathRows, row[:1], 400}, {"POST", pathRows, []byte{0, 3, 1, 1, 1}, 400}, {"POST", pathRows, large, 413},
		{"POST", pathRows, bytes.Repeat([]byte{0}, maxBody+1), 413}, {"POST", pathSums, make([]byte, sumLen-1), 400}, {"POST", pathSums, bytes.Repeat([]byte{0xff}, sumLen), 400},
		{"POST", pathDigests, []byte{1}, 400}, {"POST", pathDigests, []byte{0xff, 0xff}, 400}, {"POST", pathFetch, make([]byte, keyLen+1), 400},
		{"POST", pathFetch, nil, 200}, {"POST", pathRows, row, 200},
	} {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(c.method, c.path, bytes.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s %s with %d bytes: %d %s, not %d", c.method, c.path, len(c.body), w.Code, strings.TrimSpace(w.Body.String()), c.want)
		}
		if c.want != 200 && a.holds(key) != 0 {
			t.Errorf("%s %s: it was taken in", c.method, c.path)
		}
	}
	if a.holds(key) != 1 {
		t.Error("a good row was not taken in")
	}
	if _, err := a.Change(t.Context(), key, func(fleet.Row, bool) ([]byte, error) { return make([]byte, fleet.MaxRow), nil }); !errors.Is(err, fleet.ErrLarge) {
		t.Errorf("a large value: %v", err)
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

// FuzzServeHTTP asks a keeper what no keeper would.
func FuzzServeHTTP(f *testing.F) {
	_, key, value := feed(7, 1)
	row := fleet.Row{Key: key, Version: 1, Value: value}
	f.Add(byte(0), appendRow(nil, &row))
	f.Add(byte(1), (&slotSum{at: 7, flags: flagAlways}).append(nil))
	f.Add(byte(2), []byte{0, 7})
	f.Add(byte(3), appendKey(nil, key))
	var k *Keeper
	f.Fuzz(func(t *testing.T, path byte, body []byte) {
		if k == nil {
			disk, err := store.Open(t.TempDir(), store.Options{Reserve: 1 << 60}) // nothing is written
			check(t, err)
			k, err = Open(Config{Self: "A", Store: disk, Peers: nobody{}, Lists: &lists{open: make(map[string]personal.Adopted)}, Log: slog.New(slog.DiscardHandler)})
			check(t, err)
		}
		w := httptest.NewRecorder()
		paths := []string{pathRows, pathSums, pathDigests, pathFetch}
		k.ServeHTTP(w, httptest.NewRequest(http.MethodPost, paths[int(path)%len(paths)], bytes.NewReader(body)))
		answer, _ := io.ReadAll(w.Body)
		if w.Code != http.StatusOK {
			return
		}
		if _, err := readRows(answer); err != nil && path%4 == 3 {
			t.Fatal(err)
		}
		if _, err := readDigests(answer); err != nil && path%4 == 2 {
			t.Fatal(err)
		}
		_, _ = readDigests(body)
	})
}

type nobody struct{}

func (nobody) Members() []fleet.Member { return []fleet.Member{{Peer: "A", Present: true}} }

func (nobody) Do(context.Context, feedring.PeerID, *http.Request) (*http.Response, error) {
	return nil, errAway
}
