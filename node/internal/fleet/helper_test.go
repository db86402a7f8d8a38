package fleet

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
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
	lists  *nodetest.Lists
	away   map[feedring.PeerID]bool // as it sees them
	gone   map[feedring.PeerID]bool
	silent bool // it answers nobody
	cut    map[feedring.PeerID]bool
	before func(path string) // of a request that it gets
	hooks  []fleet.Row       // that it was told of
	moved  int               // times that it was told that slots moved
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
		id: id, all: f, dir: f.t.TempDir(), lists: &nodetest.Lists{},
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
	p.Keeper, err = Open(Config{Self: p.id, Store: p.disk, Members: p, Link: p, Lists: p.lists, Hooks: p, Log: slog.New(slog.DiscardHandler)})
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

// RoundTrip calls the other's handler. A peer that is silent or cut off keeps the caller
// waiting.
func (p *peer) RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error) {
	p.all.mu.Lock()
	other := p.all.peers[to]
	p.all.asked = append(p.all.asked, r.URL.Path)
	silent := other == nil || other.silent || p.cut[to]
	p.all.mu.Unlock()
	if silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if other.before != nil {
		other.before(r.URL.Path)
	}
	w := httptest.NewRecorder()
	other.ServeHTTP(w, r)
	return w.Result(), nil
}

// TakeHooks notes what subscriptions the peer has.
func (p *peer) TakeHooks(rows []fleet.Row) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.hooks = append(p.hooks, rows...)
}

func (p *peer) SlotsMoved() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.moved++
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
