package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// library is the origins of one peer, with its publisher but no machine.
type library struct {
	*origins
	publisher *testWriter
	offers    int
}

// begin has all feeds watched.
func (l *library) begin(ctx context.Context) {
	l.start()
	l.startPrivate(ctx)
}

func newLibrary(t testing.TB, s *store.Store, p *testWriter, configured ...feedring.FeedSpec) *library {
	l := &library{publisher: p}
	l.origins = &origins{
		store: s, self: p.Self, log: quiet, feeds: newFeeds(), offer: func() { l.offers++ }, retitle: func() { l.offers++ }, front: openOwn(t),
		publish: func(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
			at := feedring.Position{Epoch: max(7, l.epoch(spec)), Sequence: 1}
			if last := s.LogHead(feedring.FeedRef{URL: spec.URL, Publisher: p.Self}).Position; last.Epoch == at.Epoch {
				at.Sequence = last.Sequence + 1
			}
			_, err := p.Write(ctx, spec, entries, at)
			return err
		},
	}
	check(t, l.load(configured))
	var err error
	l.watcher, err = fetch.NewWatcher(fetch.WatcherConfig{Client: http.DefaultClient, Prepare: l.front.Prepare, Policy: fetch.Fixed(time.Hour), Handler: l, Fetched: l.fetched})
	check(t, err)
	return l
}

func TestOriginsAddedAreKept(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newLibrary(t, s, p)
	check(t, l.add(t.Context(), testSpec))
	check(t, l.add(t.Context(), testSpec))
	other := testSpec
	other.Theme = "sport"
	if err := l.add(t.Context(), other); err == nil || !strings.Contains(err.Error(), "remove it first") {
		t.Errorf("published twice: %v", err)
	}
	fixed := feedring.FeedSpec{URL: "https://example.org/fixed", Theme: "sport", Provider: "example.org"}
	l = newLibrary(t, s, p, fixed)
	if len(l.offered()) != 2 || len(l.urls()) != 2 {
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
	if l = newLibrary(t, s, p); specOf(l, testURL) != other {
		t.Errorf("after a restart: %v", l.urls())
	}
	if l.publisher.Store.LogHead(feedring.FeedRef{}); len(l.offered()) != 1 {
		t.Errorf("offered %v", l.offered())
	}
	wrong := other
	wrong.Theme = "weather"
	again := &origins{store: s, log: quiet, feeds: newFeeds(), front: openOwn(t)}
	if err := again.load([]feedring.FeedSpec{other, wrong}); err == nil {
		t.Error("one feed in two themes")
	}
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
		n := &Node{disk: disk{store: test.store}, log: quiet, lifecycle: lifecycle{ctx: t.Context()}, glances: fetch.NewGlances(nobodyAnswers{}, nil)}
		n.origins = &origins{store: test.store, log: quiet, feeds: newFeeds(), offer: func() {}, retitle: func() {}, front: openOwn(t)}
		n.origins.watcher, err = fetch.NewWatcher(fetch.WatcherConfig{Client: nobodyAnswers{}, Policy: fetch.Fixed(time.Hour), Handler: n.origins})
		check(t, err)
		api := httptest.NewServer(web.SocketHandler(web.Config{Backend: n, Logger: quiet}))
		defer api.Close()
		resp, err := http.Post(api.URL+"/api/v1/feeds", "application/json", strings.NewReader(`{"url":"https://example.org/feed","theme":"news"}`))
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.detail) || strings.Contains(string(body), "no room") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
		if len(n.origins.urls()) != 0 {
			t.Error("it is kept all the same")
		}
	}
}

