// Package optouts has this peer obey publishers who do not want to be mirrored: it
// keeps what their sites and feeds say, withholds feeds of this peer's that it binds,
// hides what mirrors published, and has all of it erased.
//
// Only what this peer read itself at a site or in a feed counts. Other peers are not
// asked and not believed.
package optouts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/optout"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

const (
	wordKey     = "optout/word/"
	decisionKey = "optout/feed/"

	sweepEvery = 10 * time.Minute
	certainFor = 24 * time.Hour // that a site was found to name this peer
	lookWithin = 30 * time.Second
	startsFor  = 10 * time.Minute // until it is known whom the groups' sites name
	maxFound   = 100_000
)

// Sites asks sites, and remembers what they answered.
type Sites interface {
	Check(ctx context.Context, site string, peer feedring.PeerID, feeds []string, h vouch.Hearsay) (vouch.Verdict, error)
	CheckFeed(ctx context.Context, feedURL, link string, peer feedring.PeerID, h vouch.Hearsay) (vouch.Verdict, error)
	Forget(sites ...string)
}

// Feeds are this peer's own feeds.
type Feeds interface {
	// Bindable lists the addresses of those that are published and not read from a file.
	Bindable() []string
	// Free reports whether a feed is one of the others.
	Free(url string) bool
	// Link is the rel="feedring" that the last fetch of a feed found.
	Link(url string) string
	// Visit calls ask when the host of url may be asked.
	Visit(ctx context.Context, url string, ask func(context.Context) error) error
	// Address is where a feed is fetched.
	Address(url string) string
	// OptOutChanged begins or ceases to publish a feed, as Withheld is now.
	OptOutChanged(url string)
	// Erase forgets what this peer published of a feed.
	Erase(ctx context.Context, url string) error
}

// Reader fetches a feed once.
type Reader interface {
	Fetch(ctx context.Context, url string, state *fetch.State) (fetch.Answer, error)
}

// Copies are what others published.
type Copies interface {
	Erase(ctx context.Context, ref feedring.FeedRef) error
}

// Lists keep entries beside the store.
type Lists interface {
	EraseFeed(ref feedring.FeedRef)
}

// Views is what the machine knows.
type Views interface{ View() *peer.View }

// Records are small records on disk, and which feeds are held.
type Records interface {
	ListPrefix(b store.Bucket, prefix string) iter.Seq2[store.Record, error]
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
	Delete(ctx context.Context, b store.Bucket, key string) error
	HeadsWhere(func(*store.Head) bool) []store.Head
}

// Parts are what a Keeper works with.
type Parts struct {
	Self    feedring.PeerID
	Network string
	Sites   Sites
	Feeds   Feeds
	Reader  Reader
	Copies  Copies
	Lists   Lists
	Views   Views
}

// Keeper keeps opt-outs. Its methods may be called concurrently.
type Keeper struct {
	records Records
	log     *slog.Logger
	parts   Parts
	started time.Time
	wake    chan struct{} // holds one
	changes atomic.Uint64
	some    atomic.Bool // there are words

	mu        sync.Mutex
	words     optout.Words
	decisions map[string]decision     // by the address of a feed of this peer's
	found     map[string]*optout.Word // by address: what Against found; nil: nothing
	applied   map[string]bool         // feeds that this peer does not publish: Withheld, as Feeds knows it
	unsaved   map[string]bool         // of words: those that changed
}

// decision is whether the word against mirrors of a feed binds this peer.
type decision struct {
	Bound bool      `json:"bound"`
	At    time.Time `json:"at"`
	By    string    `json:"by"` // optout.Word.Of
}

