package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
)

// paper is a peer with one feed that grows: a first answer is its newest
// entries, and a cursor says how many of it a reader has.
type paper struct {
	*fake
}

// newPaper has as many entries, of which two each are of one second.
func newPaper(entries int) *paper {
	p := &paper{newFake()}
	for n := range entries {
		p.entries = append(p.entries, entryAt(n, time.Duration(n/2)*time.Second))
	}
	slices.Reverse(p.entries) // the newest last
	for i := range p.entries {
		p.entries[i].Position = positionOf(i + 1)
	}
	p.follow = p.tell
	return p
}

func (p *paper) add(n int, age time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := entryAt(n, age)
	e.Position = positionOf(len(p.entries) + 1)
	p.entries = append(p.entries, e)
}

func positionOf(n int) feedring.Position { return feedring.Position{Epoch: 5, Sequence: uint64(n)} }

func (p *paper) tell(ctx context.Context, ask Ask, each func(Update) error) error {
	if ask.Cursor == nil {
		a, err := p.Query(ctx, ask)
		if err != nil {
			return err
		}
		p.mu.Lock()
		at := cursorOf(uint64(len(p.entries)))
		p.mu.Unlock()
		for i := range a.Entries {
			if err := each(Update{Entry: &a.Entries[i]}); err != nil {
				return err
			}
		}
		if err := each(Update{Final: &a.Final, Cursor: at}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for _, at := range ask.Cursor {
		p.mu.Lock()
		later := slices.Clone(p.entries[at.Sequence:])
		p.mu.Unlock()
		for i := range later {
			if err := each(Update{Entry: &later[i], Cursor: cursorOf(at.Sequence + uint64(i) + 1)}); err != nil {
				return err
			}
		}
	}
	if err := each(Update{Final: &p.final, Cursor: ask.Cursor}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestCutOffAmidTheFirstAnswer reads one event of a stream after the other,
// each on a connection of its own, while entries come, old ones among them: each
// is told once, and none is lost.
func TestCutOffAmidTheFirstAnswer(t *testing.T) {
	const begun, limit = 12, 9
	p := newPaper(begun)
	server := httptest.NewServer(testSite(p.fake, false))
	t.Cleanup(server.Close) // after the streams of a test that failed
	last, told := "", map[string]int{}
	for n := 0; ; n++ {
		next, end := open(t, fmt.Sprintf("%s/api/v1/stream?limit=%d", server.URL, limit), "Last-Event-ID: "+last)
		e := next()
		end()
		if e.name == "answered" {
			break
		}
		if e.id == "" || e.id == last {
			t.Fatalf("event %d has the id %q after %q", n, e.id, last)
		}
		last = e.id
		var entry feedring.Entry
		if err := json.Unmarshal([]byte(e.data), &entry); err != nil {
			t.Fatal(err)
		}
		told[entry.Title]++
		switch n {
		case 2:
			p.add(100, 0) // the newest
		case 4:
			p.add(101, 3*time.Second) // as old as what is still due
			p.add(102, 2500*time.Millisecond)
		}
	}
	for title, times := range told {
		if times != 1 {
			t.Errorf("%s is told %d times", title, times)
		}
	}
	for n := range limit - 1 {
		if told[fmt.Sprint("Entry ", n)] == 0 {
			t.Errorf("entry %d is lost", n)
		}
	}
	if told["Entry 8"]+told["Entry 9"] != 1 { // of one second: either may be the last of the answer
		t.Errorf("of entries 8 and 9 one is due: %v", told)
	}
	if told["Entry 100"]+told["Entry 101"]+told["Entry 102"] != 3 || len(told) != limit+3 {
		t.Errorf("what came meanwhile is lost: %v", told)
	}
}

// A reader that has all of the first answer goes on behind it.
func TestFirstAnswerEndsWithItsCursor(t *testing.T) {
	p := newPaper(3)
	server := httptest.NewServer(testSite(p.fake, false))
	t.Cleanup(server.Close) // after the streams of a test that failed
	next, end := open(t, server.URL+"/api/v1/stream")
	defer end()
	var ids []string
	for range 4 {
		ids = append(ids, next().id)
	}
	if c, _, err := parseCursor(ids[2]); err != nil || !maps.Equal(c, cursorOf(3)) || ids[3] != ids[2] || strings.Count(ids[0], between) != 2 {
		t.Errorf("ids %q", ids)
	}
}

// What the rest of a first answer cannot be had for is told as a problem, and
// asked for again with the same id.
func TestRestFails(t *testing.T) {
	f := newFake()
	f.fails = errors.New("nobody answers")
	at := (*page)(nil).next([]feedring.Entry{entryAt(1, 0)})
	w := call(t, testSite(f, false), "GET", "/api/v1/stream", "", "Last-Event-ID: "+amid(formatCursor(cursorOf(1), time.Time{}), at, 3))
	if !strings.Contains(w.Body.String(), "event: problem\ndata: ") || strings.Contains(w.Body.String(), "id: ") {
		t.Errorf("%s", w.Body)
	}
}

func TestPlace(t *testing.T) {
	began := time.Unix(1_772_625_600, 0).UTC()
	cursor := formatCursor(cursorOf(7), began)
	at := (*page)(nil).next([]feedring.Entry{entryAt(1, 0)})
	got, err := parsePosition(amid(cursor, at, 3))
	if err != nil || got.left != 3 || got.rest.String() != at.String() || formatCursor(got.cursor, got.began) != cursor || !got.began.Equal(began) {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := parsePosition(""); err != nil || got.cursor != nil || got.rest != nil {
		t.Errorf("no id: %+v %v", got, err)
	}
	for _, id := range []string{
		"!", cursor + ".", cursor + "..", cursor + "." + at.String(), cursor + "." + at.String() + ".0", cursor + "." + at.String() + ".1001",
		"." + at.String() + ".3", cursor + ".!.3", cursor + "..3", cursor + "." + at.String() + ".3.3",
	} {
		if got, err := parsePosition(id); err == nil {
			t.Errorf("%q is %+v", id, got)
		}
	}
	for range feedring.MaxLimit * 2 {
		at.shown = append(at.shown, 1)
	}
	if id := amid(cursor, at, 3); id != "" {
		t.Errorf("an id of %d characters", len(id))
	}
}

// slowReader takes a kilobyte a second.
type slowReader struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *slowReader) SetWriteDeadline(at time.Time) error {
	s.deadline = at
	return nil
}

func (s *slowReader) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(len(b)) * time.Second >> 10)
	if time.Now().After(s.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return s.ResponseRecorder.Write(b)
}

// TestSlowButAlive: one that takes a long entry slowly is not let go, and while
// it does the peer is asked for no more.
func TestSlowButAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFake()
		f.follow = func(_ context.Context, _ Ask, each func(Update) error) error {
			for n := range 3 {
				e, begun := entryAt(n, 0), time.Now()
				e.ContentHTML = strings.Repeat("x", 100<<10)
				if err := each(Update{Entry: &e, Cursor: cursorOf(uint64(n))}); err != nil {
					t.Errorf("entry %d: %v", n, err)
				}
				if took := time.Since(begun); took < 100*time.Second {
					t.Errorf("entry %d was taken in %v, before its reader had it", n, took)
				}
			}
			cancel()
			return ctx.Err()
		}
		w := &slowReader{ResponseRecorder: httptest.NewRecorder()}
		s := testSite(f, true)
		s.beat = time.Hour // whoever waits for a mutex stops the time of this test
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/api/v1/stream", nil))
		if n := strings.Count(w.Body.String(), "event: entry\n"); n != 3 {
			t.Errorf("%d entries arrived", n)
		}
	})
}

