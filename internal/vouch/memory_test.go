package vouch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
)

// asked is a site whose answer can be changed, in virtual time. Each request
// takes a while.
type asked struct {
	mu   sync.Mutex
	says string // empty: 404
	n    int
	now  map[string]int // requests under way by host
	most int
}

func (a *asked) say(body string) { a.mu.Lock(); a.says = body; a.mu.Unlock() }

func (a *asked) count() int { a.mu.Lock(); defer a.mu.Unlock(); return a.n }

// get stands for a request to a host.
func (a *asked) get(host string) func(context.Context) (Document, error) {
	return func(ctx context.Context) (Document, error) {
		a.mu.Lock()
		a.n++
		if a.now == nil {
			a.now = make(map[string]int)
		}
		a.now[host]++
		a.most = max(a.most, a.now[host])
		a.mu.Unlock()
		err := pause(ctx, after(time.Second))
		a.mu.Lock()
		defer a.mu.Unlock()
		a.now[host]--
		switch {
		case err != nil:
			return Document{}, err
		case a.says == "":
			return Document{}, none("404")
		}
		return ParseDocument([]byte(a.says))
	}
}

func naming(peer feedring.PeerID) string { return `{"peers":["` + string(peer) + `"]}` }

// look asks a memory about alice.
func (a *asked) look(ctx context.Context, m *Memory, site string, h Hearsay) (named bool, err error) {
	d, err := m.recall(ctx, site, hostOf(site), h, func(d Document) bool { return d.names(alice) }, a.get(hostOf(site)))
	var no *noDocument
	if errors.As(err, &no) {
		err = nil
	}
	return d.names(alice), err
}

func TestOneRequestAnswersAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &asked{says: naming(alice)}, NewMemory(Checker{}, time.Minute)
		var looks sync.WaitGroup
		for i := range 30 {
			site := fmt.Sprintf("a.example:%d", i%3)
			looks.Go(func() {
				if named, err := a.look(t.Context(), m, site, Hearsay{}); !named || err != nil {
					t.Errorf("named %v, %v", named, err)
				}
			})
		}
		looks.Wait()
		if a.n != 3 || a.most != 1 {
			t.Errorf("%d requests for three sites of a host, %d at once", a.n, a.most)
		}
		if len(m.turns) != 0 {
			t.Errorf("turns left: %d", len(m.turns))
		}
	})
}

// TestNothingFoundIsAskedLessAndLess asks every ten seconds for a week.
func TestNothingFoundIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &asked{}, NewMemory(Checker{}, time.Minute)
		began, last := time.Now(), time.Now()
		var gap time.Duration
		for time.Since(began) < 7*24*time.Hour {
			before := a.count()
			if named, err := a.look(t.Context(), m, "a.example", Hearsay{}); named || err != nil {
				t.Fatalf("named %v, %v", named, err)
			}
			if a.count() > before {
				gap, last = time.Since(last), time.Now()
			}
			time.Sleep(10 * time.Second)
		}
		if a.n < 12 || a.n > 24 || gap < 16*time.Hour || gap > longest+time.Minute {
			t.Errorf("%d requests in a week, the last two %s apart", a.n, gap)
		}
		a.say(naming(alice))
		m.Forget("a.example")
		m.drop("a.example") // the key of this test
		if named, _ := a.look(t.Context(), m, "a.example", Hearsay{}); !named {
			t.Error("not asked anew")
		}
		for range 10 {
			time.Sleep(24 * time.Hour)
			before := a.count()
			if named, _ := a.look(t.Context(), m, "a.example", Hearsay{}); !named || a.count() != before+1 {
				t.Fatal("a site that names the peer is not asked each day")
			}
		}
	})
}

// TestPublisherKnowsBetter: what a publisher says against the memory makes it
// ask, at most once in a while for all its feeds.
func TestPublisherKnowsBetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &asked{}, NewMemory(Checker{}, 10*time.Second)
		look := func(h Hearsay) bool {
			named, err := a.look(t.Context(), m, "a.example", h)
			if err != nil {
				t.Fatal(err)
			}
			return named
		}
		for range 40 {
			look(Hearsay{Says: SaysNot})
			time.Sleep(time.Hour)
		}
		a.say(naming(alice))
		before := a.count()
		var looks sync.WaitGroup
		question := Hearsay{Says: SaysNamed, Asked: time.Now()}
		for range 20 {
			looks.Go(func() {
				if !look(question) {
					t.Error("the old answer, against the publisher's word")
				}
			})
		}
		looks.Wait()
		if a.count() != before+1 {
			t.Errorf("%d requests for twenty feeds", a.count()-before)
		}
		a.say("")
		time.Sleep(time.Second)
		asked := time.Now()
		if look(Hearsay{Says: SaysNot, Asked: asked}) {
			t.Error("the site's word is not taken back")
		}
		if took := time.Since(asked); took < 57*time.Second || took > 62*time.Second {
			t.Errorf("asked again after %s", took)
		}
		before = a.count()
		for range 60 { // who lies all the time
			look(Hearsay{Says: SaysNamed, Asked: time.Now()})
		}
		if n := a.count() - before; n > 61 || time.Since(asked) < 9*time.Minute {
			t.Errorf("%d requests in %s", n, time.Since(asked))
		}
	})
}

