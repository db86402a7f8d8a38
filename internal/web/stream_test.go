package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/throttle"
	"github.com/feedring/feedring/internal/web/pages"
)

func cursorOf(sequence uint64) feedring.Cursor {
	return feedring.Cursor{{URL: "https://a.example/feed", Publisher: "12D3B"}: {Epoch: 5, Sequence: sequence}}
}

// numbered follows a feed whose entries have the numbers 1, 2, 3 …: the first
// answer holds 2 and 1, later ones come as they are asked for, up to last.
func numbered(last uint64) func(context.Context, Ask, func(Update) error) error {
	return func(ctx context.Context, ask Ask, each func(Update) error) error {
		next := uint64(3)
		if ask.Cursor != nil {
			for _, at := range ask.Cursor {
				next = at.Sequence + 1
			}
		} else if err := firstAnswer(each); err != nil {
			return err
		}
		for ; next <= last; next++ {
			e := entryAt(int(next), 0)
			if err := each(Update{Entry: &e, Cursor: cursorOf(next)}); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func firstAnswer(each func(Update) error) error {
	for n := 2; n > 0; n-- {
		e := entryAt(n, time.Minute)
		if err := each(Update{Entry: &e}); err != nil {
			return err
		}
	}
	return each(Update{Final: &feedring.Final{
		Status: feedring.Answered, Hops: 1, Messages: 2, Grants: []feedring.Grant{{Provider: feedring.PeerInfo{ID: "12D3B"}}},
	}})
}

type received struct{ name, id, data string }

// open starts a stream, whose events come one by one.
func open(t *testing.T, address string, headers ...string) (next func() received, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() received { return readEvent(t, lines) }, func() { cancel(); resp.Body.Close() }
}

func readEvent(t *testing.T, lines *bufio.Scanner) (e received) {
	t.Helper()
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				return e
			}
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return e
}

// TestStreamAfterAnUnknownEvent: a browser whose id of another time is refused
// would never come back.
func TestStreamAfterAnUnknownEvent(t *testing.T) {
	f := newFake()
	f.follow = numbered(5)
	server := httptest.NewServer(testSite(f, false))
	defer server.Close()
	for _, from := range []struct{ address, header string }{
		{server.URL + "/api/v1/stream?theme=news", "Last-Event-ID: !"},
		{server.URL + "/api/v1/stream?theme=news&lastEventId=!", "Accept: text/event-stream"},
	} {
		next, end := open(t, from.address, from.header)
		if e := next(); !strings.Contains(e.data, "Entry 2") {
			t.Errorf("%v: %+v, want the first answer", from, e)
		}
		end()
	}
}

func TestStreamAndResume(t *testing.T) {
	f := newFake()
	f.follow = numbered(5)
	server := httptest.NewServer(testSite(f, false))
	defer server.Close()
	next, end := open(t, server.URL+"/api/v1/stream?theme=news")
	for _, want := range []string{"Entry 2", "Entry 1"} {
		if e := next(); e.name != "entry" || e.id != "" || !strings.Contains(e.data, want) {
			t.Fatalf("%+v, want %s", e, want)
		}
	}
	if e := next(); e.name != "answered" || e.data != `{"event":"answered","via":"12D3B","theme":"news","hops":1,"messages":2,"entries":2}` {
		t.Fatalf("%+v", e)
	}
	var last string
	for n := 3; n <= 4; n++ {
		e := next()
		if e.name != "entry" || e.id == "" || !strings.Contains(e.data, fmt.Sprint("Entry ", n)) {
			t.Fatalf("%+v, want entry %d", e, n)
		}
		last = e.id
	}
	end()
	for _, resume := range [][]string{
		{server.URL + "/api/v1/stream?theme=news", "Last-Event-ID: " + last},
		{server.URL + "/api/v1/stream?theme=news&lastEventId=" + last},
	} {
		next, end = open(t, resume[0], resume[1:]...)
		if e := next(); e.name != "entry" || !strings.Contains(e.data, "Entry 5") {
			t.Errorf("after the resume: %+v", e)
		}
		end()
	}
}

func TestStreamAsks(t *testing.T) {
	asked := make(chan Ask, 1)
	f := newFake()
	f.follow = func(_ context.Context, ask Ask, _ func(Update) error) error {
		asked <- ask
		return nil
	}
	for _, trusted := range []bool{false, true} {
		w := call(t, testSite(f, trusted), "GET", "/api/v1/stream?q=a+b&updates=true", "")
		if got := <-asked; got.Words != "a b" || !got.Updates || got.Private != trusted || got.Cursor != nil {
			t.Errorf("asked %+v", got)
		}
		if !strings.HasPrefix(w.Body.String(), "retry: 3000\n\n") {
			t.Errorf("%s", w.Body)
		}
	}
	if w := call(t, testSite(f, false), "HEAD", "/api/v1/stream", ""); w.Code != 200 || len(asked) != 0 {
		t.Errorf("HEAD: %d, %d asked", w.Code, len(asked))
	}
}

func TestStreamTellsWhatWentWrong(t *testing.T) {
	f := newFake()
	f.follow = func(context.Context, Ask, func(Update) error) error { return errors.New("no peer could be reached") }
	w := call(t, testSite(f, false), "GET", "/api/v1/stream", "")
	_, data, _ := strings.Cut(w.Body.String(), "event: problem\ndata: ")
	var p problem
	if err := json.Unmarshal([]byte(data), &p); err != nil || p.Status != 503 || p.Detail != "no peer could be reached" {
		t.Errorf("%v %s", err, w.Body)
	}
}

func TestStreamGivesSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.follow = numbered(0)
		ctx, cancel := context.WithTimeout(t.Context(), 46*time.Second)
		defer cancel()
		w := httptest.NewRecorder()
		testSite(f, true).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/api/v1/stream", nil))
		if n := strings.Count(w.Body.String(), ": alive\n\n"); n != 3 {
			t.Errorf("%d signs of life in 46 s:\n%s", n, w.Body)
		}
	})
}