// TestOneAskersShare: one address has a sixteenth of the streams and of the queries,
// behind a proxy too; programs of this machine have what there is.
func TestOneAskersShare(t *testing.T) {
	f := newFake()
	f.follow = numbered(0)
	s := testSite(f, false)
	s.Proxies = asker.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	for range maxStreams / share {
		s.streams.Take("192.0.2.1")
	}
	for range maxQueries / share {
		s.queries.Take("192.0.2.1")
	}
	ask := func(target, remote, forwarded string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // a stream that is taken ends at once
		r := httptest.NewRequestWithContext(ctx, "GET", target, nil)
		r.Host, r.RemoteAddr = "127.0.0.1:7378", remote
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		remote, forwarded string
		refused           bool
	}{
		{"192.0.2.1:2", "", true},
		{"[::ffff:192.0.2.1]:3", "", true},
		{"192.0.2.1:2", "198.51.100.1", true}, // it is no proxy
		{"127.0.0.1:1", "198.51.100.1, 192.0.2.1", true},
		{"127.0.0.1:1", "192.0.2.1, 198.51.100.1", false},
		{"192.0.2.2:1", "", false},
		{"127.0.0.1:1", "", false},
		{"10.0.0.1:1", "", false},
	} {
		for _, target := range []string{"/api/v1/stream", "/api/v1/entries"} {
			w := ask(target, c.remote, c.forwarded)
			if refused := w.Code == 503 && strings.Contains(w.Body.String(), "your address"); refused != c.refused {
				t.Errorf("%s of %s for %q: %d %s", target, c.remote, c.forwarded, w.Code, w.Body)
			}
		}
	}
	for range maxStreams {
		s.streams.Take("") // until there are no more
	}
	if w := ask("/api/v1/stream", "127.0.0.1:1", ""); w.Code != 503 || w.Header().Get("Retry-After") != "10" {
		t.Errorf("all are taken: %d %v", w.Code, w.Header())
	}
	open := testSite(f, false)
	open.loopback = false // others reach it as well
	s = open
	for range maxStreams / share {
		s.streams.Take("127.0.0.1")
	}
	if w := ask("/api/v1/stream", "127.0.0.1:1", ""); w.Code != 503 {
		t.Errorf("a program of this machine, beside others: %d", w.Code)
	}
}
