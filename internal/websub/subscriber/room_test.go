package subscriber

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/store"
)

const feed, hubAt = "https://site.example/feed", "https://hub.example/"

// records are kept in memory, so that time can be virtual.
type records struct {
	mu   sync.Mutex
	rows map[string][]byte
}

func (r *records) Put(_ context.Context, _ store.Bucket, key string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows[key] = value
	return nil
}

func (r *records) Delete(_ context.Context, _ store.Bucket, key string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rows, key)
	return nil
}

func (r *records) ListPrefix(store.Bucket, string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for key, value := range r.rows {
			if !yield(store.Record{Key: key, Value: value}, nil) {
				return
			}
		}
	}
}

// hub takes subscriptions and says how they go.
type hub struct {
	mu    sync.Mutex
	code  int
	forms []url.Values
}

func (h *hub) Do(r *http.Request) (*http.Response, error) {
	b, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(b))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forms = append(h.forms, form)
	return &http.Response{StatusCode: h.code, Body: http.NoBody}, nil
}

// asked returns what came since it was last called.
func (h *hub) asked() []url.Values {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := h.forms
	h.forms = nil
	return got
}

type rig struct {
	*Subscriber
	t     testing.TB
	hub   *hub
	rows  *records
	looks int
	stop  func()
}

func (r *rig) HubTold(string) { r.looks++ }

func (r *rig) run() {
	r.t.Helper()
	room, err := Open(Config{
		Store: r.rows, Client: r.hub, Callback: "https://peer.example/hub/callback/", Own: "https://peer.example/hub", Fetcher: r,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { room.Run(ctx); close(done) }()
	r.Subscriber, r.stop = room, func() { cancel(); <-done }
	synctest.Wait()
}

func virtual(t *testing.T, do func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, hub: &hub{code: 202}, rows: &records{rows: make(map[string][]byte)}}
		r.run()
		defer func() { r.stop() }()
		do(t, r)
	})
}

// call sends a hub's request to a callback's address.
func (r *rig) call(method, callback, query, body string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, callback+"?"+query, strings.NewReader(body))
	req.SetPathValue("secret", callback[strings.LastIndexByte(callback, '/')+1:])
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	synctest.Wait()
	return w
}

func verification(topic string) string {
	return url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.challenge": {"abc"}, "hub.lease_seconds": {"864000"}}.Encode()
}

func signature(name string, h func() hash.Hash, key, body string) string {
	mac := hmac.New(h, []byte(key))
	mac.Write([]byte(body))
	return name + "=" + hex.EncodeToString(mac.Sum(nil))
}

// subscribe has a hub take and verify a subscription.
func (r *rig) subscribe() (callback, key string) {
	r.t.Helper()
	r.Found(feed, hubAt, "")
	synctest.Wait()
	asked := r.hub.asked()
	if len(asked) != 1 || asked[0].Get("hub.topic") != feed || asked[0].Get("hub.mode") != "subscribe" || len(asked[0].Get("hub.secret")) < 20 {
		r.t.Fatalf("the hub was asked %v", asked)
	}
	callback = asked[0].Get("hub.callback")
	if w := r.call("GET", callback, verification(feed), ""); w.Code != 200 || w.Body.String() != "abc" {
		r.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return callback, asked[0].Get("hub.secret")
}

func TestWhatAHubSignsIsFetched(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		callback, key := r.subscribe()
		if r.Works(feed) {
			t.Error("a hub that told nothing yet works")
		}
		for _, wrong := range []string{
			"", "sha256=", "sha256=zz", "md5=" + strings.Repeat("0", 32), signature("sha256", sha256.New, "another", "body"),
			signature("sha256", sha256.New, key, "other"), signature("sha1", sha256.New, key, "body"),
		} {
			if w := r.call("POST", callback, "", "body", "X-Hub-Signature", wrong); w.Code != 202 || r.looks > 0 || r.Works(feed) {
				t.Errorf("%q: %d, %d looks", wrong, w.Code, r.looks)
			}
		}
		for i, right := range []string{signature("sha256", sha256.New, key, "body"), signature("sha1", sha1.New, key, "body")} {
			if w := r.call("POST", callback, "", "body", "X-Hub-Signature", right); w.Code != 202 || r.looks != i+1 || !r.Works(feed) {
				t.Errorf("%q: %d, %d looks", right, w.Code, r.looks)
			}
		}
		r.News(feed)
		if !r.Works(feed) {
			t.Error("news that the hub told of are held against it")
		}
		time.Sleep(time.Hour)
		r.News(feed)
		if r.Works(feed) {
			t.Error("a poll found news first, and the hub works")
		}
	})
}