func TestTooManyStreams(t *testing.T) {
	f := newFake()
	f.follow = numbered(0)
	s := testSite(f, false)
	s.streams = throttle.NewPlaces(1, 1)
	server := httptest.NewServer(s)
	defer server.Close()
	next, end := open(t, server.URL+"/api/v1/stream")
	next()
	w := call(t, s, "GET", "/api/v1/stream", "")
	if w.Code != 503 || w.Header().Get("Retry-After") != "10" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	checkForm(t, w)
	end()
	for s.streams.Take("") != throttle.Got { // the place is given back
		time.Sleep(time.Millisecond)
	}
}

func TestTooManyQueries(t *testing.T) {
	s := testSite(newFake(), false)
	s.queries = throttle.NewPlaces(0, 0)
	w := call(t, s, "GET", "/api/v1/entries", "")
	if w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	checkForm(t, w)
}

// TestSlowReader shows that a reader which takes nothing is let go.
func TestSlowReader(t *testing.T) {
	ended := make(chan error, 1)
	f := newFake()
	f.follow = func(_ context.Context, _ Ask, each func(Update) error) error {
		e := entryAt(1, 0)
		e.ContentHTML = strings.Repeat("x", feedring.MaxEntry)
		for {
			if err := each(Update{Entry: &e}); err != nil {
				ended <- err
				return err
			}
		}
	}
	s := testSite(f, true)
	s.writeWithin = 50 * time.Millisecond
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errReaderLeft) {
		t.Errorf("ended with %v", err)
	}
}

func TestCursor(t *testing.T) {
	c := feedring.Cursor{}
	for publisher := range 10 {
		for feed := range 10 {
			ref := feedring.FeedRef{
				URL:       fmt.Sprintf("https://newspaper.example/feeds/section-%d-%d.xml", publisher, feed),
				Publisher: feedring.PeerID(fmt.Sprintf("12D3KooWGjMCuWXjTyyxmFY4bvYiVbLRBCgJ8kQ2y6aAm%07d", publisher)),
			}
			c[ref] = feedring.Position{Epoch: 1772625600, Sequence: uint64(publisher*1000 + feed)}
		}
	}
	began := time.Unix(1_772_625_600, 0).UTC()
	id := formatCursor(c, began)
	back, then, err := parseCursor(id)
	if err != nil || !maps.Equal(c, back) || !then.Equal(began) {
		t.Fatalf("%v\n%v", err, back)
	}
	if len(id) > 4096 {
		t.Errorf("the id of an event has %d characters for 100 feeds", len(id))
	}
	if formatCursor(nil, time.Now()) != "" {
		t.Error("no cursor has an id")
	}
	if none, _, err := parseCursor(formatCursor(feedring.Cursor{}, time.Time{})); err != nil || none == nil {
		t.Errorf("the empty cursor is read as %v, %v: it is not no cursor", none, err)
	}
	for n := range 2000 {
		c[feedring.FeedRef{URL: fmt.Sprintf("https://%d.example/%s", n, strings.Repeat("x", n%50)), Publisher: "12D3"}] = feedring.Position{Sequence: 1}
	}
	if id := formatCursor(c, began); len(id) > maxCursor {
		t.Errorf("an id has %d characters", len(id))
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(formatCursor(cursorOf(7), time.Unix(1_772_625_600, 0)))
	f.Add(formatCursor(feedring.Cursor{{URL: "a", Publisher: "b"}: {}, {URL: "aa", Publisher: "b"}: {Epoch: 1}, {URL: "a", Publisher: "c"}: {Sequence: 1 << 60}}, time.Time{}))
	f.Add("AQ")
	f.Add("AQAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		c, began, err := parseCursor(text)
		if err != nil || c == nil {
			return
		}
		id := formatCursor(c, began)
		if id == "" {
			return // what shares much may be longer when it is written in order
		}
		again, then, err := parseCursor(id)
		if err != nil || !maps.Equal(c, again) || !then.Equal(began) {
			t.Fatalf("%v is written %q and read %v, %v", c, id, again, err)
		}
	})
}

