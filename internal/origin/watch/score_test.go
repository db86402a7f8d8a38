package watch

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// scorer is an origin, of one host or more, that counts of a reader what
// publishers count. What it may be asked it tells by the headers that it sent,
// and by what a test says of the document; it knows nothing of HostPolicy.
type scorer struct {
	between time.Duration // two requests for one address; 0: not counted
	pause   time.Duration // after a request at a host; 0: not counted
	takes   time.Duration // to answer

	// answer is what the n-th request for a path gets, from 0.
	answer func(path string, n int, now time.Time, r *http.Request) reply

	mu     sync.Mutex
	asked  []asked
	open   map[string]int       // requests under way, by host
	ended  map[string]time.Time // the last one, by host
	held   map[string]time.Time // hosts that asked to be left alone
	feeds  map[string]*scored   // by address
	used   map[string]int       // how often each check was made
	faults []string
}

// scored is what one address was asked, and said.
type scored struct {
	count int
	last  time.Time
	quiet time.Time // what it asked for
	gone  bool
	had   http.Header // of the last answer that was stored; nil: none was
}

type asked struct {
	at     time.Time
	url    string
	header http.Header
	status int
}

// reply is an answer.
type reply struct {
	status int
	header http.Header // with its own spelling
	body   string
	quiet  time.Time // by the words of the document
	lost   bool      // the reader cannot store it
}

func newScorer(answer func(path string, n int, now time.Time, r *http.Request) reply) *scorer {
	return &scorer{
		between: time.Hour, pause: time.Second, takes: 100 * time.Millisecond, answer: answer,
		open: make(map[string]int), ended: make(map[string]time.Time), held: make(map[string]time.Time),
		feeds: make(map[string]*scored), used: make(map[string]int),
	}
}

// The checks, by what publishers call them.
const (
	checkFirst     = "the first request is unconditional"
	checkOthers    = "all others are conditional"
	checkETag      = "ETag comes back byte for byte"
	checkModified  = "Last-Modified comes back byte for byte"
	checkBetween   = "no more often than hourly"
	checkMaxAge    = "never under max-age or Expires"
	checkDocument  = "never under what the document says"
	checkHeld      = "Retry-After holds for the host"
	checkOne       = "one request at a time for each host"
	checkPause     = "no burst at a host"
	checkGone      = "410 ends"
	checkCookies   = "no cookies"
	checkReferer   = "no Referer"
	checkQuery     = "no added query"
	checkAccept    = "Accept names feed types"
	checkCoding    = "Accept-Encoding has gzip and br"
	checkUserAgent = "User-Agent has name, version, contact and readers"
	checkDelta     = "A-IM: feed beside a tag, and nowhere else"
)

// check notes that one was made, and how it went.
func (s *scorer) check(name string, ok bool, format string, args ...any) {
	s.used[name]++
	if !ok && len(s.faults) < 20 {
		s.faults = append(s.faults, name+": "+fmt.Sprintf(format, args...))
	}
}