func TestOnlyWhatWasAskedIsConfirmed(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.Found(feed, hubAt, "https://site.example/self")
		synctest.Wait()
		callback := r.hub.asked()[0].Get("hub.callback")
		for _, q := range []string{
			"", verification(feed), strings.ReplaceAll(verification("https://site.example/self"), "subscribe", "unsubscribe"),
			strings.ReplaceAll(verification("https://site.example/self"), "abc", ""),
		} {
			if w := r.call("GET", callback, q, ""); w.Code != 404 {
				t.Errorf("%q: %d %s", q, w.Code, w.Body)
			}
		}
		q := verification("https://site.example/self")
		if w := r.call("GET", "https://peer.example/hub/callback/guess", q, ""); w.Code != 404 {
			t.Error(w.Code)
		}
		if w := r.call("POST", "https://peer.example/hub/callback/guess", "", "x"); w.Code != 410 {
			t.Error(w.Code)
		}
		if w := r.call("DELETE", callback, q, ""); w.Code != 405 {
			t.Error(w.Code)
		}
		if w := r.call("GET", callback, q, ""); w.Code != 200 {
			t.Error(w.Code)
		}
		if w := r.call("GET", callback, q, ""); w.Code != 404 {
			t.Errorf("a second verification, which nobody asked for: %d", w.Code)
		}
	})
}

func TestLeasesAreRenewedAndKept(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		callback, key := r.subscribe()
		time.Sleep(6 * 24 * time.Hour)
		if asked := r.hub.asked(); len(asked) > 0 {
			t.Errorf("asked early: %v", asked)
		}
		r.stop()
		r.run()
		time.Sleep(24 * time.Hour)
		asked := r.hub.asked()
		if len(asked) == 0 || asked[0].Get("hub.callback") != callback || asked[0].Get("hub.secret") != key {
			t.Fatalf("not renewed as it was: %v", asked)
		}
		if w := r.call("GET", callback, verification(feed), ""); w.Code != 200 {
			t.Error(w.Code)
		}
		r.call("POST", callback, "", "body", "X-Hub-Signature", signature("sha256", sha256.New, key, "body"))
		if r.looks != 1 || !r.Works(feed) {
			t.Error("nothing after a restart")
		}
	})
}

func TestAHubThatRefusesIsAskedRarely(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.hub.code = 500
		r.Found(feed, hubAt, "")
		time.Sleep(24 * time.Hour)
		if n := len(r.hub.asked()); n < 5 || n > 14 {
			t.Errorf("asked %d times in a day", n)
		}
	})
}

func TestHubsThatAreNotSubscribedAt(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		for _, hub := range []string{"", "https://peer.example/hub", "ftp://hub.example/", "hub", "https://"} {
			r.Found(feed, hub, "")
		}
		synctest.Wait()
		if asked := r.hub.asked(); len(asked) > 0 {
			t.Errorf("%v", asked)
		}
		callback, _ := r.subscribe()
		r.Found(feed, hubAt, "")
		synctest.Wait()
		if asked := r.hub.asked(); len(asked) > 0 {
			t.Errorf("the same hub is asked again: %v", asked)
		}
		r.Found(feed, "https://other.example/", "")
		synctest.Wait()
		if asked := r.hub.asked(); len(asked) != 1 || asked[0].Get("hub.callback") == callback {
			t.Errorf("another hub: %v", asked)
		}
		r.Found(feed, "", "")
		if w := r.call("POST", callback, "", "x"); w.Code != 410 || len(r.rows.rows) > 0 {
			t.Errorf("%d, %d rows", w.Code, len(r.rows.rows))
		}
	})
}
