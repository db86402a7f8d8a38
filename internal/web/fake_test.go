package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/feedring/feedring/internal/blocks"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const testToken = "a-token-of-the-tests"

var testNow = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// fake is a peer that answers from lists.
type fake struct {
	rebuilds bool
	mu       sync.Mutex
	entries  []feedring.Entry
	private  []feedring.Entry
	feeds    []FeedStatus
	unready  bool
	reach    Reach
	held     []feedring.Entry
	fails    error
	final    feedring.Final
	asked    []Ask
	status   Status
	joins    []string
	blocked  []Block
	follow   func(ctx context.Context, ask Ask, each func(Update) error) error
}

func newFake() *fake {
	return &fake{
		final: feedring.Final{Status: feedring.Answered, Hops: 3, Messages: 7, Grants: []feedring.Grant{{Provider: feedring.PeerInfo{ID: "12D3B"}}}},
		feeds: []FeedStatus{
			{URL: "https://a.example/feed", Theme: "news", Provider: "a.example", Title: "A"},
			{URL: "https://secret.example/feed", Provider: "secret.example", Title: "Secret"},
		},
	}
}

func (f *fake) Status() Status {
	st := f.status
	st.Peer, st.Network, st.Version = "12D3KooWSelf", "main", "dev"
	return st
}

func (f *fake) Readiness() Readiness {
	if f.unready {
		return Readiness{Reasons: []string{"the roles are not settled"}, Warnings: []string{"the clock is off"}}
	}
	return Readiness{Warnings: f.status.Warnings}
}

func (f *fake) Reach() Reach {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reach
}

func (f *fake) Site(e *feedring.Entry) string { return e.VouchedBy }

func (f *fake) Held(_ context.Context, ask Ask) ([]feedring.Entry, error) {
	return slices.Clone(f.held[:min(len(f.held), ask.Limit)]), nil
}

func (f *fake) Ring(context.Context) ([]feedring.RingGroup, error) {
	return []feedring.RingGroup{{Theme: "news", Manager: "12D3B", Term: 3, Peers: 4, Feeds: 9}}, f.fails
}

func (f *fake) Catalogue(_ context.Context, t feedring.Theme) (feedring.Catalogue, error) {
	if t != "news" {
		return feedring.Catalogue{}, ErrUnknown.Of(fmt.Errorf("no group publishes %s", t))
	}
	return feedring.Catalogue{Theme: t, Manager: "12D3B", Term: 3, Peers: []feedring.CataloguePeer{}}, f.fails
}

// Query answers from the newest; those of one second come in a different order
// each time.
func (f *fake) Query(ctx context.Context, ask Ask) (Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, ask)
	if f.fails != nil {
		return Answer{}, f.fails
	}
	var found []feedring.Entry
	for _, e := range slices.Concat(f.entries, f.ifPrivate(ask)) {
		if (ask.Until.IsZero() || e.Published.Before(ask.Until)) && !e.Published.Before(ask.Since) {
			found = append(found, e)
		}
	}
	if len(f.asked)%2 == 0 {
		slices.Reverse(found)
	}
	slices.SortStableFunc(found, func(a, b feedring.Entry) int { return b.Published.Compare(a.Published) })
	return Answer{Entries: found[:min(len(found), ask.Limit)], Final: f.final, Theme: ask.Theme}, nil
}

func (f *fake) ifPrivate(ask Ask) []feedring.Entry {
	if ask.Private {
		return f.private
	}
	return nil
}

func (f *fake) Follow(ctx context.Context, ask Ask, each func(Update) error) error {
	return f.follow(ctx, ask, each)
}

func (f *fake) Feeds(private bool) []FeedStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.feeds), func(s FeedStatus) bool { return !private && s.Theme == "" })
}

func (f *fake) Feed(url string) (FeedStatus, error) {
	for _, s := range f.Feeds(true) {
		if s.URL == url {
			return s, nil
		}
	}
	return FeedStatus{}, ErrUnknown
}

func (f *fake) find(url string) int {
	return slices.IndexFunc(f.feeds, func(s FeedStatus) bool { return s.URL == url })
}