// TestWhoAsksMayLeave: those who wait for the answer are not left without one.
func TestWhoAsksMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, m := &asked{says: naming(alice)}, NewMemory(Checker{}, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var looks sync.WaitGroup
		looks.Go(func() {
			if _, err := a.look(ctx, m, "a.example", Hearsay{}); !errors.Is(err, context.Canceled) {
				t.Errorf("the one who left: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			looks.Go(func() {
				if named, err := a.look(t.Context(), m, "a.example", Hearsay{}); !named || err != nil {
					t.Errorf("named %v, %v", named, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		looks.Wait()
		if a.n != 2 {
			t.Errorf("%d requests", a.n)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := a.look(ctx, m, "b.example", Hearsay{}); err == nil || len(m.answers) != 1 {
			t.Errorf("%v, %d answers", err, len(m.answers))
		}
	})
}

// TestMemoryIsBounded: whoever publishes a feed chooses the site.
func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory(Checker{}, time.Minute)
	big := strings.Repeat("x", 60<<10)
	for i := range mostAnswers + 500 {
		m.mu.Lock()
		a := &answer{}
		m.answers[fmt.Sprint(i)] = a
		doc := Document{}
		if i%10 == 0 {
			doc.Addresses = []string{big}
		}
		m.keep(fmt.Sprint(i), a, &answer{doc: doc, at: time.Unix(int64(i), 0)})
		m.mu.Unlock()
	}
	sum := 0
	for _, a := range m.answers {
		sum += a.bytes
	}
	if len(m.answers) > mostAnswers || m.bytes > mostBytes || m.bytes != sum || len(m.answers) < 100 {
		t.Errorf("%d answers, %d bytes, counted %d", len(m.answers), sum, m.bytes)
	}
	if m.answers["0"] != nil {
		t.Error("the oldest is kept")
	}
}

// TestMemoryChecks goes the whole way, with a real server.
func TestMemoryChecks(t *testing.T) {
	var mu sync.Mutex
	n, body := 0, `{"peers":["`+string(alice)+`"]}`
	s, feed := site(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n++
		io.WriteString(w, body)
	})
	m := NewMemory(checker(nil), time.Minute)
	var looks sync.WaitGroup
	for i := range 10 {
		looks.Go(func() {
			own := fmt.Sprint(feed, i)
			if v, err := m.Check(t.Context(), s, alice, []string{own}, Hearsay{}); err != nil || !v.Named || v.By != WellKnown {
				t.Errorf("%+v, %v", v, err)
			}
			if v, err := m.Check(t.Context(), s, bob, []string{own}, Hearsay{}); err != nil || v.Named {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	looks.Wait()
	link := "http://" + s + wellKnownPath
	for range 3 {
		if v, err := m.CheckFeed(t.Context(), feed, link, alice, Hearsay{}); err != nil || !v.Named || v.By != InFeed {
			t.Errorf("%+v, %v", v, err)
		}
	}
	mu.Lock()
	if n != 2 { // the document, and the same as a feed's link
		t.Errorf("%d requests", n)
	}
	body = naming(bob)
	mu.Unlock()
	m.Forget(s)
	if v, err := m.Check(t.Context(), s, alice, []string{feed}, Hearsay{}); err != nil || v.Named {
		t.Errorf("after it was forgotten: %+v, %v", v, err)
	}
	if v, err := m.CheckFeed(t.Context(), feed, link, alice, Hearsay{}); err != nil || v.Named {
		t.Errorf("after it was forgotten: %+v, %v", v, err)
	}
}

// heard notes what a listener is told.
type heard struct{ told []string }

func (h *heard) SiteAnswered(site string, d *Document) {
	switch {
	case d == nil:
		h.told = append(h.told, site+" has none")
	case bool(d.NoMirrors):
		h.told = append(h.told, site+" refuses")
	default:
		h.told = append(h.told, site+" says nothing")
	}
}

// TestListenerIsToldWhatSitesSay: documents, and that there is none; of a site that is
// down, redirects or answers something else it is told nothing.
func TestListenerIsToldWhatSitesSay(t *testing.T) {
	var code int
	var body string
	name, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
		if code == 302 {
			http.Redirect(w, r, "/elsewhere", code)
			return
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
	for _, c := range []struct {
		code       int
		body, want string
	}{
		{200, `{"feedring":"no"}`, "refuses"}, {200, `{"feedring":false}`, "refuses"}, {200, `{"feedring":" No ","peers":["` + string(alice) + `"]}`, "refuses"},
		{200, `{"feedring":"yes"}`, "has none"}, {200, `{}`, "has none"}, {404, "", "has none"}, {410, "", "has none"},
		{200, `{"peers":["` + string(alice) + `"]}`, "says nothing"}, {200, `{"feedring":{"x":1},"peers":["` + string(alice) + `"]}`, "says nothing"},
		{500, `{"feedring":"no"}`, ""}, {302, "", ""}, {403, "", ""}, {200, "<html>", ""}, {200, `{"feedring":"no"} {}`, ""}, {200, `{"feedring":"no","peers":["x"]}`, ""},
	} {
		code, body = c.code, c.body
		h := &heard{}
		m := NewMemory(checker(nil), time.Second)
		m.Listen(h)
		_, _ = m.Check(t.Context(), name, alice, nil, Hearsay{})
		if got := strings.TrimPrefix(strings.Join(h.told, "; "), name+" "); got != c.want {
			t.Errorf("%d %s: told %q, want %q", c.code, c.body, got, c.want)
		}
	}
}
