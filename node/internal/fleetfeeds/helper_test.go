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
	mute feedring.PeerID // it is taken to be there, and does not answer
	old  feedring.PeerID // it is of a version that tells all of the owner's feeds at once
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

// onePeer is one of them.
type onePeer struct {
	*Service
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
	p.of.all[to].handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func (p *onePeer) TakeHooks([]fleet.Row) {}

func (p *onePeer) SlotsMoved() {}

func (p *onePeer) Memory() (has, limit uint64) { return 1 << 20, 1 << 30 }

func (p *onePeer) Told() int { return 100_000 }

func (p *onePeer) Shortened() uint64 { return 0 }

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

func newPeers(t *testing.T, n int) []*onePeer {
	t.Helper()
	of := &peers{all: make(map[feedring.PeerID]*onePeer), down: make(map[feedring.PeerID]bool)}
	var all []*onePeer
	for i := range n {
		p := &onePeer{of: of, self: feedring.PeerID(fmt.Sprint("peer", i))}
		of.all[p.self] = p
		all = append(all, p)
	}
	quiet := slog.New(slog.DiscardHandler)
	for _, p := range all {
		s, err := store.Open(t.TempDir(), store.Options{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		k, err := keeper.Open(keeper.Config{Self: p.self, Store: s, Members: p, Link: p, Lists: &p.lists, Hooks: p, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		p.Service = New(Config{Self: p.self, Own: own{p: p}, Keeper: k, Link: p, Members: p, Load: p, Log: quiet})
		p.handler = p.Handler(k, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			secret, _, _ := strings.Cut(r.PathValue("name"), ".")
			if _, ok := p.State(secret); !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = fmt.Fprintf(w, "from %s at %s", p.self, r.Header.Get(web.BaseHeader))
		}))
	}
	running, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	for _, p := range all {
		ended.Go(func() { p.cfg.Keeper.(*keeper.Keeper).Run(running) })
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