// Open reads what was kept.
func Open(records Records, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{
		records: records, log: log, started: time.Now(), wake: make(chan struct{}, 1),
		decisions: make(map[string]decision), found: make(map[string]*optout.Word), unsaved: make(map[string]bool), applied: make(map[string]bool),
	}
	for record, err := range records.ListPrefix(store.BucketFeed, wordKey) {
		var w optout.Word
		if err == nil {
			err = json.Unmarshal(record.Value, &w)
		}
		if err != nil {
			return nil, fmt.Errorf("opt-outs: %w", err)
		}
		k.words.Load(w)
	}
	for record, err := range records.ListPrefix(store.BucketFeed, decisionKey) {
		var r decision
		if err == nil {
			err = json.Unmarshal(record.Value, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("opt-outs: %w", err)
		}
		url := strings.TrimPrefix(record.Key, decisionKey)
		if k.decisions[url] = r; r.Bound {
			k.applied[url] = true
		}
	}
	k.some.Store(k.words.Len() > 0)
	return k, nil
}

// Begin says what the Keeper works with, before anything else is called but
// Withheld.
func (k *Keeper) Begin(parts Parts) { k.parts = parts }

// SiteAnswered implements vouch.Listener.
func (k *Keeper) SiteAnswered(site string, d *vouch.Document) {
	if d == nil || !bool(d.NoMirrors) {
		k.withdrawn(site)
		return
	}
	var named []feedring.PeerID
	if d.Network == k.parts.Network {
		named = d.Peers
	}
	k.refused(site, d.Feeds, named)
}

// FeedRead takes in whether a feed that was read refuses mirrors.
func (k *Keeper) FeedRead(url string, noMirrors bool) {
	if noMirrors {
		k.refused(optout.FeedKey(url), nil, nil)
		return
	}
	k.withdrawn(optout.FeedKey(url))
}

func (k *Keeper) refused(of string, feeds []string, peers []feedring.PeerID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, changed := k.words.Refuse(of, feeds, peers, time.Now())
	k.note(of, changed)
}

func (k *Keeper) withdrawn(of string) {
	if !k.some.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.words.Withdraw(of) {
		k.note(of, true)
	}
}

// note has a word written, and feeds decided on anew where it changed. It is called
// with mu held.
func (k *Keeper) note(of string, changed bool) {
	k.unsaved[of] = true
	if changed {
		k.some.Store(k.words.Len() > 0)
		clear(k.found)
		k.changes.Add(1)
	}
	k.awake()
}

func (k *Keeper) awake() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// against is what is said against mirrors of a feed.
func (k *Keeper) against(url string) (optout.Word, bool) {
	if !k.some.Load() {
		return optout.Word{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	w, known := k.found[url]
	if !known {
		if word, ok := k.words.Against(url, vouch.SitesOf(url)); ok {
			w = &word
		}
		if len(k.found) >= maxFound {
			clear(k.found)
		}
		k.found[url] = w
	}
	if w == nil {
		return optout.Word{}, false
	}
	return *w, true
}

// Any reports whether anything is hidden, perhaps.
func (k *Keeper) Any() bool { return k.some.Load() }

// Changes is another number whenever something else is hidden.
func (k *Keeper) Changes() uint64 { return k.changes.Load() }

// Hides reports whether what a publisher signed of a feed is neither shown nor passed
// on: it is a mirror's, of a feed that does not want mirrors.
func (k *Keeper) Hides(ref feedring.FeedRef) bool {
	w, ok := k.against(ref.URL)
	if !ok {
		return false
	}
	if ref.Publisher == k.parts.Self {
		return k.Withheld(ref.URL) && !k.parts.Feeds.Free(ref.URL)
	}
	return !w.Names(ref.Publisher) && !k.vouched(ref)
}

// vouched reports whether the groups' checkers found that a site names a publisher.
func (k *Keeper) vouched(ref feedring.FeedRef) bool {
	v := k.parts.Views.View()
	if v == nil {
		return false
	}
	for _, m := range v.Memberships {
		if m.VouchedBy(ref) != "" {
			return true
		}
	}
	return false
}

// Withheld reports whether this peer does not publish a feed of its own, because its
// publisher does not want that. It stays so for a feed that is removed, until the
// word is taken back: what was published of it is to be erased all the same.
func (k *Keeper) Withheld(url string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.decisions[url].Bound
}

// Refusal is why a feed is withheld; nil: it is not.
func (k *Keeper) Refusal(url string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.decisions[url]; r.Bound {
		return refusal(url, r.By, false)
	}
	return nil
}

func refusal(url, by string, added bool) error {
	if strings.HasPrefix(by, "//") {
		by = ""
	}
	return &web.OptedOutError{URL: url, Site: by, Adding: added}
}

// ErrUnsettled is for entries of a feed that refuses mirrors, while it is not known
// whether this peer is its publisher's own.
var ErrUnsettled = errors.New("the feed does not want to be mirrored, and it is not known yet whether its site names this peer")

// MayPublish takes in what a fetch of a feed found, and returns an error if its entries
// are not to be published. It blocks while the feed's site is asked.
func (k *Keeper) MayPublish(ctx context.Context, url string, noMirrors bool) error {
	k.FeedRead(url, noMirrors)
	w, ok := k.against(url)
	if !ok {
		return nil
	}
	if err := k.decide(ctx, url, &w); err != nil {
		return err
	}
	return k.Refusal(url)
}

// Recheck asks anew at once about a feed that is withheld, since somebody wants to
// know, and returns an error if it still is.
func (k *Keeper) Recheck(ctx context.Context, url string) error {
	if k.Refusal(url) == nil {
		return nil
	}
	k.parts.Sites.Forget(vouch.SitesOf(url)...)
	k.look(ctx, url)
	if w, ok := k.against(url); ok {
		k.reopen(url)
		if err := k.decide(ctx, url, &w); err != nil {
			return err
		}
	}
	k.settle(ctx)
	return k.Refusal(url)
}

// reopen has the next decide ask whether a site names this peer.
func (k *Keeper) reopen(url string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r, ok := k.decisions[url]; ok {
		r.At = time.Time{}
		k.decisions[url] = r
	}
}

// look reads what a feed and its sites say now, as far as a word is about them.
func (k *Keeper) look(ctx context.Context, url string) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	for _, site := range vouch.SitesOf(url) {
		_, _ = k.parts.Sites.Check(ctx, site, k.parts.Self, []string{url}, vouch.Hearsay{}) // SiteAnswered takes what comes
	}
	w, ok := k.against(url)
	if !ok || !w.IsFeed() {
		return
	}
	var answer fetch.Answer
	err := k.parts.Feeds.Visit(ctx, url, func(ctx context.Context) (err error) {
		answer, err = k.parts.Reader.Fetch(ctx, url, &fetch.State{Named: k.parts.Feeds.Address(url)})
		return err
	})
	if err == nil && answer.Document != nil {
		k.FeedRead(url, answer.Document.NoMirrors)
	}
}

// MayMirror returns an error for a feed that is to be published, and does not want to
// be mirrored by this peer. It asks its sites; what cannot be asked refuses nothing.
func (k *Keeper) MayMirror(ctx context.Context, url string) error {
	if w, ok := k.against(url); ok { // the owner wants to know
		k.parts.Sites.Forget(vouch.SitesOf(url)...)
		if w.IsFeed() {
			k.look(ctx, url)
		}
	}
	for _, site := range vouch.SitesOf(url) {
		if v, err := k.parts.Sites.Check(ctx, site, k.parts.Self, []string{url}, vouch.Hearsay{}); err == nil && v.Named {
			return nil
		}
	}
	w, ok := k.against(url)
	if !ok {
		return nil
	}
	return refusal(url, w.Of, true)
}

// MayMirrorRead is MayMirror of a feed that was just read, and has a link
// rel="feedring".
func (k *Keeper) MayMirrorRead(ctx context.Context, url string, noMirrors bool, link string) error {
	k.FeedRead(url, noMirrors)
	w, ok := k.against(url)
	if !ok || k.names(ctx, url, link) == named {
		return nil
	}
	return refusal(url, w.Of, true)
}
