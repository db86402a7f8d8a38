package fleetfeeds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	keeper "github.com/feedring/feedring/node/internal/fleet"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// peers are the peers of one fleet in one process.
type peers struct {
	all map[feedring.PeerID]*onePeer // not changed once they run

	mu   sync.Mutex
	down map[feedring.PeerID]bool
	mute feedring.PeerID       // it is taken to be there, and does not answer
	old  feedring.PeerID       // it is of a version that tells all of the owner's feeds at once
	lose func(*request) bool   // the answer to a request of another peer is lost, after it was done
	fail func(fleet.Key) error // why a peer's row is not written
}

func (p *peers) isMute(id feedring.PeerID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute == id
}

func (p *peers) isDown(id feedring.PeerID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down[id]
}

func (p *peers) end(id feedring.PeerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down[id] = true
}

// set changes what happens to the peers while they run.
func (p *peers) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// loses reports whether the answer to a request is lost.
func (p *peers) loses(body []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var r request
	return p.lose != nil && json.Unmarshal(body, &r) == nil && p.lose(&r)
}

// disk is a keeper that may be kept from writing.
type disk struct {
	*keeper.Keeper
	of *peers
}

func (d disk) Change(ctx context.Context, key fleet.Key, change func(fleet.Row, bool) ([]byte, error)) (fleet.Row, error) {
	d.of.mu.Lock()
	fail := d.of.fail
	d.of.mu.Unlock()
	if fail != nil {
		if err := fail(key); err != nil {
			return fleet.Row{}, err
		}
	}
	return d.Keeper.Change(ctx, key, change)
}

// onePeer is one of them.
type onePeer struct {
	*Service
	rows    *keeper.Keeper
	log     *syncBuffer
	of      *peers
	self    feedring.PeerID
	handler http.Handler
	lists   nodetest.Lists
}

func (p *onePeer) Members() (all []fleet.Member) {
	for _, id := range slices.Sorted(maps.Keys(p.of.all)) {
		all = append(all, fleet.Member{Peer: id, Interests: 100_000, Present: !p.of.isDown(id)})
	}
	return all
}

func (p *onePeer) RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error) {
	if p.of.isDown(to) || p.of.isMute(to) {
		return nil, errors.New("it does not answer")
	}
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if to == p.of.old && r.URL.Path == doPath {
		var asked map[string]any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			return nil, err
		}
		delete(asked, "after")
		delete(asked, "most")
		body, err := json.Marshal(asked)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.of.all[to].handler.ServeHTTP(w, r)
	if r.URL.Path == doPath && p.of.loses(body) {
		return nil, errors.New("the answer is lost")
	}
	return w.Result(), nil
}

func (p *onePeer) TakeHooks([]fleet.Row) {}

func (p *onePeer) SlotsMoved() {}

func (p *onePeer) Memory() (has, limit uint64) { return 1 << 20, 1 << 30 }

func (p *onePeer) Told() int { return 100_000 }

func (p *onePeer) Shortened() uint64 { return 0 }

// syncBuffer is a buffer that several may write to.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// own are the personal feeds of one peer alone: none, and those that are open.
type own struct {
	web.Personal
	p *onePeer
}

func (own) Subscriptions(context.Context, string, string) ([]web.Subscription, string, error) {
	return nil, "", nil
}

func (own) Unsubscribe(context.Context, string, string) error {
	return web.ErrUnknown.Of(errors.New("none"))
}

func (own) Subscribe(context.Context, string, feedring.Query, bool) (web.Subscription, error) {
	return web.Subscription{ID: "own"}, nil
}

func (o own) State(secret string) (web.PersonalState, bool) {
	return web.PersonalState{}, o.p.lists.HasSecret(secret)
}

// newPeers begins a fleet. full are the peers whose disks have no room.
func newPeers(t *testing.T, n int, full ...int) []*onePeer {
	t.Helper()
	of := &peers{all: make(map[feedring.PeerID]*onePeer), down: make(map[feedring.PeerID]bool)}
	var all []*onePeer
	for i := range n {
		p := &onePeer{of: of, self: feedring.PeerID(fmt.Sprint("peer", i))}
		of.all[p.self] = p
		all = append(all, p)
	}
	quiet := slog.New(slog.DiscardHandler)
	tasks := nodetest.Tasks(t)
	running, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	for i, p := range all {
		options := store.Options{Log: quiet}
		if slices.Contains(full, i) {
			options.Reserve = 1 << 60
		}
		s, err := store.Open(t.TempDir(), options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		k, err := keeper.Open(keeper.Config{Self: p.self, Store: s, Members: p, Link: p, Lists: &p.lists, Hooks: p, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		p.rows, p.log = k, new(syncBuffer)
		p.Service = New(running, Config{Self: p.self, Own: own{p: p}, Keeper: disk{k, of}, Link: p, Members: p, Load: p, Tasks: tasks, Log: slog.New(slog.NewTextHandler(p.log, nil))})
		p.again = 10 * time.Millisecond
		p.handler = p.Handler(k, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			secret, _, _ := strings.Cut(r.PathValue("name"), ".")
			if _, ok := p.State(secret); !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = fmt.Fprintf(w, "from %s at %s", p.self, r.Header.Get(web.BaseHeader))
		}))
	}
	var ended sync.WaitGroup
	for _, p := range all {
		ended.Go(func() { p.rows.Run(running) })
	}
	t.Cleanup(func() { stop(); ended.Wait() })
	return all
}

func (p *onePeer) poll(secret string) (int, string, error) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, web.PersonalPath+secret+".atom", nil)
	answered, err := p.Elsewhere(w, r, secret, "https://feeds.example")
	if err != nil || answered {
		return w.Code, w.Body.String(), err
	}
	if _, ok := p.State(secret); ok {
		return http.StatusOK, "from " + string(p.self), nil
	}
	return http.StatusNotFound, "", nil
}

func inviteAndJoin(t *testing.T, at, by *onePeer, quota, uses int) (code, key, user string) {
	t.Helper()
	made, err := at.InviteUser(t.Context(), web.UserInvitation{Quota: quota, Uses: uses, Expires: time.Now().Add(time.Hour), Note: "note"})
	if err != nil {
		t.Fatal(err)
	}
	if key, err = by.Join(t.Context(), made.Code); err != nil {
		t.Fatal(err)
	}
	if user, err = at.User(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return made.Code, key, user
}