func unsendable(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// RoundTrip lets the scorer stand in for the network, in virtual time.
func (s *scorer) RoundTrip(r *http.Request) (*http.Response, error) {
	for name, values := range r.Header {
		if strings.ContainsFunc(strings.Join(values, ""), unsendable) { // as every client refuses to send
			return nil, fmt.Errorf("invalid header %s", name)
		}
	}
	s.begin(r)
	select {
	case <-time.After(s.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	s.end(w, r)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// ServeHTTP lets it be a server.
func (s *scorer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.begin(r)
	s.end(w, r)
}

func hostAsked(r *http.Request) string {
	if r.URL.Host != "" {
		return r.URL.Host
	}
	return r.Host
}

func (s *scorer) begin(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, host := time.Now(), hostAsked(r)
	s.open[host]++
	s.check(checkOne, s.open[host] == 1, "%d at %s", s.open[host], host)
	if until, ok := s.held[host]; ok {
		s.check(checkHeld, !now.Before(until), "%s %v too early", r.URL, until.Sub(now))
	}
	if last, ok := s.ended[host]; ok && s.pause > 0 {
		s.check(checkPause, now.Sub(last) >= s.pause, "%s %v after another", r.URL, now.Sub(last))
	}
	s.header(r.Header, r)
	s.times(s.feed(r), now, r)
}

func (s *scorer) feed(r *http.Request) *scored {
	key := hostAsked(r) + r.URL.Path
	if s.feeds[key] == nil {
		s.feeds[key] = &scored{}
	}
	return s.feeds[key]
}

func (s *scorer) header(h http.Header, r *http.Request) {
	s.check(checkCookies, h["Cookie"] == nil, "%q", h["Cookie"])
	s.check(checkReferer, h["Referer"] == nil, "%q", h["Referer"])
	s.check(checkQuery, r.URL.RawQuery == "", "%q", r.URL.RawQuery)
	accept := h.Get("Accept")
	s.check(checkAccept, strings.Contains(accept, "application/rss+xml") && strings.Contains(accept, "application/atom+xml"), "%q", accept)
	coding := h.Get("Accept-Encoding")
	s.check(checkCoding, strings.Contains(coding, "gzip") && strings.Contains(coding, "br"), "%q", coding)
	agent := h.Get("User-Agent")
	s.check(checkUserAgent, strings.HasPrefix(agent, "feedring/") && strings.Contains(agent, "+https://") && strings.Contains(agent, " subscriber"), "%q", agent)
}

func (s *scorer) times(f *scored, now time.Time, r *http.Request) {
	s.check(checkGone, !f.gone, "%s", r.URL)
	if f.count > 0 {
		if s.between > 0 {
			s.check(checkBetween, now.Sub(f.last) >= s.between, "%s after %v", r.URL, now.Sub(f.last))
		}
		s.check(checkDocument, !now.Before(f.quiet), "%s %v too early", r.URL, f.quiet.Sub(now))
	}
	if fresh, ok := freshUntil(f.had); ok {
		s.check(checkMaxAge, now.Sub(f.last) >= fresh, "%s %v after a document fresh for %v", r.URL, now.Sub(f.last), fresh)
	}
	s.validators(f, r)
	f.last = now
}

func (s *scorer) validators(f *scored, r *http.Request) {
	etag, since, delta := r.Header["If-None-Match"], r.Header["If-Modified-Since"], r.Header.Get("A-IM")
	if f.count == 0 {
		s.check(checkFirst, etag == nil && since == nil, "%q %q", etag, since)
	}
	if f.had == nil {
		s.check(checkDelta, etag != nil || delta == "", "%q", delta)
		return
	}
	had, modified := f.had.Get("Etag"), f.had.Get("Last-Modified")
	if had == "" && modified == "" {
		return
	}
	s.check(checkOthers, etag != nil || since != nil, "%s the %d.", r.URL, f.count)
	if had != "" {
		s.check(checkETag, slices.Equal(etag, []string{had}), "%q, not %q", etag, had)
		s.check(checkDelta, delta == "feed", "%q", delta)
	}
	if modified != "" {
		s.check(checkModified, slices.Equal(since, []string{modified}), "%q, not %q", since, modified)
	}
}

// freshUntil reads an answer's caching in the plainest way.
func freshUntil(h http.Header) (time.Duration, bool) {
	if _, text, ok := strings.Cut(h.Get("Cache-Control"), "max-age="); ok {
		seconds, _ := strconv.Atoi(text)
		return min(time.Duration(seconds)*time.Second, 24*time.Hour), true
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	date, _ := http.ParseTime(h.Get("Date"))
	return expires.Sub(date), err == nil && !date.IsZero()
}

func (s *scorer) end(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, host, f := time.Now(), hostAsked(r), s.feed(r)
	a := s.answer(r.URL.Path, f.count, now, r)
	if a.header == nil {
		a.header = make(http.Header)
	}
	f.count++
	s.asked = append(s.asked, asked{now, "http://" + host + r.URL.Path, r.Header.Clone(), a.status})
	f.quiet, f.gone = a.quiet, a.status == http.StatusGone
	if a.status == http.StatusOK || a.status == http.StatusIMUsed {
		if !a.lost {
			f.had = a.header
		}
	} else if fresh, ok := freshUntil(a.header); ok && a.status == http.StatusNotModified {
		f.quiet = laterOf(f.quiet, now.Add(fresh))
	}
	if after := a.header.Get("Retry-After"); after != "" {
		until, err := http.ParseTime(after)
		if seconds, bad := strconv.Atoi(after); bad == nil {
			until, err = now.Add(min(time.Duration(seconds)*time.Second, 24*time.Hour)), nil
		}
		if err == nil {
			s.held[host] = until
		}
	}
	s.open[host]--
	s.ended[host] = now
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

// gaps are the times between the requests for an address.
func (s *scorer) gaps(url string) (gaps []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last time.Time
	for _, a := range s.asked {
		if a.url != url {
			continue
		}
		if !last.IsZero() {
			gaps = append(gaps, a.at.Sub(last))
		}
		last = a.at
	}
	return gaps
}

// count is how many requests there were for an address.
func (s *scorer) count(url string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if a.url == url {
			n++
		}
	}
	return n
}

// report fails a test that has faults.
func (s *scorer) report(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		t.Error(fault)
	}
}
