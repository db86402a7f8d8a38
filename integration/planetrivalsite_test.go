package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// entryTitle has the feed's number and the entry's.
const entryTitle = "feed %d entry %d"

// replayedSite is an origin whose document changes as a captured one did. Each system asks
// at an address of its own.
type replayedSite struct {
	run   *rivalRun
	feed  int
	at    exchange.Published
	url   string
	mu    sync.Mutex
	made  time.Time      // what was there before the run is dated before this
	begin time.Time      // zero: the document is as it was at the beginning
	asked map[string]int // requests since then, by system and interval
}

func (r *rivalRun) site(m *machine, feed int) *replayedSite {
	r.t.Helper()
	s := &replayedSite{run: r, feed: feed, at: r.replay.Feeds[feed], url: "http://" + m.addr, made: time.Now(), asked: make(map[string]int)}
	var l net.Listener
	m.inside(func() (err error) {
		l, err = net.Listen("tcp4", m.addr+":80")
		return err
	})
	server := httptest.NewUnstartedServer(s)
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	r.t.Cleanup(server.Close)
	return s
}

// address is where a system asks that fetches at an interval.
func (s *replayedSite) address(system string, every time.Duration) string {
	return fmt.Sprintf("%s/%s/%v/f%d", s.url, system, every, s.feed)
}

func (s *replayedSite) start(begin time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin = begin
}

// ServeHTTP answers with the entries that are there at that virtual time, the newest first.
func (s *replayedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), fmt.Sprintf("/f%d", s.feed))
	if !ok {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var now time.Duration
	if since := time.Since(s.begin); !s.begin.IsZero() && since >= 0 {
		now = min(time.Duration(float64(since)*s.run.speed), s.run.length)
		if now < s.run.length {
			s.asked[name]++
		}
	}
	last, changes := 0, 0 // of all that came or went so far: the version
	for i, at := range s.at.At {
		if at <= now {
			last, changes = i+1, changes+1
		}
		if s.at.Gone[i] <= now {
			changes++
		}
	}
	tag := fmt.Sprintf(`"%d"`, changes)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>feed %d</title><link>%s/</link><description>a day of a front page</description>`, s.feed, s.url)
	for i := last - 1; i >= 0; i-- {
		if s.at.Gone[i] <= now {
			continue
		}
		date := s.made.Add(s.at.At[i])
		if s.at.At[i] > 0 {
			date = s.begin.Add(s.run.real(s.at.At[i]))
		}
		fmt.Fprintf(w, `<item><title>`+entryTitle+`</title><guid isPermaLink="false">f%d-%d</guid><link>%s/%s/%d</link><pubDate>%s</pubDate><description>%s</description></item>`,
			s.feed, i, s.feed, i, s.url, name, i, date.UTC().Format(time.RFC1123Z), "What a front page says of a story in a sentence or two, as long as such summaries are.")
	}
	fmt.Fprint(w, `</channel></rss>`)
}
