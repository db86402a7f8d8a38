package origins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/origins/latency"
	"github.com/feedring/feedring/node/internal/preview"
)

// siteOfFeeds is the origins of one peer, with its publisher but no machine.
type siteOfFeeds struct {
	*Feeds
	publisher *testWriter
	offers    int
}

// begin has all feeds watched.
func (l *siteOfFeeds) begin(ctx context.Context) {
	l.start()
	l.startPrivate(ctx)
}

// Now and Soon count what the machine is offered.
func (l *siteOfFeeds) Now()  { l.offers++ }
func (l *siteOfFeeds) Soon() { l.offers++ }

func newSiteOfFeeds(t testing.TB, s *store.Store, p *testWriter, configured ...feedring.FeedSpec) *siteOfFeeds {
	l := &siteOfFeeds{publisher: p}
	own := openOwn(t)
	var err error
	l.Feeds, err = Load(t.Context(), Config{
		Self: p.Self, Store: s, Log: quiet, Cache: own, Offers: l, Identity: alone{}, Loop: testLoop(nil), Tasks: nodetest.Tasks(t),
	}, configured)
	check(t, err)
	l.parts = Parts{Latency: latency.New(), Subscribers: nobody{own}, Publisher: publishes(
		func(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
			at := feedring.Position{Epoch: max(7, l.epoch(spec)), Sequence: 1}
			if last := s.LogHead(feedring.FeedRef{URL: spec.URL, Publisher: p.Self}).Position; last.Epoch == at.Epoch {
				at.Sequence = last.Sequence + 1
			}
			_, err := p.Write(ctx, spec, entries, at)
			return err
		})}
	l.watcher, err = watch.New(watch.Config{Client: http.DefaultClient, Preparer: own, Policy: watch.Fixed(time.Hour), Handler: l})
	check(t, err)
	return l
}

func TestOriginsAddedAreKept(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	check(t, l.add(t.Context(), testSpec))
	check(t, l.add(t.Context(), testSpec))
	other := testSpec
	other.Theme = "sport"
	if err := l.add(t.Context(), other); err == nil || !strings.Contains(err.Error(), "remove it first") {
		t.Errorf("published twice: %v", err)
	}
	fixed := feedring.FeedSpec{URL: "https://example.org/fixed", Theme: "sport", Provider: "example.org"}
	l = newSiteOfFeeds(t, s, p, fixed)
	if len(l.Offered()) != 2 || len(l.urls()) != 2 {
		t.Errorf("after a restart: %v", l.urls())
	}
	if err := l.remove(t.Context(), fixed.URL); err == nil {
		t.Error("a feed of the configuration was removed")
	}
	if err := l.remove(t.Context(), "https://example.org/none"); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	check(t, l.remove(t.Context(), testURL))
	check(t, l.add(t.Context(), other))
	if l = newSiteOfFeeds(t, s, p); specOf(l, testURL) != other {
		t.Errorf("after a restart: %v", l.urls())
	}
	if l.publisher.Store.LogHead(feedring.FeedRef{}); len(l.Offered()) != 1 {
		t.Errorf("offered %v", l.Offered())
	}
	wrong := other
	wrong.Theme = "weather"
	if _, err := Load(t.Context(), Config{Store: s, Log: quiet, Cache: openOwn(t)}, []feedring.FeedSpec{other, wrong}); err == nil {
		t.Error("one feed in two themes")
	}
}

// backend serves what concerns feeds.
type backend struct {
	web.Backend
	o      *Feeds
	finder *preview.Finder
}

func (b backend) AddFeeds(ctx context.Context, specs []feedring.FeedSpec, titles []string) []web.Added {
	return b.o.Add(ctx, specs, titles)
}

func (b backend) FindFeed(ctx context.Context, spec feedring.FeedSpec) (web.Found, error) {
	return b.finder.FindFeed(ctx, spec)
}

// TestFullDiskIsSaid asks the socket's API, where the disk has no room.
func TestFullDiskIsSaid(t *testing.T) {
	full, err := store.Open(t.TempDir(), store.Options{Reserve: 1 << 60}) // more than any disk has
	check(t, err)
	defer full.Close()
	closed := openStore(t)
	check(t, closed.Close())
	for _, test := range []struct {
		store  *store.Store
		status int
		detail string
	}{{full, http.StatusInsufficientStorage, "make room on its disk"}, {closed, http.StatusInternalServerError, "store is closed"}} {
		o := &Feeds{
			Config: Config{OptOuts: anybody{}, Store: test.store, Log: quiet, Cache: openOwn(t), Identity: alone{}, Loop: testLoop(nil), Offers: &siteOfFeeds{}},
			feeds:  newFeeds(),
		}
		o.watcher, err = watch.New(watch.Config{Client: nobodyAnswers{}, Policy: watch.Fixed(time.Hour), Handler: o})
		check(t, err)
		finder := preview.New(preview.Config{Feeds: o, Previews: fetch.NewPreviews(nobodyAnswers{}, nil)})
		api := httptest.NewServer(web.SocketHandler(web.Config{Backend: backend{o: o, finder: finder}, Logger: quiet}))
		defer api.Close()
		resp, err := http.Post(api.URL+"/api/v1/feeds", "application/json", strings.NewReader(`{"url":"https://example.org/feed","theme":"news"}`))
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.detail) || strings.Contains(string(body), "no room") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
		if len(o.urls()) != 0 {
			t.Error("it is kept all the same")
		}
	}
}

