package pings

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/throttle"
)

// The time between the fetches of a feed that pings bring about: it doubles with
// each that finds nothing new.
const (
	shortestGap = 5 * time.Second
	longestGap  = 5 * time.Minute
)

const mostMatches = 16 // feeds that one address may stand for

// Feeds are those that can be pinged. All methods may be called at the same time.
type Feeds interface {
	// Pingable is the addresses at which feeds can be pinged, each with the feed
	// that it is of. No private feed is among them: an answer would tell of it.
	Pingable() iter.Seq2[string, string]
	// FetchForPing fetches a feed now, and reports whether there was anything new.
	FetchForPing(ctx context.Context, feed string) (news bool)
}

// Receiver takes pings. All methods may be called at the same time.
type Receiver struct {
	source Feeds
	ctx    context.Context
	askers *throttle.Buckets

	mu    sync.Mutex
	feeds map[string]*pinged
}

// pinged is a feed that was pinged in this process's life.
type pinged struct {
	last    time.Time // when the last fetch began
	gap     time.Duration
	planned bool // a fetch begins at last+gap, or is under way
	again   bool // pinged during that fetch
}

// New returns a receiver whose fetches end with ctx.
func New(ctx context.Context, feeds Feeds) *Receiver {
	return &Receiver{source: feeds, ctx: ctx, askers: throttle.New(time.Second, 30), feeds: make(map[string]*pinged)}
}

// Ping has this peer's feeds at addresses fetched, and returns how many there
// are. With sites an address may also be that of the site whose feeds changed.
// It does not block.
func (r *Receiver) Ping(sites bool, addresses ...string) int {
	named := make(map[string]bool)
	for _, address := range addresses {
		if k := keyOf(address); k != "" {
			named[k] = true
		}
	}
	found := make(map[string]bool)
	for address, feed := range r.source.Pingable() {
		if len(found) < mostMatches && matches(keyOf(address), named, sites) {
			found[feed] = true
		}
	}
	for feed := range found {
		r.ping(feed)
	}
	return len(found)
}

// keyOf is what addresses that publishers take for the same have in common:
// neither scheme nor "www." nor a slash at the end matters to them.
func keyOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || len(address) > 2048 {
		return ""
	}
	k := strings.TrimPrefix(strings.ToLower(u.Host), "www.") + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		k += "?" + u.RawQuery
	}
	return k
}

// matches reports whether a feed is at one of the keys, or with sites below one.
func matches(feed string, named map[string]bool, sites bool) bool {
	if named[feed] {
		return true
	}
	for k := range named {
		if sites && strings.HasPrefix(feed, k) && strings.ContainsRune("/?", rune(feed[len(k)])) {
			return true
		}
	}
	return false
}

// ping plans a fetch of a feed, where none is planned that tells as much.
func (r *Receiver) ping(feed string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.feeds[feed]
	if p == nil {
		p = &pinged{}
		r.feeds[feed] = p
	}
	if p.planned {
		p.again = true
		return
	}
	r.plan(feed, p)
}

func (r *Receiver) plan(feed string, p *pinged) {
	p.planned = true
	time.AfterFunc(max(0, time.Until(p.last.Add(p.gap))), func() { r.fetch(feed, p) })
}

func (r *Receiver) fetch(feed string, p *pinged) {
	r.mu.Lock()
	p.last, p.again = time.Now(), false
	r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	news := r.source.FetchForPing(r.ctx, feed)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.gap = min(max(2*p.gap, shortestGap), longestGap); news {
		p.gap = shortestGap
	}
	if p.planned = false; p.again && r.ctx.Err() == nil {
		r.plan(feed, p)
	}
}

// slow returns how long whoever sent a request has to wait; 0: not at all.
func (r *Receiver) slow(req *http.Request) time.Duration {
	return r.askers.Take(time.Now(), asker.Of(req.Context(), req.RemoteAddr), 1)
}