// FindFeed knows one site, and one with two feeds.
func (f *fake) FindFeed(_ context.Context, spec feedring.FeedSpec) (Found, error) {
	switch spec.URL {
	case "https://site.example/":
		return Found{URL: "https://site.example/feed.xml"}, nil
	case "https://two.example/":
		return Found{}, &SeveralFeeds{Page: spec.URL, Feeds: []NamedFeed{{"https://two.example/a", "A"}, {"https://two.example/b", ""}}}
	case "https://none.example/":
		return Found{}, &NotFeedError{URL: spec.URL, Reason: "it names none"}
	case "https://away.example/":
		return Found{URL: spec.URL, Note: "busy"}, nil
	case "https://later.example/":
		return Found{URL: spec.URL, Note: "others come first", Unasked: true}, nil
	}
	return Found{URL: spec.URL}, nil
}

func (f *fake) FindFeeds(ctx context.Context, specs []feedring.FeedSpec) []Sought {
	said := make([]Sought, len(specs))
	for i, spec := range specs {
		said[i].Found, said[i].Err = f.FindFeed(ctx, spec)
	}
	return said
}

func (f *fake) AddFeeds(_ context.Context, specs []feedring.FeedSpec, titles []string) []Added {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := make([]Added, len(specs))
	for i, spec := range specs {
		at := f.find(spec.URL)
		switch {
		case at >= 0 && f.feeds[at].Theme != spec.Theme:
			said[i].Err = fmt.Errorf("%s is already published in %s: remove it first", spec.URL, f.feeds[at].Theme)
		case at >= 0:
			said[i].Known = true
		default:
			st := FeedStatus{URL: spec.URL, Theme: spec.Theme, Provider: spec.Provider, Share: spec.Share}
			if titles != nil {
				st.Title = titles[i]
			}
			f.feeds = append(f.feeds, st)
		}
	}
	return said
}

func (f *fake) RemoveFeed(_ context.Context, url string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.find(url)
	if i < 0 {
		return ErrUnknown.Of(fmt.Errorf("%s is not one of this peer's feeds", url))
	}
	f.feeds = slices.Delete(f.feeds, i, i+1)
	return nil
}

func (f *fake) Ping(_ context.Context, url string) (FeedStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(url); i >= 0 {
		return f.feeds[i], f.fails
	}
	return FeedStatus{}, ErrUnknown.Of(fmt.Errorf("%s is not one of this peer's feeds", url))
}

func (f *fake) RetractEntry(_ context.Context, id feedring.EntryID) ([]Retracted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.entries {
		if e := &f.entries[i]; e.ID == id {
			return []Retracted{{Retraction: e.Retraction()}}, nil
		}
	}
	return nil, ErrUnknown.Of(fmt.Errorf("entry %s is of none of this peer's feeds", id))
}

func (f *fake) RetractURL(ctx context.Context, url string) (told []Retracted, err error) {
	for i := range f.entries {
		if e := &f.entries[i]; e.URL == url {
			told = append(told, Retracted{Retraction: e.Retraction()})
		}
	}
	if len(told) == 0 {
		err = ErrUnknown.Of(fmt.Errorf("no entry has the address %s", url))
	}
	return told, err
}

// Join does not reach those that are away.
func (f *fake) Join(_ context.Context, target string) (Joined, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := Joined{Join: target, Reached: []Reached{}, Groups: []feedring.Theme{}, Known: slices.Contains(f.joins, target)}
	switch target {
	case "":
		return said, ErrMalformed.Of(errors.New("write a domain"))
	case "self.example":
		return said, fmt.Errorf("that is this peer itself")
	case "away.example":
		said.Error = "nobody answers there"
	default:
		said.Reached, said.Groups = []Reached{{"12D3B", "/ip4/192.0.2.1/tcp/1"}}, []feedring.Theme{"news"}
	}
	if !said.Known {
		f.joins = append(f.joins, target)
	}
	return said, nil
}

func (f *fake) Blocks() []Block { return f.blocked }

