package fetch

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/safehttp"
)

func origin(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func testFetcher() *Fetcher {
	return fetcher(safehttp.Config{
		AllowPrivate: true, UserAgent: UserAgent("test", "", 0), HeaderTimeout: 30 * time.Second, BodyTimeout: 30 * time.Second,
	})
}

func fetcher(cfg safehttp.Config) *Fetcher {
	client, err := safehttp.New(cfg)
	if err != nil {
		panic(err)
	}
	return NewFetcher(client, nil)
}

func packed(encoding string, body []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "br":
		w = brotli.NewWriterLevel(&out, brotli.BestSpeed)
	default:
		w = zlib.NewWriter(&out)
	}
	w.Write(body)
	w.Close()
	return out.Bytes()
}

func TestFetchDecodes(t *testing.T) {
	url := origin(t, func(w http.ResponseWriter, r *http.Request) {
		encoding := strings.TrimPrefix(r.URL.Path, "/")
		w.Header().Set("Content-Encoding", encoding)
		w.Write(packed(encoding, []byte(rssDoc)))
	})
	for _, encoding := range []string{"gzip", "br", "deflate"} {
		answer, err := testFetcher().Fetch(t.Context(), url+"/"+encoding, &State{})
		if err != nil || len(answer.Document.Items) != 3 {
			t.Errorf("%s: %v", encoding, err)
		}
	}
}

func TestValidatorsAreSentBackByteForByte(t *testing.T) {
	const etag, modified = "W/\"a \xe9, \\odd\" ", "yesterday, about noon"
	var got []http.Header
	url := origin(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Clone())
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header()["Etag"], w.Header()["Last-Modified"] = []string{etag}, []string{modified}
		io.WriteString(w, rssDoc)
	})
	state := State{URL: url}
	answer, err := testFetcher().Fetch(t.Context(), url, &state)
	if err != nil {
		t.Fatal(err)
	}
	_, state = Diff(state, answer.Document, time.Now())
	state.take(answer, time.Now())
	raw, err := state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var saved State
	if err := saved.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	if answer, err = testFetcher().Fetch(t.Context(), url, &saved); err != nil || answer.Document != nil {
		t.Fatalf("%v, %v", answer.Document, err)
	}
	want := strings.TrimRight(etag, " ") // HTTP itself drops outer spaces
	if h := got[1]; h.Get("If-None-Match") != want || h.Get("If-Modified-Since") != modified {
		t.Errorf("sent %q and %q", h.Get("If-None-Match"), h.Get("If-Modified-Since"))
	}
	if h := got[0]; h.Get("User-Agent") != "feedring/test (+https://github.com/feedring/feedring)" || h.Get("Accept-Encoding") != "gzip, br" ||
		!strings.Contains(h.Get("Accept"), "application/atom+xml") || h.Get("If-None-Match") != "" {
		t.Errorf("sent %v", h)
	}
}