func TestOriginsAddedAtOnce(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	var adding sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for _, theme := range []feedring.Theme{"news", "sport", "weather", "arts"} {
		adding.Go(func() {
			spec := testSpec
			spec.Theme = theme
			if l.add(t.Context(), spec) != nil {
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	adding.Wait()
	if failed != 3 {
		t.Errorf("%d of 4 failed: a feed has one theme", failed)
	}
}

// TestOriginsAfterACrash loses what was noted of a fetch: nothing is published
// twice, and what a feed brings later is.
func TestOriginsAfterACrash(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	var mu sync.Mutex
	body := feedOfEntries("a", "b")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	spec := feedring.FeedSpec{URL: server.URL + "/", Theme: testTheme, Provider: "example.org"}
	ref := feedring.FeedRef{URL: spec.URL, Publisher: p.Self}
	look := func() {
		l := newSiteOfFeeds(t, s, p, spec)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		l.begin(t.Context())
		go func() { l.watcher.Run(ctx); close(done) }()
		check(t, l.Fetch(ctx, spec.URL))
		cancel()
		<-done
	}
	forget := func() { check(t, s.Delete(t.Context(), store.BucketFeed, feedState+spec.URL)) }
	look()
	forget()
	look()
	if items := log(t, s, ref); len(items) != 2 {
		t.Fatalf("%d entries", len(items))
	}
	forget()
	mu.Lock()
	body = feedOfEntries("a", "c")
	mu.Unlock()
	look()
	look()
	chained(t, log(t, s, ref))
	if items := log(t, s, ref); len(items) != 3 {
		t.Errorf("%d entries", len(items))
	}
	check(t, s.Put(t.Context(), store.BucketFeed, feedState+spec.URL, []byte("no state")))
	look()
	if items := log(t, s, ref); len(items) != 3 {
		t.Errorf("%d entries after damage", len(items))
	}
	spec.Theme = "sport" // its new group gets what the document holds
	look()
	if items := log(t, s, ref); len(items) != 5 || items[4].Theme != "sport" || items[4].Position.Sequence != 2 {
		t.Errorf("%d entries after the move", len(items))
	}
}

func TestSavedDue(t *testing.T) {
	now := time.Now()
	state := func(change ...func(*fetch.State)) fetch.State {
		st := fetch.State{URL: testURL, Title: "T", LastFetch: now, LastSuccess: now, NextFetch: now.Add(time.Second)}
		for _, f := range change {
			f(&st)
		}
		return st
	}
	later := func(st *fetch.State) { st.LastFetch = now.Add(time.Second) }
	for _, test := range []struct {
		name  string
		saved recent
		st    fetch.State
		want  bool
	}{
		{"never saved", recent{}, state(), true},
		{"only times", recent{saved: state(), at: now}, state(later), false},
		{"only times, for long", recent{saved: state(), at: now.Add(-saveTimesEvery)}, state(later), true},
		{"not looked at soon", recent{saved: state(), at: now}, state(later, func(st *fetch.State) { st.NextFetch = now.Add(time.Hour) }), true},
		{"a title", recent{saved: state(), at: now}, state(later, func(st *fetch.State) { st.Title = "U" }), true},
		{"a failure", recent{saved: state(), at: now}, state(later, func(st *fetch.State) { st.Failures, st.LastError = 1, "x" }), true},
		{"validators", recent{saved: state(), at: now}, state(later, func(st *fetch.State) { st.BodyHash[0] = 1 }), false},
	} {
		test.saved.state = test.st
		if got := test.saved.due(now); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// TestKnownFeedIsRefusedInItsWords: a private feed is published nowhere.
func TestKnownFeedIsRefusedInItsWords(t *testing.T) {
	for theme, want := range map[feedring.Theme]string{"": "already kept in private as a.example", "news": "already published in news as a.example"} {
		spec := feedring.FeedSpec{URL: "https://a.example/feed", Provider: "a.example", Theme: theme}
		o := &Feeds{Config: Config{Store: openStore(t), Log: quiet}, feeds: newFeeds()}
		o.set(newOrigin(spec))
		check(t, o.add(t.Context(), spec))
		spec.Theme = "sport"
		if err := o.add(t.Context(), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestFileIsNotNamedTwice: a list of feeds names none, and means the same feeds.
func TestFileIsNotNamedTwice(t *testing.T) {
	s := openStore(t)
	l := newSiteOfFeeds(t, s, writer(nil, newSealer(t)))
	spec := testSpec
	spec.File = "/srv/feed.xml"
	check(t, l.add(t.Context(), spec))
	if said := l.addAll(t.Context(), []feedring.FeedSpec{testSpec}, nil)[0]; !said.Known || specOf(l, testURL) != spec {
		t.Errorf("%+v, %+v", said, specOf(l, testURL))
	}
	other := spec
	other.File = "/srv/other.xml"
	if err := l.add(t.Context(), other); err == nil {
		t.Error("another file was taken for the same")
	}
}

// TestManyFeedsAtOnce: what is wrong with some stops no other.
func TestManyFeedsAtOnce(t *testing.T) {
	s := openStore(t)
	l := newSiteOfFeeds(t, s, writer(nil, newSealer(t)))
	check(t, l.add(t.Context(), testSpec))
	l.offers = 0
	specs := []feedring.FeedSpec{testSpec, testSpec}
	specs[1].Theme = "sport"
	for i := range feedring.MaxFeeds + 1 {
		specs = append(specs, feedring.FeedSpec{URL: fmt.Sprintf("https://example.org/%d", i), Theme: testTheme, Provider: "example.org"})
	}
	other := specs[2]
	other.Theme = "sport"
	specs = append(specs, specs[2], other) // in two folders of a list
	said := l.addAll(t.Context(), specs, nil)
	for i, want := range map[int]string{1: "remove it first", len(said) - 1: "named twice", len(said) - 3: "run another peer", len(said) - 4: "run another peer"} {
		if err := said[i].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", i, err, want)
		}
	}
	if again := said[len(said)-2]; !again.Known || again.Err != nil {
		t.Errorf("named twice alike: %+v", again)
	}
	if !said[0].Known || said[0].Err != nil || said[2].Known || said[2].Err != nil || l.offers != 1 {
		t.Errorf("%+v, %+v, offered %d times", said[0], said[2], l.offers)
	}
	if l = newSiteOfFeeds(t, s, l.publisher); len(l.urls()) != feedring.MaxFeeds {
		t.Errorf("%d feeds after a restart", len(l.urls()))
	}
}

// add is addAll of one feed.
func (o *Feeds) add(ctx context.Context, spec feedring.FeedSpec) error {
	return o.addAll(ctx, []feedring.FeedSpec{spec}, nil)[0].Err
}

func specOf(l *siteOfFeeds, url string) feedring.FeedSpec {
	f, _ := l.get(url)
	return f.spec()
}

// A weight is kept over a restart. A feed that is added again with another one has that, and
// without one keeps its own; one of the configuration is told where to write it.
func TestWeightIsKept(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	heavy, private := testSpec, feedring.FeedSpec{URL: "https://example.org/own", Provider: "example.org"}
	heavy.Weight = 8
	check(t, l.add(t.Context(), heavy))
	check(t, l.add(t.Context(), testSpec))
	check(t, l.add(t.Context(), private))
	if _, readers := l.Weight(private.URL); readers != 1 {
		t.Errorf("a private feed has %d readers", readers)
	}
	private.Weight = 0.5
	check(t, l.add(t.Context(), private))
	l = newSiteOfFeeds(t, s, p)
	for url, want := range map[string]float64{testURL: 8, private.URL: 0.5} {
		if fixed, _ := l.Weight(url); fixed != want || specOf(l, url).Weight != want {
			t.Errorf("%s weighs %v, not %v", url, fixed, want)
		}
	}
	fixed := feedring.FeedSpec{URL: "https://example.org/fixed", Theme: "sport", Provider: "example.org"}
	l = newSiteOfFeeds(t, s, p, fixed)
	fixed.Weight = 2
	for _, fixed.Theme = range []feedring.Theme{"sport", ""} {
		if err := l.add(t.Context(), fixed); err == nil || !strings.Contains(err.Error(), "[[feeds]]") {
			t.Errorf("a feed of the configuration: %v", err)
		}
	}
}

// A weight alone changes that of a published feed: the theme need not be repeated. Another
// provider, and the feed without theme and weight, are refused as before.
func TestWeightAlone(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	asked := testSpec
	asked.Share = "title"
	check(t, l.add(t.Context(), asked))
	again := feedring.FeedSpec{URL: asked.URL, Provider: feedring.ProviderOf(asked.URL), Weight: 2}
	check(t, l.add(t.Context(), again))
	asked.Weight = 2
	if got := specOf(newSiteOfFeeds(t, s, p), asked.URL); got != asked {
		t.Errorf("it is %+v, want %+v", got, asked)
	}
	for _, change := range []func(*feedring.FeedSpec){
		func(f *feedring.FeedSpec) { f.Weight = 0 },
		func(f *feedring.FeedSpec) { f.Provider = "another.example" },
		func(f *feedring.FeedSpec) { f.Theme = "weather" },
	} {
		other := again
		if change(&other); l.add(t.Context(), other) == nil {
			t.Errorf("%+v is taken for the known feed", other)
		}
	}
}
