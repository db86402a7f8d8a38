package nodetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
)

// Site is an origin that counts what it is asked.
type Site struct {
	*httptest.Server
	Asked, Whole atomic.Int64
	Away         atomic.Bool
	Agent        atomic.Value
}

func NewSite(t testing.TB) *Site {
	s := &Site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".xml") { // what the site says of its peers
			http.NotFound(w, r)
			return
		}
		s.Asked.Add(1)
		s.Agent.Store(r.UserAgent())
		switch {
		case s.Away.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			s.Whole.Add(1)
			w.Header().Set("Etag", `"1"`)
			_, _ = io.WriteString(w, FeedOfEntries("a"))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// FeedOfEntries is a feed that a server gives.
func FeedOfEntries(titles ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>T</title><link>https://example.org/</link>`)
	for _, title := range titles {
		b.WriteString("<item><guid>" + title + "</guid><title>" + title + "</title><link>https://example.org/" + title + "</link></item>")
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

func FeedAt(i int) feedring.FeedSpec {
	return feedring.FeedSpec{
		URL:      fmt.Sprintf("https://site-%06d.example.org/blog/%d/feed.xml", i/2, i),
		Provider: feedring.Provider(fmt.Sprintf("site-%06d.example.org", i/2)),
	}
}

func PutFeeds(b *testing.B, s *store.Store, feeds int) {
	now := time.Now()
	st := fetch.State{
		Title: "A personal site", Validators: fetch.Validators{ETag: `"5e2f-61ab8a9e1c2c0"`},
		LastFetch: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour), NextFetch: now.Add(time.Hour), Interval: time.Hour,
	}
	state, err := st.MarshalBinary()
	Check(b, err)
	var changes []store.Change
	for i := range feeds {
		spec := FeedAt(i)
		value, err := json.Marshal(spec)
		Check(b, err)
		changes = append(changes, store.Change{Key: "added/" + spec.URL, Value: value}, store.Change{Key: "state/" + spec.URL, Value: state})
	}
	Check(b, s.Write(b.Context(), store.BucketFeed, changes))
}

func InUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
