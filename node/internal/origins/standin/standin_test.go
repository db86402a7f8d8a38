package standin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/publish"
)

// resting is feeds that rest, all of them.
type resting struct{ spec feedring.FeedSpec }

func (r resting) FetchedElsewhere(string) (feedring.FeedSpec, string, bool) {
	return r.spec, "Title", true
}

func (resting) FeedChanged(string) {}

// TestRestingFeedWithoutEntriesIsEmpty: a feed of which the group has nothing is
// served as a document without entries, and not with those of its group's other
// feeds.
func TestRestingFeedWithoutEntriesIsEmpty(t *testing.T) {
	s := nodetest.OpenStore(t)
	documents, err := cache.Open(cache.Config{Dir: t.TempDir()})
	nodetest.Check(t, err)
	other := publish.New(publish.Config{Self: "other", Store: s, Sealer: nodetest.NewSealer(t), Clock: &nodetest.Clock{}})
	append := func(spec feedring.FeedSpec, entries ...feedring.Entry) {
		t.Helper()
		_, err := other.Write(t.Context(), spec, entries, feedring.Position{Epoch: 1, Sequence: 1})
		nodetest.Check(t, err)
	}
	append(nodetest.Spec, nodetest.Entries(1, 3)...)

	mine := feedring.FeedSpec{URL: "https://quiet.example/feed", Theme: nodetest.Theme, Provider: "quiet.example"}
	path := documents.Offer(mine.URL, mine.Provider)
	w := New(Config{Self: "self", Feeds: resting{mine}, Store: s, Cache: documents, Subscribers: resting{}, Log: nodetest.Quiet})
	served := func() string {
		t.Helper()
		nodetest.Check(t, w.write(t.Context(), mine.URL))
		answer := httptest.NewRecorder()
		nodetest.Check(t, documents.Answer(answer, httptest.NewRequest(http.MethodGet, path, nil), ""))
		return answer.Body.String()
	}
	if doc := served(); !strings.Contains(doc, "<feed") || strings.Contains(doc, "<entry>") {
		t.Errorf("without entries: %s", doc)
	}
	append(mine, nodetest.Entry(7))
	if doc := served(); strings.Count(doc, "<entry>") != 1 || !strings.Contains(doc, "entry 7") {
		t.Errorf("with one entry: %s", doc)
	}
}
