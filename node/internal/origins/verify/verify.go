// Package verify verifies the peers that fetch this peer's feeds instead of it: now and then it
// reads such a feed itself, and tells the machine if the group does not get what is there. It
// publishes nothing, and keeps nothing on disk.
package verify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/times"
	"github.com/feedring/feedring/node/internal/tasks"
)

// Feeds are this peer's feeds.
type Feeds interface {
	// RestsFor reports whether a feed may be read, and another peer fetches it.
	RestsFor(url string, by feedring.PeerID) bool
	// State and Known are what this peer's own last fetch left.
	State(url string) (fetch.State, error)
	Known(url string) ([]byte, error)
	// Plan writes down when a feed would be fetched again if this peer fetched it.
	Plan(s *fetch.State, o fetch.Outcome, now time.Time)
	// Unplan forgets what Plan needs of a feed.
	Unplan(url string)
	// Opens is the first moment from a time on at which a part of a host's time is.
	Opens(url string, p group.Part, from time.Time) time.Time
	// Visit asks an address when its host may be asked.
	Visit(ctx context.Context, address string, ask func(context.Context) error) error
	// Holds reports whether an entry of a feed is held, by whomever it was published.
	Holds(url string, id feedring.EntryID) bool
	// WasRead takes in whether a feed that was read refuses mirrors.
	WasRead(url string, noMirrors bool)
}

// Loop is the machine.
type Loop interface {
	Tell(feedring.GroupID, group.Input)
}

// Config is what a Verifier works with.
type Config struct {
	Fetcher   *fetch.Fetcher
	Feeds     Feeds
	Loop      Loop
	Tasks     *tasks.Group
	Log       *slog.Logger
	Refresh   time.Duration
	Freshness time.Duration // others' entries are held for so long
}

// atOnce is how many feeds are read at the same time.
const atOnce = 4

// Verifier verifies stand-ins. Its methods do not block. A nil one verifies nobody.
type Verifier struct {
	cfg    Config
	ctx    context.Context
	places chan struct{} // one token for each feed that is read

	mu    sync.Mutex
	feeds map[string]*feed
}

// feed is one that another peer fetches.
type feed struct {
	observation // belongs to the one step that runs

	standIn             // of the Verifier's lock, as all that follows
	timer   *time.Timer // until the next step
	busy    bool        // a step runs
	again   bool        // another one is to follow it at once
}

// standIn is what the machine says.
type standIn struct {
	group.VerifyStandIn           // without Last
	told                time.Time // when it last fetched, as the group was told
	until               time.Time // the origin asked others to be left alone until then
}

// New returns a Verifier whose work ends with ctx.
func New(ctx context.Context, cfg Config) *Verifier {
	return &Verifier{cfg: cfg, ctx: ctx, places: make(chan struct{}, atOnce), feeds: make(map[string]*feed)}
}

// Assign does group.VerifyStandIn.
func (v *Verifier) Assign(a group.VerifyStandIn) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.feeds[a.URL]
	if f != nil && (a.Checks == 0 || f.By != a.By) {
		v.drop(a.URL)
		f = nil
	}
	if a.Checks == 0 {
		return
	}
	now := time.Now()
	if f == nil {
		f = &feed{observation: observation{began: now}, standIn: standIn{told: now}}
		v.feeds[a.URL] = f
	}
	if l := a.Last; l != nil {
		f.told, f.until = times.Later(f.told, now.Add(-l.Ago)), now.Add(l.Wait)
	}
	f.VerifyStandIn = a
	f.Last = nil
	v.stepAt(f, now)
}

// Forget ends the verification of a feed that is not this peer's any more.
func (v *Verifier) Forget(url string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.feeds[url] != nil {
		v.drop(url)
		v.cfg.Feeds.Unplan(url)
	}
}

func (v *Verifier) drop(url string) {
	if f := v.feeds[url]; f != nil && f.timer != nil {
		f.timer.Stop()
	}
	delete(v.feeds, url)
}

// stepAt has the next step of a feed come at a time.
func (v *Verifier) stepAt(f *feed, at time.Time) {
	switch in := time.Until(at); {
	case f.busy:
		f.again = true
	case f.timer == nil:
		f.timer = time.AfterFunc(in, func() { v.cfg.Tasks.Run(func() { v.step(f) }) })
	default:
		f.timer.Reset(in)
	}
}

// step does what is due for a feed.
func (v *Verifier) step(f *feed) {
	s, ok := v.begin(f)
	if !ok {
		return
	}
	next, more := v.act(&f.observation, &s)
	v.mu.Lock()
	defer v.mu.Unlock()
	f.busy = false
	switch {
	case v.feeds[f.URL] != f || v.ctx.Err() != nil:
	case !more:
		v.drop(f.URL)
	case f.again:
		f.again = false
		v.stepAt(f, time.Now())
	default:
		v.stepAt(f, next)
	}
}

// begin begins a step, and returns what the machine says; false: there is nothing to do.
func (v *Verifier) begin(f *feed) (standIn, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f.busy || v.feeds[f.URL] != f || v.ctx.Err() != nil {
		return standIn{}, false
	}
	f.busy = true
	return f.standIn, true
}