func TestOriginsAddedAtOnce(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newLibrary(t, s, p)
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

// document is a feed that a server gives.
func feedOfEntries(titles ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>T</title><link>https://example.org/</link>`)
	for _, title := range titles {
		b.WriteString("<item><guid>" + title + "</guid><title>" + title + "</title><link>https://example.org/" + title + "</link></item>")
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

// TestOriginsAfterACrash loses what was noted of a look: nothing is published
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
		l := newLibrary(t, s, p, spec)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		l.begin(t.Context())
		go func() { l.watcher.Run(ctx); close(done) }()
		check(t, l.look(ctx, spec.URL))
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

// TestFeedRemovedAndAddedAgain: the log goes on where it stopped, at whatever
// moment that happens, and nothing of a removed private feed is shown.
func TestFeedRemovedAndAddedAgain(t *testing.T) {
	var mu sync.Mutex
	body := feedOfEntries("a", "b")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	change := func(to string) { mu.Lock(); body = to; mu.Unlock() }
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	held := func(url string) []store.Item {
		return log(t, n.store, feedring.FeedRef{URL: url, Publisher: n.ID()})
	}
	for _, theme := range []feedring.Theme{"sport", testTheme, ""} { // a group that is left for it, one that is not, none
		spec := feedring.FeedSpec{URL: server.URL + "/" + string(theme), Theme: theme, Provider: "b.example"}
		change(feedOfEntries("a", "b"))
		for round, want := range []int{2, 3, 4} {
			check(t, addFeed(t, n, spec))
			eventually(t, "a role", n.Ready)
			st, err := n.Ping(t.Context(), spec.URL)
			if err != nil || st.Error != "" || st.Entries != want {
				t.Fatalf("%q, round %d: %d entries, %s, %v", theme, round, st.Entries, st.Error, err)
			}
			check(t, n.RemoveFeed(t.Context(), spec.URL))
			change(feedOfEntries([]string{"b", "c", "d"}[:2+round%2]...))
		}
		chained(t, held(spec.URL))
		if items := held(spec.URL); items[len(items)-1].Position.Sequence != 4 {
			t.Errorf("%q: ends at %v", theme, items[len(items)-1].Position)
		}
	}
	shown, err := n.Held(t.Context(), web.Ask{Private: true})
	shown = slices.DeleteFunc(shown, func(e feedring.Entry) bool { return e.Theme != "" })
	if err != nil || len(shown) != 0 {
		t.Errorf("of a removed private feed %d entries are shown, %v", len(shown), err)
	}
}

// TestPersonalFeedsOfAFeedAddedAgain: they show a private feed that comes back,
// though no look finds anything new in it.
func TestPersonalFeedsOfAFeedAddedAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, feedOfEntries("a", "b")) }))
	defer server.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	spec := feedring.FeedSpec{URL: server.URL, Provider: "b.example"}
	add := func() {
		check(t, addFeed(t, n, spec))
		_, err := n.Ping(t.Context(), spec.URL)
		check(t, err)
	}
	add()
	sub, err := n.personal.Subscribe(t.Context(), feedring.Query{}, false)
	check(t, err)
	shows := func(want int) func() bool {
		return func() bool {
			f, err := n.personal.Feed(t.Context(), sub.Secret)
			return err == nil && len(f.Entries) == want
		}
	}
	eventually(t, "two entries", shows(2))
	check(t, n.RemoveFeed(t.Context(), spec.URL))
	eventually(t, "none", shows(0))
	add()
	eventually(t, "two entries again", shows(2))
}

func TestSavedDue(t *testing.T) {
	now := time.Now()
	state := func(change ...func(*fetch.State)) fetch.State {
		st := fetch.State{URL: testURL, Title: "T", LastLook: now, LastSuccess: now, NextLook: now.Add(time.Second)}
		for _, f := range change {
			f(&st)
		}
		return st
	}
	later := func(st *fetch.State) { st.LastLook = now.Add(time.Second) }
	for _, test := range []struct {
		name  string
		saved recent
		st    fetch.State
		want  bool
	}{
		{"never saved", recent{}, state(), true},
		{"only times", recent{saved: state(), at: now}, state(later), false},
		{"only times, for long", recent{saved: state(), at: now.Add(-saveTimesEvery)}, state(later), true},
		{"not looked at soon", recent{saved: state(), at: now}, state(later, func(st *fetch.State) { st.NextLook = now.Add(time.Hour) }), true},
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
		o := &origins{store: openStore(t), log: quiet, feeds: newFeeds()}
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
	l := newLibrary(t, s, writer(nil, newSealer(t)))
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
	l := newLibrary(t, s, writer(nil, newSealer(t)))
	check(t, l.add(t.Context(), testSpec))
	offers := 0
	l.offer = func() { offers++ }
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
	if !said[0].Known || said[0].Err != nil || said[2].Known || said[2].Err != nil || offers != 1 {
		t.Errorf("%+v, %+v, offered %d times", said[0], said[2], offers)
	}
	if l = newLibrary(t, s, l.publisher); len(l.urls()) != feedring.MaxFeeds {
		t.Errorf("%d feeds after a restart", len(l.urls()))
	}
}

// add is addAll of one feed.
func (o *origins) add(ctx context.Context, spec feedring.FeedSpec) error {
	return o.addAll(ctx, []feedring.FeedSpec{spec}, nil)[0].Err
}

func addFeed(t *testing.T, n *Node, spec feedring.FeedSpec) error {
	t.Helper()
	return n.AddFeeds(t.Context(), []feedring.FeedSpec{spec}, nil)[0].Err
}

func specOf(l *library, url string) feedring.FeedSpec {
	f, _ := l.get(url)
	return f.spec()
}

// TestTitlesOfAList: what a list calls a feed is shown until the feed says it, over
// a restart and failed looks too, and told to nobody else.
func TestTitlesOfAList(t *testing.T) {
	site := newSite(t)
	site.away.Store(true)
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	private := feedring.FeedSpec{URL: site.URL + "/private.xml", Provider: "a.example"}
	public := feedring.FeedSpec{URL: site.URL + "/public.xml", Theme: testTheme, Provider: "a.example"}
	for _, said := range n.AddFeeds(t.Context(), []feedring.FeedSpec{private, public}, []string{"Mine", "Ours"}) {
		check(t, said.Err)
	}
	shown := func(url, want string) {
		t.Helper()
		if st, err := n.Feed(url); err != nil || st.Title != want {
			t.Errorf("%s is shown as %q, %v", url, st.Title, err)
		}
	}
	_, _ = n.Ping(t.Context(), private.URL) // the origin is away
	kill(n)
	n = startPeer(t, cfg)
	shown(private.URL, "Mine")
	shown(public.URL, "Ours")
	for _, f := range n.origins.offered()[testTheme] {
		if f.URL == public.URL && f.Title != "" {
			t.Errorf("others are told %q", f.Title)
		}
	}
	site.away.Store(false)
	_, err := n.Ping(t.Context(), private.URL)
	check(t, err)
	shown(private.URL, "T")
}
