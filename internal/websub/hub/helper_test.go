package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// site is the topics of a test: "https://a.example/feed" shows "a".
type site struct {
	mu       sync.Mutex
	versions map[string]uint64 // by resource; 0: nothing is there
	reads    int
	watched  map[string]bool
}

func newSite() *site {
	return &site{versions: map[string]uint64{"a": 1, "b": 1}, watched: make(map[string]bool)}
}

func resource(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), ".")
	return host
}

func (s *site) Find(address string) (string, bool) {
	_, ok := s.Version(address)
	return resource(address), ok
}

func (s *site) Version(address string) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.versions[resource(address)]
	return v, v > 0
}

func (s *site) Read(_ context.Context, address string) (Content, error) {
	v, ok := s.Version(address)
	if !ok {
		return Content{}, ErrGone
	}
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	return Content{Type: "application/atom+xml", Body: fmt.Appendf(nil, "%s is %d", resource(address), v), Version: v}, nil
}

func (s *site) Watch(resource string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[resource] = on
}

func (s *site) isWatched(resource string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[resource]
}

func (s *site) set(resource string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[resource] = version
}

// records are kept in memory, so that time can be virtual.
type records struct {
	mu   sync.Mutex
	rows map[string][]byte
	full error
}

func (r *records) Put(ctx context.Context, b store.Bucket, key string, value []byte) error {
	return r.Write(ctx, b, []store.Change{{Key: key, Value: value}})
}

func (r *records) Write(_ context.Context, _ store.Bucket, changes []store.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full != nil && len(changes) > 0 {
		return r.full
	}
	for _, c := range changes {
		if c.Value == nil {
			delete(r.rows, c.Key)
		} else {
			r.rows[c.Key] = c.Value
		}
	}
	return nil
}

func (r *records) ListPrefix(_ store.Bucket, prefix string) iter.Seq2[store.Record, error] {
	r.mu.Lock()
	rows := maps.Clone(r.rows)
	r.mu.Unlock()
	return func(yield func(store.Record, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			if strings.HasPrefix(key, prefix) && !yield(store.Record{Key: key, Value: rows[key]}, nil) {
				return
			}
		}
	}
}

func (r *records) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = err
}

func (r *records) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rows)
}

// callbacks are subscribers, by host: no network, so that time can be virtual.
type callbacks struct {
	mu    sync.Mutex
	hosts map[string]func(*http.Request) (int, string)
	posts []post
	gets  []url.Values
}

type post struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

// good confirms everything and takes everything.
func good(r *http.Request) (int, string) { return 200, r.URL.Query().Get("hub.challenge") }

func (c *callbacks) Do(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	do := c.hosts[r.URL.Hostname()]
	c.mu.Unlock()
	if do == nil {
		do = good
	}
	code, answer := do(r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method == http.MethodPost {
		b, _ := io.ReadAll(r.Body)
		c.posts = append(c.posts, post{time.Now(), r.URL.String(), r.Header, string(b)})
	} else {
		c.gets = append(c.gets, r.URL.Query())
	}
	if code == 0 {
		return nil, errors.New("no answer")
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func (c *callbacks) set(host string, do func(*http.Request) (int, string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hosts[host] = do
}

// posted returns what was posted since it was last called.
func (c *callbacks) posted() []post {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.posts
	c.posts = nil
	return got
}

// asked returns the queries of what was got since it was last called.
func (c *callbacks) asked() []url.Values {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.gets
	c.gets = nil
	return got
}

// peer publishes topicA.
type peer struct{}

func (peer) Refuses(host string) bool { return host == "127.0.0.1" || host == "localhost" }
func (peer) HubAddress() string       { return "https://hub.example/hub" }

func (peer) Publish(addresses []string) int {
	if addresses[0] == topicA {
		return 1
	}
	return 0
}

// others are the peers that keep subscriptions, too.
type others struct {
	mu          sync.Mutex
	shows       string // the topic that another peer shows
	kept, ended []string
	fails       error
}

func (o *others) Pass(w http.ResponseWriter, _ *http.Request, topic string) bool {
	if o.shows == "" || topic != o.shows {
		return false
	}
	w.WriteHeader(http.StatusTeapot)
	return true
}

func (o *others) Keep(_ context.Context, s *ledger.Subscription) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = append(o.kept, s.Callback)
	return o.fails
}

func (o *others) Ended(s *ledger.Subscription) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, s.Callback)
}

// rig is a hub that runs.
type rig struct {
	*Hub
	others *others
	t      testing.TB
	site   *site
	calls  *callbacks
	rows   *records
	stop   func()
}

func newRig(t testing.TB) *rig {
	return &rig{
		t: t, site: newSite(), calls: &callbacks{hosts: make(map[string]func(*http.Request) (int, string))},
		rows: &records{rows: make(map[string][]byte)}, others: &others{},
	}
}

// run starts a hub with what the last one left.
func (r *rig) run() {
	r.t.Helper()
	h, err := Open(Config{
		Store: r.rows, Topics: r.site, Client: r.calls, Peer: peer{}, Shared: r.others,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { h.Run(ctx); close(done) }()
	r.Hub, r.stop = h, func() { cancel(); <-done }
	synctest.Wait()
}

// virtual runs a test of a hub in virtual time.
func virtual(t *testing.T, do func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		defer func() { r.stop() }()
		do(t, r)
	})
}

// form sends a request to the hub.
func (h *Hub) form(values url.Values) *httptest.ResponseRecorder {
	return h.send("application/x-www-form-urlencoded", values.Encode())
}

func (h *Hub) send(kind, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("POST", "/hub", strings.NewReader(body))
	req.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func want(mode, topic, callback string, more ...string) url.Values {
	v := url.Values{"hub.mode": {mode}, "hub.topic": {topic}, "hub.callback": {callback}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

const topicA, topicB = "https://a.example/feed", "https://b.example/feed"

// subscribe has a subscription confirmed.
func (r *rig) subscribe(topic, callback string, more ...string) {
	r.t.Helper()
	if w := r.form(want("subscribe", topic, callback, more...)); w.Code != 202 {
		r.t.Fatalf("%d %s", w.Code, w.Body)
	}
	synctest.Wait()
}

func (r *rig) change(resource string, version uint64) {
	time.Sleep(ledger.Spacing)
	r.site.set(resource, version)
	r.Changed(resource)
	synctest.Wait()
}
