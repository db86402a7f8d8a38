package websub

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// members are a fleet as one peer of it sees it.
type members struct {
	places  *fleet.Places
	woken   []string
	changed []fleet.Key
	asked   []string // forms that were passed on, and for whom
	fails   error
	own     map[string]bool // secrets of personal feeds that this peer alone keeps
}

func (m *members) Places() *fleet.Places { return m.places }

func (m *members) Wake(_ context.Context, secret string) error {
	m.woken = append(m.woken, secret)
	return nil
}

func (m *members) Change(_ context.Context, key fleet.Key, change func(fleet.Row, bool) ([]byte, error)) (fleet.Row, error) {
	m.changed = append(m.changed, key)
	value, err := change(fleet.Row{}, false)
	return fleet.Row{Key: key, Value: value}, err
}

func (m *members) RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	m.asked = append(m.asked, string(to)+" "+r.URL.Path+" "+string(body)+" "+r.Header.Get(askerHeader))
	if m.fails != nil {
		return nil, m.fails
	}
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, "too many")
	return w.Result(), nil
}

func (m *members) State(secret string) (web.PersonalState, bool) {
	return web.PersonalState{}, m.own[secret]
}
func (m *members) Watch(string, bool)                            {}
func (m *members) Readers(feedring.Theme, feedring.Provider) int { return 0 }
func (m *members) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
}
func (m *members) Off() bool         { return false }
func (m *members) Reachable() string { return "http://here" }

func inFleet(self feedring.PeerID) (*WebSub, *members) {
	m := &members{own: make(map[string]bool)}
	m.places = m.places.With([]fleet.Member{{Peer: "a", Present: true}, {Peer: "b", Present: true}})
	w := New(Config{Front: m})
	w.personal = m
	w.JoinFleet(self, m, m)
	return w, m
}

// A subscription to a feed that another peer serves is passed on to that one, once: peers
// that see their fleet differently do not pass it round.
func TestASubscriptionIsPassedToThePeerThatServes(t *testing.T) {
	secret := fleet.Slot(7).Secret([fleet.SecretBytes]byte{17: 1})
	w, m := inFleet("b")
	if m.places.Serves(7) == "b" {
		w, m = inFleet("a")
	}
	serves := m.places.Serves(7)
	topic := "https://feeds.example/feeds/" + secret + ".atom"
	pass := func(w *WebSub, topic, asker string) (bool, *httptest.ResponseRecorder) {
		r := httptest.NewRequest("POST", "/hub", nil)
		r.RemoteAddr, r.PostForm = "192.0.2.9:1", map[string][]string{"hub.topic": {topic}}
		if asker != "" {
			r.Header.Set(askerHeader, asker)
		}
		answer := httptest.NewRecorder()
		return w.hooks.Pass(answer, r, topic), answer
	}
	passed, answer := pass(w, topic, "")
	if !passed || answer.Code != 429 || answer.Header().Get("Retry-After") != "7" || answer.Body.String() != "too many" {
		t.Errorf("%t %d %v %s", passed, answer.Code, answer.Header(), answer.Body)
	}
	if len(m.asked) != 1 || !strings.HasPrefix(m.asked[0], string(serves)+" "+PassPath+" hub.topic=https") || !strings.HasSuffix(m.asked[0], " 192.0.2.9") {
		t.Errorf("asked %q", m.asked)
	}
	if passed, answer := pass(w, topic, "192.0.2.9"); !passed || answer.Code != 503 || len(m.asked) != 1 {
		t.Errorf("what was passed on before: %t %d, asked %q", passed, answer.Code, m.asked)
	}
	m.fails = errors.New("no answer")
	if passed, answer := pass(w, topic, ""); !passed || answer.Code != 503 || answer.Header().Get("Retry-After") == "" {
		t.Errorf("where it does not answer: %t %d", passed, answer.Code)
	}
	for _, other := range []string{"", "https://feeds.example/feed", "https://feeds.example/feeds/short.atom"} {
		if passed, _ := pass(w, other, ""); passed {
			t.Errorf("%q is passed on", other)
		}
	}
	m.own[secret] = true
	if passed, _ := pass(w, topic, ""); passed {
		t.Error("a feed that this peer alone keeps is passed on")
	}
	w, m = inFleet(serves)
	if passed, _ := pass(w, topic, "192.0.2.9"); passed || len(m.woken) != 1 {
		t.Errorf("the peer that serves passes it on, or does not open the feed: %q", m.woken)
	}
}

// Only subscriptions to feeds of the fleet are its rows. A row that was not made by a hub is
// passed over.
func TestOnlySubscriptionsToAFleetsFeedsAreItsRows(t *testing.T) {
	secret := fleet.Slot(7).Secret([fleet.SecretBytes]byte{17: 1})
	s := ledger.Subscription{Topic: "https://feeds.example/feeds/" + secret + ".rss", Callback: "https://x.example/cb", Resource: ofPersonal + secret, Expires: time.Now()}
	w, m := inFleet("a")
	if err := w.hooks.Keep(t.Context(), &s); err != nil || len(m.changed) != 0 {
		t.Errorf("of another kind: %v, %v", err, m.changed)
	}
	w.hooks.Ended(&s)
	if len(w.hooks.ended) != 0 {
		t.Error("the end of another kind is noted")
	}
	s.Resource = ofFleet + secret
	if err := w.hooks.Keep(t.Context(), &s); err != nil || len(m.changed) != 1 || m.changed[0].Kind != fleet.Hook || m.changed[0].ID.Slot() != 7 {
		t.Errorf("%v, %v", err, m.changed)
	}
	w.hooks.Ended(&s)
	if len(w.hooks.ended) != 1 || len(w.hooks.kept) != 0 {
		t.Errorf("ended %v, kept %v", w.hooks.ended, w.hooks.kept)
	}
	key := fleet.Key{Kind: fleet.Hook, ID: fleet.Slot(7).ID(3)}
	w.TakeHooks([]fleet.Row{{Key: key, Version: 1, Value: []byte("{")}, {Key: key, Version: 2, Deleted: time.Now()}, {Key: fleet.Key{Kind: fleet.User, ID: key.ID}, Version: 1, Value: []byte("{}")}})
	if len(w.hooks.waiting) != 0 {
		t.Errorf("%v wait", w.hooks.waiting)
	}
	none := New(Config{Front: m}) // which is in no fleet
	none.TakeHooks([]fleet.Row{{Key: key, Version: 1, Value: []byte("{}")}})
	none.SlotsMoved()
}