func (f *fake) Block(_ context.Context, ask Block) (Block, bool, error) {
	if _, err := blocks.Parse(ask.Block); err != nil {
		return ask, false, &BlockTargetError{ask.Block, err}
	}
	known := slices.ContainsFunc(f.blocked, func(b Block) bool { return b.Block == ask.Block })
	f.blocked = append(f.blocked, ask)
	return ask, known, nil
}

func (f *fake) Unblock(_ context.Context, target string) (bool, error) {
	if target == "listed.example" {
		return true, nil
	}
	i := slices.IndexFunc(f.blocked, func(b Block) bool { return b.Block == target })
	if i < 0 {
		return false, &UnknownBlockError{target}
	}
	f.blocked = slices.Delete(f.blocked, i, i+1)
	return false, nil
}

func (f *fake) FollowBlocks(_ context.Context, list string) (BlockList, error) {
	if list != "https://example.org/blocks.json" {
		return BlockList{}, &BlockListError{list, blocks.ErrNoList}
	}
	return BlockList{List: list, Lines: 3}, nil
}

func (f *fake) UnfollowBlocks(_ context.Context, list string) error {
	if list != "https://example.org/blocks.json" {
		return &UnknownBlockListError{list}
	}
	return nil
}

func (f *fake) BlockLists() []BlockList {
	return []BlockList{{List: "https://example.org/blocks.json", Lines: 3}}
}

func (f *fake) Copies(feedring.EntryID) []feedring.Entry { return nil }

func (f *fake) Joins() []JoinTarget {
	f.mu.Lock()
	defer f.mu.Unlock()
	targets := []JoinTarget{{Join: "fixed.example", Fixed: true}}
	for _, t := range f.joins {
		targets = append(targets, JoinTarget{Join: t})
	}
	return targets
}

func (f *fake) RemoveJoin(_ context.Context, target string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.joins, target)
	if i < 0 {
		return ErrUnknown.Of(fmt.Errorf("this peer does not join through %s", target))
	}
	f.joins = slices.Delete(f.joins, i, i+1)
	return nil
}

func (f *fake) History() HistoryStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return HistoryStatus{Entries: len(f.entries), Whole: !f.rebuilds}
}

func (f *fake) RebuildHistory() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rebuilds = true
}

func (f *fake) Doctor(context.Context) []Check { return []Check{{Name: "clock", OK: true}} }

func (f *fake) Vouch(_ context.Context, site string) (VouchAdvice, error) {
	return VouchAdvice{Instructions: "publish it", Sites: []SiteStatus{{Site: site}}}, nil
}

// entryAt is an entry published so many seconds before testNow.
func entryAt(n int, age time.Duration) feedring.Entry {
	return feedring.Entry{
		ID: feedring.NewEntryID("https://a.example/feed", fmt.Sprint(n), "", ""), Feed: "https://a.example/feed",
		Provider: "a.example", Theme: "news", Title: fmt.Sprint("Entry ", n), URL: fmt.Sprint("https://a.example/", n),
		Published: testNow.Add(-age), Publisher: "12D3B", Via: "12D3B",
	}
}

// testSite is a front at 127.0.0.1:7378 that asks f.
func testSite(f *fake, trusted bool) *site {
	s := newSite(Config{
		Backend: f, Token: testToken, PublicURL: "https://news.example/ring", Address: "127.0.0.1:7378",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
	}, trusted)
	s.now = func() time.Time { return testNow }
	return s
}

// call makes a request with headers given as "Name: value".
func call(t testing.TB, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	r.Host = "127.0.0.1:7378"
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const withToken = "Authorization: Bearer " + testToken

func byID(a, b feedring.Entry) int { return cmp.Compare(a.ID, b.ID) }

func (f *fake) MoveFeed(_ context.Context, from, to string, force bool) (FeedStatus, string, error) {
	feed, err := f.Feed(from)
	if err != nil || to == "https://secret.example/feed" {
		return feed, "", cmp.Or(err, fmt.Errorf("%s is a feed of this peer's already", to))
	}
	feed.Fetched = to
	if force {
		return feed, "", nil
	}
	return feed, "not there yet", nil
}
