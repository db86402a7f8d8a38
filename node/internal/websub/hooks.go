package websub

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
	keeper "github.com/feedring/feedring/node/internal/fleet"
)

// Rows keep subscriptions to a fleet's feeds at two peers: a *fleet.Keeper.
type Rows interface {
	Places() *fleet.Places
	Change(ctx context.Context, key fleet.Key, change func(old fleet.Row, is bool) (value []byte, err error)) (fleet.Row, error)
	Wake(ctx context.Context, secret string) error
}

// Link speaks with the fleet's other peers.
type Link interface {
	RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error)
}

// hooks are the subscriptions to feeds of the fleet that this peer serves; nil: it is in
// none. What other peers kept becomes the hub's once the feed is open here, and ends being so
// when another peer serves it.
type hooks struct {
	of    *WebSub
	self  feedring.PeerID
	rows  Rows
	link  Link
	ready chan struct{} // holds one

	mu      sync.Mutex
	waiting map[fleet.Key]hookValue // to become the hub's
	kept    map[fleet.Key]string    // the hub's: its resource
	ended   map[fleet.Key]bool      // rows to be ended
	gone    map[fleet.ID]bool       // feeds that were revoked
}

// hookValue is the value of the row of a subscription.
type hookValue struct {
	Topic    string `json:"topic"`
	Callback string `json:"callback"`
	Secret   string `json:"secret,omitempty"`
	Expires  int64  `json:"expires"` // Unix seconds
}

const (
	// PassPath is where the fleet's other peers pass requests to the hub on.
	PassPath = "/fleet/v1/hub"
	// askerHeader names to the peer that serves who sent a request that was passed on.
	askerHeader = "Feedring-Asker"
	passWithin  = 5 * time.Second
	maxPassed   = 64 << 10
	hooksAgain  = time.Second // between looks whether feeds are open
)

// JoinFleet has subscriptions to feeds of a fleet kept by it. It is called before Begin.
func (w *WebSub) JoinFleet(self feedring.PeerID, rows Rows, link Link) {
	w.hooks = &hooks{
		of: w, self: self, rows: rows, link: link, ready: make(chan struct{}, 1),
		waiting: make(map[fleet.Key]hookValue), kept: make(map[fleet.Key]string), ended: make(map[fleet.Key]bool), gone: make(map[fleet.ID]bool),
	}
}

// serves reports whether this peer serves a feed of its fleet. While the hub opens it serves
// none: what it kept before another peer may serve now.
func (w *WebSub) serves(secret string) bool {
	id, ok := fleet.IDOf(secret)
	return ok && w.hooks != nil && w.hub != nil && w.hooks.rows.Places().Serves(id.Slot()) == w.hooks.self
}

// hookKey is the key of the row of a subscription; false: its topic is no personal feed's.
func hookKey(topic, callback string) (key fleet.Key, ok bool) {
	secret, ok := web.PersonalSecret(topic)
	id, isSecret := fleet.IDOf(secret)
	if !ok || !isSecret {
		return key, false
	}
	sum := ledger.KeyOf(topic, callback)
	return fleet.Key{Kind: fleet.Hook, ID: id.Slot().ID(binary.BigEndian.Uint64(sum[:]))}, true
}

// Keep implements hub.Shared.
func (h *hooks) Keep(ctx context.Context, s *ledger.Subscription) error {
	key, ok := hookKey(s.Topic, s.Callback)
	if !ok || !strings.HasPrefix(s.Resource, ofFleet) {
		return nil
	}
	value, err := json.Marshal(hookValue{s.Topic, s.Callback, s.Secret, s.Expires.Unix()})
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.kept[key] = s.Resource
	delete(h.ended, key)
	h.mu.Unlock()
	_, err = h.rows.Change(ctx, key, func(fleet.Row, bool) ([]byte, error) { return value, nil })
	return err
}

// Ended implements hub.Shared.
func (h *hooks) Ended(s *ledger.Subscription) {
	key, ok := hookKey(s.Topic, s.Callback)
	if !ok || !strings.HasPrefix(s.Resource, ofFleet) {
		return
	}
	h.mu.Lock()
	delete(h.kept, key)
	h.ended[key] = true
	h.mu.Unlock()
	h.signal()
}

// TakeHooks takes rows of slots that this peer serves, of subscriptions and feeds, as they
// are now. It does not block.
func (w *WebSub) TakeHooks(rows []fleet.Row) {
	h := w.hooks
	if h == nil || w.cfg.Front.Off() {
		return
	}
	h.mu.Lock()
	for i := range rows {
		r := &rows[i]
		var v hookValue
		switch {
		case r.Kind == fleet.Feed && !r.Live():
			h.gone[r.ID] = true
		case r.Kind != fleet.Hook || !r.Live() || h.kept[r.Key] != "":
		case json.Unmarshal(r.Value, &v) == nil:
			h.waiting[r.Key] = v
		}
	}
	h.mu.Unlock()
	h.signal()
}

// SlotsMoved says that other slots may be served by this peer. It does not block.
func (w *WebSub) SlotsMoved() {
	if w.hooks != nil {
		w.hooks.signal()
	}
}