// A follower is told of entries that were given up.
func TestStreamTellsGaps(t *testing.T) {
	f := newFake()
	f.follow = func(_ context.Context, _ Ask, each func(Update) error) error {
		return each(Update{Gap: &Gap{Event: "gap", Theme: "news", Feed: "https://a.example/", Publisher: "P"}})
	}
	w := call(t, testSite(f, false), "GET", "/api/v1/stream", "")
	const want = "event: gap\ndata: {\"event\":\"gap\",\"theme\":\"news\",\"feed\":\"https://a.example/\",\"publisher\":\"P\"}\n\n"
	if !strings.Contains(w.Body.String(), want) {
		t.Errorf("%s", w.Body)
	}
}

// A follower is told which groups nobody serves; a page has reach events for that.
func TestStreamTellsWhatNobodyServes(t *testing.T) {
	f := newFake()
	f.follow = func(_ context.Context, _ Ask, each func(Update) error) error {
		return each(Update{Unserved: &Unserved{Event: "unserved", Themes: []feedring.Theme{"news"}}})
	}
	const want = "event: unserved\ndata: {\"event\":\"unserved\",\"themes\":[\"news\"]}\n\n"
	for path, told := range map[string]bool{"/api/v1/stream": true, "/api/v1/stream?view=page": false} {
		if w := call(t, testSite(f, false), "GET", path, ""); strings.Contains(w.Body.String(), want) != told {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

// TestStreamOfAPage: a page is told whom this peer reaches, at first and when
// that changes, and entries as it shows them.
func TestStreamOfAPage(t *testing.T) {
	f := newFake()
	f.reach = Reach{CutOff: true}
	f.follow = func(ctx context.Context, _ Ask, each func(Update) error) error {
		e := entryAt(1, 0)
		e.ContentHTML = "<p>a &lt;b&gt; c</p>"
		if err := each(Update{Entry: &e, Cursor: cursorOf(1)}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	server := httptest.NewServer(testSite(f, false))
	defer server.Close()
	next, end := open(t, server.URL+"/api/v1/stream?view=page")
	defer end()
	if e := next(); e.name != "reach" || !strings.Contains(e.data, "reaches no other peer") {
		t.Fatalf("%+v", e)
	}
	var shown pages.Entry
	if e := next(); e.name != "entry" || e.id == "" || json.Unmarshal([]byte(e.data), &shown) != nil {
		t.Fatalf("%+v", e)
	}
	if shown.Text != "a <b> c" || shown.Title != "Entry 1" || len(strings.Split(shown.Story, ".")) != 5 {
		t.Errorf("%+v", shown)
	}
	f.mu.Lock()
	f.reach = Reach{}
	f.mu.Unlock()
	if e := next(); e.name != "reach" || e.data != `{"note":""}` {
		t.Fatalf("%+v", e)
	}
}

// A follower is told how much history came, with where it then stands; when it
// began to follow goes along with that, to the stream after.
func TestStreamTellsOfHistory(t *testing.T) {
	f := newFake()
	var began []time.Time
	f.follow = func(_ context.Context, ask Ask, each func(Update) error) error {
		began = append(began, ask.Began)
		return each(Update{Older: &Older{Event: "older", Theme: "news", Feed: "https://a.example/", Provider: "a.example", Count: 60}, Cursor: cursorOf(7)})
	}
	w := call(t, testSite(f, false), "GET", "/api/v1/stream", "")
	_, rest, _ := strings.Cut(w.Body.String(), "event: older\nid: ")
	id, data, _ := strings.Cut(rest, "\n")
	const want = "data: {\"event\":\"older\",\"theme\":\"news\",\"feed\":\"https://a.example/\",\"provider\":\"a.example\",\"count\":60}\n\n"
	if !strings.HasPrefix(data, want) {
		t.Errorf("%s", w.Body)
	}
	early := formatCursor(cursorOf(7), time.Unix(1_700_000_000, 0))
	for _, id := range []string{id, early, "AQ"} {
		call(t, testSite(f, false), "GET", "/api/v1/stream", "", "Last-Event-ID: "+id)
	}
	if len(began) != 4 || began[0].IsZero() || !began[1].Equal(began[0].Truncate(time.Second)) || began[2].Unix() != 1_700_000_000 || began[3].IsZero() {
		t.Errorf("began at %v", began)
	}
}
