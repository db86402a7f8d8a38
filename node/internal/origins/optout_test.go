package origins

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/web"
)

// refusing withholds every feed while it is set.
type refusing struct {
	anybody
	on   bool
	bars error
	read []bool
}

func (r *refusing) Withheld(string) bool { return r.on }

func (r *refusing) Bars() error { return r.bars }

func (r *refusing) Refusal(url string) error {
	if r.on {
		return &web.OptedOutError{URL: url}
	}
	return nil
}

func (r *refusing) MayPublish(_ context.Context, url string, noMirrors bool) error {
	r.FeedRead(url, noMirrors)
	return r.Refusal(url)
}

func (r *refusing) FeedRead(_ string, noMirrors bool) { r.read = append(r.read, noMirrors) }

// removing are moderators that removed every feed.
type removing struct{ anybody }

func (removing) Withheld(string) bool { return true }
func (removing) Refusal(string) error { return &web.RemovedError{} }

// TestWithheldFeed: a feed that does not want to be mirrored is neither offered, fetched nor
// published. What was published is erased, and does not take positions again that it had.
func TestWithheldFeed(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l, says := newSiteOfFeeds(t, s, p), &refusing{}
	l.OptOuts = says
	check(t, l.add(t.Context(), testSpec))
	at := time.Now()
	state := fetch.State{URL: testURL, LastFetch: at, LastSuccess: at, NoMirrors: true}
	check(t, l.Changed(t.Context(), testURL, entries(0, 2), state))
	l.FetchEnded(testURL, state)
	if len(says.read) != 2 || !says.read[0] || !says.read[1] {
		t.Errorf("the feed's word was told as %v", says.read)
	}
	ref := feedring.FeedRef{URL: testURL, Publisher: p.Self}
	epoch := s.LogHead(ref).Position.Epoch

	says.on = true
	l.OptOutChanged(testURL)
	if err := l.Changed(t.Context(), testURL, entries(2, 3), state); err == nil || s.LogHead(ref).Position.Sequence != 3 {
		t.Errorf("a feed that is withheld was published: %v", err)
	}
	if st, err := l.Status(testURL); err != nil || !st.OptedOut || st.Error == "" || !st.NextFetch.IsZero() {
		t.Errorf("it is shown as %+v, %v", st, err)
	}
	if len(l.Offered()) != 0 || l.watcher.Len() != 0 {
		t.Errorf("%d are offered, %d are fetched", len(l.Offered()), l.watcher.Len())
	}
	l.watch(testURL)
	if l.watcher.Len() != 0 {
		t.Error("it is fetched again")
	}
	check(t, l.Erase(t.Context(), testURL))
	if _, held := s.Head(ref); held {
		t.Error("its entries are held")
	}
	if st, err := l.State(testURL); err != nil || !st.LastSuccess.IsZero() {
		t.Errorf("what fetches found is remembered: %+v, %v", st, err)
	}

	says.on = false
	l.OptOutChanged(testURL)
	if offered := l.Offered()[testTheme]; len(offered) != 1 || offered[0].Epoch <= epoch {
		t.Errorf("offered again as %v, after epoch %d", offered, epoch)
	}
	// Its document is forgotten: it is fetched as soon as it is this peer's turn.
	l.watch(testURL)
	if _, asked := l.watcher.Waits(testURL); !asked {
		t.Error("it is not fetched before its time")
	}
}

// TestReadersAddNoPublicFeed: a peer that may not publish is told so, and adds private feeds.
func TestReadersAddNoPublicFeed(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.OptOuts = &refusing{bars: &web.ReaderError{}}
	private := testSpec
	private.URL, private.Theme = "https://private.example/feed", ""
	said := l.Add(t.Context(), []feedring.FeedSpec{testSpec, private}, nil)
	if reader := (*web.ReaderError)(nil); !errors.As(said[0].Err, &reader) || said[1].Err != nil {
		t.Errorf("they were added: %v, %v", said[0].Err, said[1].Err)
	}
	if _, err := l.Status(testURL); err == nil {
		t.Error("the public feed is there")
	}
	// One that was there before says so, and that a fetch does not help.
	l.OptOuts = &refusing{}
	check(t, l.add(t.Context(), testSpec))
	l.OptOuts = removing{}
	if st, err := l.Status(testURL); err != nil || !st.Withheld || st.OptedOut || st.Error == "" {
		t.Errorf("a feed that a moderator removed: %+v, %v", st, err)
	}
}
