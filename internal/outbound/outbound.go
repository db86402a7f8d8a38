// Package outbound bounds the requests and dials that this peer makes because of what
// others say: a row may name a thousand feeds at somebody else's hosts, and every member
// of the group would ask them. What the owner of this peer chose draws on nothing here.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/feedring/feedring/internal/hostkind"
	"github.com/feedring/feedring/internal/throttle"
)

// The accounts of T9 (docs/trust.md). Burst is what an account holds at first.
const (
	each       = time.Minute // for one request to a domain, or one connection to an address
	eachBurst  = 5
	cause      = 6 * time.Second // for one request because of one peer: 100 in ten minutes
	causeBurst = 100
	all        = time.Second / 8 // for one of any kind
	allBurst   = 64
	local      = time.Millisecond // for one at a private address, where those are asked at all
	localBurst = 1000
)

const theOnlyName = "" // of an account that all share

// ErrSpent is returned for a request that must wait for the accounts.
var ErrSpent = errors.New("enough was asked on others' words for now")

// Budget is what a peer spends on others' words. All methods may be called at the same
// time.
type Budget struct {
	domains, addrs, causes, all, local *throttle.Buckets
}

// New returns a budget of which nothing is spent.
func New() *Budget {
	return &Budget{
		domains: throttle.New(each, eachBurst), addrs: throttle.New(each, eachBurst), causes: throttle.New(cause, causeBurst),
		all: throttle.New(all, allBurst), local: throttle.New(local, localBurst),
	}
}

// draw is one token of an account.
type draw struct {
	of  *throttle.Buckets
	key string
}

// spend takes all draws or none, and returns how long until there are as many.
func spend(now time.Time, draws ...draw) (wait time.Duration) {
	if wait = longest(now, draws); wait > 0 {
		return wait
	}
	for _, d := range draws {
		d.of.Take(now, d.key, 1)
	}
	return 0
}

// longest is how long until all accounts have a token.
func longest(now time.Time, draws []draw) (wait time.Duration) {
	for _, d := range draws {
		wait = max(wait, d.of.Wait(now, d.key, 1))
	}
	return wait
}

// request draws on the accounts of a host's registrable domain, of who caused it, and
// of all.
func (b *Budget) request(now time.Time, host, by string) time.Duration {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]."))
	if hostkind.Of(host) == hostkind.PrivateAddress { // a private name is looked up first
		return spend(now, draw{b.local, theOnlyName})
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		domain = host // an address, or a name of one label
	}
	return spend(now, draw{b.domains, domain}, draw{b.causes, by}, draw{b.all, theOnlyName})
}

// connection draws on the account of an address: names without number may lead to one.
func (b *Budget) connection(now time.Time, addr netip.Addr) time.Duration {
	if addr = addr.Unmap(); hostkind.IsPrivate(addr) {
		return 0 // the request to it was counted
	}
	return spend(now, draw{b.addrs, addr.String()})
}

// dial is what a connection to a peer draws on, at an address that is near or not.
func (b *Budget) dial(at netip.Addr, by string, near bool) []draw {
	if near {
		return []draw{{b.local, theOnlyName}}
	}
	return []draw{{b.addrs, at.Unmap().String()}, {b.causes, by}, {b.all, theOnlyName}}
}

// Dial draws for a connection to an address at which a peer is said to be, because of by,
// and returns how long until it may be made; 0: it may. One that is near draws on an
// account of its own.
func (b *Budget) Dial(now time.Time, at netip.Addr, by string, near bool) time.Duration {
	return spend(now, b.dial(at, by, near)...)
}

// DialWait is how long Dial would have one wait. It draws nothing.
func (b *Budget) DialWait(now time.Time, at netip.Addr, by string, near bool) time.Duration {
	return longest(now, b.dial(at, by, near))
}

// GiveBack undoes a Dial: what was said was true.
func (b *Budget) GiveBack(now time.Time, at netip.Addr, by string, near bool) {
	for _, d := range b.dial(at, by, near) {
		d.of.Give(now, d.key, 1)
	}
}

type key struct{}

// word is who caused what a context is of, and who pays.
type word struct {
	budget *Budget
	by     string
}

// For returns a context for what is done because of by, a peer's id or the like.
func (b *Budget) For(ctx context.Context, by string) context.Context {
	return context.WithValue(ctx, key{}, word{b, by})
}

// Counted reports whether a context is of what somebody else caused.
func Counted(ctx context.Context) bool {
	_, ok := ctx.Value(key{}).(word)
	return ok
}

// Request draws for a request to a host, with or without a port; ErrSpent. A context
// that is nobody's draws nothing.
func Request(ctx context.Context, host string) error {
	w, ok := ctx.Value(key{}).(word)
	if !ok {
		return nil
	}
	return refusal(host, w.budget.request(time.Now(), host, w.by))
}

// Lookup draws for a question to name servers, whose answer is cached by others.
func Lookup(ctx context.Context, name string) error {
	w, ok := ctx.Value(key{}).(word)
	if !ok {
		return nil
	}
	return refusal(name, spend(time.Now(), draw{w.budget.causes, w.by}, draw{w.budget.all, theOnlyName}))
}

// Connection draws for a connection to an address.
func Connection(ctx context.Context, addr netip.Addr) error {
	w, ok := ctx.Value(key{}).(word)
	if !ok {
		return nil
	}
	return refusal(addr.String(), w.budget.connection(time.Now(), addr))
}

func refusal(what string, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return fmt.Errorf("%s: %w, wait %s", what, ErrSpent, wait.Round(time.Second))
}