// WordPress makes both validators of the second of the last change.
func TestSecondChangeWithinOneSecondIsFound(t *testing.T) {
	const second = "Mon, 02 Mar 2026 10:00:00 GMT"
	date, body := second, rssDoc
	var conditional []bool
	url := origin(t, func(w http.ResponseWriter, r *http.Request) {
		conditional = append(conditional, r.Header.Get("If-Modified-Since") != "" || r.Header.Get("If-None-Match") != "")
		w.Header().Set("Date", date)
		w.Header().Set("Last-Modified", second)
		w.Header().Set("ETag", `"second"`)
		if r.Header.Get("If-None-Match") == `"second"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, body)
	})
	state := State{URL: url}
	look := func() bool {
		t.Helper()
		answer, err := testFetcher().Fetch(t.Context(), url, &state)
		if err != nil {
			t.Fatal(err)
		}
		state.take(answer, time.Now())
		return answer.Document != nil
	}
	look()
	date, body = "Mon, 02 Mar 2026 10:00:05 GMT", strings.Replace(rssDoc, "<title>", "<title>again ", 1)
	if !look() {
		t.Error("the second change of the second is not seen")
	}
	if look() {
		t.Error("a document that did not change is read again")
	}
	if want := []bool{false, false, true}; !slices.Equal(conditional, want) {
		t.Errorf("conditional requests: %v, want %v", conditional, want)
	}
}

func TestSameBodyIsNotRead(t *testing.T) {
	n := 0
	url := origin(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header().Set("ETag", strings.Repeat("x", n))
		io.WriteString(w, rssDoc)
	})
	state := State{URL: url}
	answer, _ := testFetcher().Fetch(t.Context(), url, &state)
	state.take(answer, time.Now())
	answer, err := testFetcher().Fetch(t.Context(), url, &state)
	if err != nil || answer.Document != nil || answer.Validators.ETag != "xx" {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestPermanentRedirects(t *testing.T) {
	url := origin(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/older", http.StatusMovedPermanently)
		case "/older":
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
		case "/mixed":
			http.Redirect(w, r, "/temporary", http.StatusMovedPermanently)
		case "/temporary":
			http.Redirect(w, r, "/new", http.StatusFound)
		default:
			io.WriteString(w, rssDoc)
		}
	})
	for path, want := range map[string]string{"/old": url + "/new", "/mixed": "", "/new": ""} {
		answer, err := testFetcher().Fetch(t.Context(), url+path, &State{})
		if err != nil || answer.Moved != want {
			t.Errorf("%s: moved to %q, want %q (%v)", path, answer.Moved, want, err)
		}
	}
}

// bombs are 6 MiB of zeros, below the limit of size.
var bombs = sync.OnceValue(func() map[string][]byte {
	zeros := make([]byte, 6<<20)
	return map[string][]byte{"gzip": packed("gzip", zeros), "br": packed("br", zeros)}
})

// badOrigin answers by the path.
func badOrigin(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; path {
	case "/endless":
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("<item>"), 10_000)); err != nil {
				return
			}
		}
	case "/long":
		w.Header().Set("Content-Length", "1000000000")
	case "/bomb", "/brbomb":
		encoding := map[string]string{"/bomb": "gzip", "/brbomb": "br"}[path]
		w.Header().Set("Content-Encoding", encoding)
		w.Write(bombs()[encoding])
	case "/cut":
		w.Header().Set("Content-Length", "5000")
		io.WriteString(w, rssDoc)
	case "/cutgzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, rssDoc)
		z.Flush()
	case "/liar":
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, rssDoc)
	case "/zstd":
		w.Header().Set("Content-Encoding", "zstd")
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/404", "/410", "/403", "/304":
		w.WriteHeader(map[string]int{"/404": 404, "/410": 410, "/403": 403, "/304": 304}[path])
	case "/429":
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(429)
	case "/503":
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(503)
	case "/challenge":
		w.WriteHeader(503)
		io.WriteString(w, "<html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/h></script>")
	case "/page":
		io.WriteString(w, "<!DOCTYPE html><html><title>Parked</title>")
	case "/slow":
		<-r.Context().Done()
	case "/drip":
		io.WriteString(w, "<rss>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func TestBadOrigins(t *testing.T) {
	url := origin(t, badOrigin)
	for path, want := range map[string]struct {
		kind   failure.Kind
		status int
		text   string
	}{
		"/endless":   {failure.KindTooLarge, 0, "larger than 8 MiB"},
		"/long":      {failure.KindTooLarge, 0, "larger than 8 MiB"},
		"/bomb":      {failure.KindTooLarge, 0, "decompression bomb"},
		"/brbomb":    {failure.KindTooLarge, 0, "decompression bomb"},
		"/cut":       {failure.KindTruncated, 0, "truncated at byte"},
		"/cutgzip":   {failure.KindTruncated, 0, "truncated at byte"},
		"/liar":      {failure.KindMalformed, 0, "encoded as gzip and is not"},
		"/zstd":      {failure.KindMalformed, 0, "zstd"},
		"/loop":      {failure.KindRedirectLoop, 0, "redirect loop"},
		"/404":       {failure.KindNotFound, 404, "404"},
		"/410":       {failure.KindGone, 410, "gone for good"},
		"/403":       {failure.KindRefused, 403, "403 Forbidden"},
		"/304":       {failure.KindRefused, 304, "304"},
		"/429":       {failure.KindTooManyRequests, 429, "wait 2m0s"},
		"/503":       {failure.KindUnavailable, 503, "503"},
		"/challenge": {failure.KindUnavailable, 503, "challenge page (Cloudflare)"},
		"/page":      {failure.KindNotAFeed, 0, `titled "Parked"`},
		"/empty":     {failure.KindEmpty, 0, "empty"},
		"/slow":      {failure.KindSlow, 0, "too slow"},
		"/drip":      {failure.KindSlow, 0, "too slow"},
	} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			f := testFetcher()
			if want.kind == failure.KindSlow {
				f = fetcher(safehttp.Config{AllowPrivate: true, HeaderTimeout: 2 * time.Second, BodyTimeout: 2 * time.Second}) // a busy machine connects in less
			}
			answer, err := f.Fetch(t.Context(), url+path, &State{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != want.kind || e.Status != want.status || !strings.Contains(e.Detail, want.text) {
				t.Fatalf("got %v (%+v), want %v with %q", err, e, want.kind, want.text)
			}
			if e.URL != url+path || answer.Document != nil {
				t.Errorf("url %q, document %v", e.URL, answer.Document)
			}
			if min := map[int]time.Duration{429: 2 * time.Minute, 503: 59 * time.Minute}[e.Status]; path != "/challenge" && e.RetryAfter < min {
				t.Errorf("retry after %v, want %v", e.RetryAfter, min)
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	s := httptest.NewServer(nil)
	url := s.URL
	s.Close()
	strict := fetcher(safehttp.Config{})
	for name, c := range map[string]struct {
		f    *Fetcher
		url  string
		kind failure.Kind
	}{
		"refused": {testFetcher(), url, failure.KindNetwork},
		"private": {strict, url, failure.KindPrivate},
		"number":  {strict, "http://2130706433/", failure.KindPrivate},
	} {
		_, err := c.f.Fetch(t.Context(), c.url, &State{})
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := testFetcher().Fetch(ctx, url, &State{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestHints(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := now.Add(time.Hour).Format(http.TimeFormat)
	for _, c := range []struct {
		header       []string
		retry, fresh time.Duration
	}{
		{[]string{"Retry-After", "7"}, 7 * time.Second, 0},
		{[]string{"Retry-After", later}, time.Hour, 0},
		{[]string{"Retry-After", "99999999999"}, 24 * time.Hour, 0},
		{[]string{"Retry-After", "999999999"}, 24 * time.Hour, 0},
		{[]string{"Retry-After", "-5"}, 0, 0},
		{[]string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour, 0},
		{[]string{"Retry-After", now.AddDate(3000, 0, 0).Format(http.TimeFormat)}, 24 * time.Hour, 0},
		{[]string{"Retry-After", "Sat, 01 Jan 0001 00:00:00 GMT"}, 0, 0},
		{[]string{"Cache-Control", "public, Max-Age=60"}, 0, time.Minute},
		{[]string{"Cache-Control", "max-age=60", "Age", "20"}, 0, 40 * time.Second},
		{[]string{"Cache-Control", "max-age=60, no-cache"}, 0, 0},
		{[]string{"Cache-Control", "max-age=0", "Expires", later}, 0, 0},
		{[]string{"Expires", later}, 0, time.Hour},
		{[]string{"Expires", later, "Date", now.Add(30 * time.Minute).Format(http.TimeFormat)}, 0, 30 * time.Minute},
		{[]string{"Expires", "0"}, 0, 0},
	} {
		h := http.Header{}
		for pair := range slices.Chunk(c.header, 2) {
			h.Set(pair[0], pair[1])
		}
		if got := ReadHints(h, now); got.RetryAfter != c.retry || got.MaxAge != c.fresh {
			t.Errorf("%v: %+v", c.header, got)
		}
	}
}

func BenchmarkUnchangedFetch(b *testing.B) {
	url := origin(b, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"1"`)
		io.WriteString(w, rssDoc)
	})
	f, state := testFetcher(), State{URL: url}
	answer, err := f.Fetch(b.Context(), url, &state)
	if err != nil {
		b.Fatal(err)
	}
	state.take(answer, time.Now())
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := f.Fetch(b.Context(), url, &state); err != nil || answer.Document != nil {
			b.Fatal(err)
		}
	}
}