func (h *hooks) signal() {
	select {
	case h.ready <- struct{}{}:
	default:
	}
}

func (h *hooks) run(ctx context.Context) {
	tick := time.NewTicker(hooksAgain)
	defer tick.Stop()
	for {
		var again <-chan time.Time
		if h.look(ctx) {
			again = tick.C
		}
		select {
		case <-ctx.Done():
			return
		case <-h.ready:
		case <-again:
		}
	}
}

// look gives the hub what it lacks, and takes from it what others serve. It reports whether
// some wait for their feeds.
func (h *hooks) look(ctx context.Context) (waits bool) {
	places, now := h.rows.Places(), time.Now().Unix()
	serves := func(key fleet.Key) bool { return places.Serves(key.ID.Slot()) == h.self }
	h.mu.Lock()
	ended, gone := h.ended, h.gone
	h.ended, h.gone = make(map[fleet.Key]bool), make(map[fleet.ID]bool)
	var keys []fleet.Key
	var values []hookValue
	for key, v := range h.waiting {
		keys, values = append(keys, key), append(values, v)
	}
	var dropped, over []string // resources
	for key, resource := range h.kept {
		secret, _ := secretOf(resource)
		switch id, _ := fleet.IDOf(secret); {
		case !serves(key):
			dropped = append(dropped, resource)
			delete(h.kept, key)
		case gone[id]:
			over = append(over, resource)
		}
	}
	h.mu.Unlock()
	for _, resource := range dropped {
		h.of.hub.Drop(resource)
	}
	for _, resource := range over {
		h.of.hub.Changed(resource) // who subscribes is told that it is over, and Ended called
	}
	for i, key := range keys {
		v := &values[i]
		s := ledger.Subscription{Topic: v.Topic, Callback: v.Callback, Secret: v.Secret, Expires: time.Unix(v.Expires, 0)}
		secret, _ := web.PersonalSecret(v.Topic)
		id, isSecret := fleet.IDOf(secret)
		of, _ := hookKey(v.Topic, v.Callback)
		switch {
		case !serves(key):
			h.forget(key)
		case v.Expires <= now || !isSecret || of != key || gone[id]:
			h.forget(key)
			ended[key] = true
		case h.of.hub.Restore(s):
			h.mu.Lock()
			h.kept[key] = ofFleet + secret
			delete(h.waiting, key)
			h.mu.Unlock()
		default:
			waits = true
		}
	}
	for key := range ended {
		_, err := h.rows.Change(ctx, key, func(fleet.Row, bool) ([]byte, error) { return nil, nil })
		if err != nil && ctx.Err() == nil && !errors.As(err, new(*keeper.ElsewhereError)) {
			h.of.cfg.Log.Debug("the row of a subscription that is over stays until its lease ends", "err", err)
		}
	}
	return waits
}

func (h *hooks) forget(key fleet.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting, key)
}

// Pass implements hub.Shared: a subscription to a feed of the fleet is at the peer that
// serves the feed.
func (h *hooks) Pass(w http.ResponseWriter, r *http.Request, topic string) bool {
	secret, ok := web.PersonalSecret(topic)
	id, isSecret := fleet.IDOf(secret)
	if !ok || !isSecret || h == nil {
		return false
	}
	if state, here := h.of.personal.State(secret); here && !state.Fleet {
		return false
	}
	to := h.rows.Places().Serves(id.Slot())
	if to == h.self {
		_ = h.rows.Wake(r.Context(), secret) // one that is not there is unknown to the hub
		return false
	}
	if to == "" || r.Header.Get(askerHeader) != "" || !h.pass(w, r, to) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the peers of the fleet that keep this feed do not answer now", http.StatusServiceUnavailable)
	}
	return true
}

// pass has another peer answer. False: it did not.
func (h *hooks) pass(w http.ResponseWriter, r *http.Request, to feedring.PeerID) bool {
	ctx, cancel := context.WithTimeout(r.Context(), passWithin)
	defer cancel()
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, PassPath, strings.NewReader(r.PostForm.Encode()))
	if err != nil {
		return false
	}
	out.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	out.Header.Set(askerHeader, cmp.Or(asker.Of(r.Context(), r.RemoteAddr), "this machine"))
	in, err := h.link.RoundTrip(to, out)
	if err != nil {
		return false
	}
	defer func() { _ = in.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(in.Body, maxPassed))
	if err != nil {
		return false
	}
	for _, name := range []string{"Content-Type", "Retry-After"} {
		if value := in.Header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	w.WriteHeader(in.StatusCode)
	_, _ = w.Write(body) // who left needs no answer
	return true
}

// Passed answers what another peer of the fleet passed on: the caller has checked that it is
// one.
func (w *WebSub) Passed() http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.hub == nil {
			http.Error(rw, "this peer has no hub", http.StatusServiceUnavailable)
			return
		}
		w.hub.ServeHTTP(rw, r.WithContext(asker.With(r.Context(), r.Header.Get(askerHeader))))
	})
}
