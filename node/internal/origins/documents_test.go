package origins

import (
	"net/http/httptest"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
)

func openOwn(t testing.TB) *cache.Cache {
	own, err := cache.Open(cache.Config{Dir: t.TempDir()})
	check(t, err)
	return own
}

// TestADocumentThatIsNotKeptIsAskedForWhole: what the peer knows of the feed
// makes the origin say that nothing changed.
func TestADocumentThatIsNotKeptIsAskedForWhole(t *testing.T) {
	origin := newSite(t)
	s := openStore(t)
	sealer := newSealer(t)
	spec := feedring.FeedSpec{URL: origin.URL + "/feed.xml", Theme: testTheme, Provider: "a.example"}
	first := newSiteOfFeeds(t, s, writer(s, sealer), spec)
	look := func(l *siteOfFeeds) {
		ended, err := l.watcher.Fetch(spec.URL)
		check(t, err)
		<-ended
	}
	run := spawn(t)
	for _, l := range []*siteOfFeeds{first, newSiteOfFeeds(t, s, writer(s, sealer), spec)} {
		l.begin(t.Context())
		run(func() { l.watcher.Run(t.Context()) })
		look(l)
		w := httptest.NewRecorder()
		if err := l.Cache.Answer(w, httptest.NewRequest("GET", "/f/a.example/feed.xml", nil), ""); err != nil || w.Body.Len() == 0 {
			t.Errorf("no document: %v", err)
		}
		look(l)
		check(t, l.save(t.Context(), spec.URL))
	}
	eventually(t, "two whole answers", func() bool { return origin.Whole.Load() == 2 })
	if asked := origin.Asked.Load(); asked < 4 {
		t.Errorf("asked %d times", asked)
	}
}
