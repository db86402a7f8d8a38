package node

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

func TestPingTellsHowItEnded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, feedOfEntries("a"))
	}))
	defer server.Close()
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	for _, path := range []string{"/well", "/gone"} {
		check(t, addFeed(t, n, feedring.FeedSpec{URL: server.URL + path, Provider: "a.example"}))
	}
	st, err := n.Ping(t.Context(), server.URL+"/well")
	if err != nil || st.Entries != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	for what, at := range map[string]time.Time{"looked at": st.LastFetch, "well": st.LastOK, "next": st.NextFetch} {
		if at.IsZero() || at.Location() != time.UTC || at.Nanosecond() != 0 {
			t.Errorf("%s at %s: not a whole second of UTC", what, at)
		}
	}
	_, err = n.Ping(t.Context(), server.URL+"/gone")
	if !errors.Is(err, web.ErrOrigin) || !strings.Contains(err.Error(), "/gone: 404: the origin has no such feed") {
		t.Errorf("of what is gone: %v", err)
	}
	if _, err = n.Ping(t.Context(), server.URL+"/other"); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("of what is no feed: %v", err)
	}
}
