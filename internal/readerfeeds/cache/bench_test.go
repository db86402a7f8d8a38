package cache

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// blank is a ResponseWriter that keeps nothing.
type blank struct{ header http.Header }

func (b blank) Header() http.Header         { return b.header }
func (b blank) Write(p []byte) (int, error) { return len(p), nil }
func (b blank) WriteHeader(int)             {}

// BenchmarkAnswer is what a poll costs beside what net/http does for it.
func BenchmarkAnswer(b *testing.B) {
	r, err := Open(Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	r.Offer(testFeed, "a.example")
	var items []string
	for i := range 50 {
		items = append(items, fmt.Sprint(i))
	}
	r.Take(testFeed, Fetched{Body: []byte(rssOf(items...)), At: time.Now()})
	req := httptest.NewRequest("GET", testPath, nil)
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "Reader/1.0")
	for _, answer := range []int{200, 304} {
		b.Run(fmt.Sprintf("answer=%d", answer), func(b *testing.B) {
			b.ReportAllocs()
			w := blank{http.Header{}}
			for b.Loop() {
				clear(w.header)
				if err := r.Answer(w, req, testHub); err != nil {
					b.Fatal(err)
				}
			}
			req.Header.Set("If-None-Match", w.header.Get("Etag"))
		})
	}
}

// BenchmarkReady is what a new version costs, once.
func BenchmarkReady(b *testing.B) {
	var items []string
	for i := range 50 {
		items = append(items, fmt.Sprint(i))
	}
	body := []byte(rssOf(items...))
	f := Fetched{Body: body, At: time.Now()}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		newReady(newDoc(&f, tagOf(body), nil), body, testHub, testFeed)
	}
}
