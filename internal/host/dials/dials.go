// Package dials bounds the connections that a host makes because of what others say.
// Addresses in rows, on the map and in the address book are their words: somebody may
// put another's address there and have every peer dial it again and again.
package dials

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/outbound"
)

const (
	maxKeys    = 1 << 14 // whose proven addresses are remembered
	addrsOfKey = 8
	wordsOfKey = 4 // places at which a key says to be, and was not proven to be
	// patience is how long a dial waits for others: those that reach whom they look for
	// give back what they drew.
	patience   = time.Second
	maxWaiting = 64 // of the 160 dials over TCP that libp2p makes at once
)

// Site tells where the host stands.
type Site interface {
	// Near reports whether an address lies in the host's own home: dials there draw on
	// one account of their own.
	Near(netip.Addr) bool
}

// Dials knows at which addresses keys were proven to be, and counts the dials to others.
// A key is proven to be at an address where it answered, from which it connected, or which
// a person gave. All methods may be called at the same time.
type Dials struct {
	site Site

	mu      sync.Mutex
	budget  *outbound.Budget
	proven  *simplelru.LRU[peer.ID, []netip.Addr] // newest first
	pending map[netip.Addr]int                    // dials that may give back what they drew
	landed  chan struct{}                         // closed when one ended
	waiting int
}

// New returns Dials of a host at a site, which is asked only while somebody dials.
func New(site Site) *Dials {
	proven, err := simplelru.NewLRU[peer.ID, []netip.Addr](maxKeys, nil)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &Dials{site: site, budget: outbound.New(), proven: proven, pending: make(map[netip.Addr]int), landed: make(chan struct{})}
}

// reached returns whom a dial to an address of id reaches first, and where: of a relayed
// address, the relay. There is no IP address in one with a name: libp2p resolves it and
// dials what it finds.
func reached(id peer.ID, a ma.Multiaddr) (peer.ID, netip.Addr, bool) {
	if addr.IsRelayed(a) {
		relay, err := a.ValueForProtocol(ma.P_P2P)
		if err != nil {
			return "", netip.Addr{}, false
		}
		if id, err = peer.Decode(relay); err != nil {
			return "", netip.Addr{}, false
		}
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return "", netip.Addr{}, false
	}
	at, ok := netip.AddrFromSlice(ip)
	return id, at.Unmap(), ok
}

// Prove notes that a key is at an address: of a relayed one, the relay.
func (d *Dials) Prove(id peer.ID, a ma.Multiaddr) {
	if key, at, ok := reached(id, a); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.prove(key, at)
	}
}

// ProveAt notes IP addresses of a key, the newest first.
func (d *Dials) ProveAt(id peer.ID, addrs []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range slices.Backward(addrs[:min(len(addrs), addrsOfKey)]) {
		d.prove(id, at.Unmap())
	}
}

// Proven returns the IP addresses at which a key was proven to be, the newest first.
func (d *Dials) Proven(id peer.ID) []netip.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	addrs, _ := d.proven.Peek(id)
	return slices.Clone(addrs)
}

func (d *Dials) prove(id peer.ID, at netip.Addr) {
	addrs, _ := d.proven.Get(id)
	if len(addrs) > 0 && addrs[0] == at {
		return
	}
	others := slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool { return a == at })
	d.proven.Add(id, slices.Insert(others[:min(len(others), addrsOfKey-1)], 0, at))
}

func (d *Dials) isProven(id peer.ID, at netip.Addr) bool {
	addrs, _ := d.proven.Get(id)
	return slices.Contains(addrs, at)
}

// May reports whether a dial to an address of id is worth trying now. It draws on
// nothing. libp2p does not back off from an address that is refused here, as it does
// where a dial fails.
func (d *Dials) May(id peer.ID, a ma.Multiaddr) bool {
	key, at, ok := reached(id, a)
	if !ok {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isProven(key, at) {
		return true
	}
	return d.pending[at] > 0 || d.budget.DialWait(time.Now(), at, string(key), d.site.Near(at)) <= patience
}

// Believe returns of the addresses at which id says to be those that are worth noting:
// where it was proven to be, what is near, and four others.
func (d *Dials) Believe(id peer.ID, addrs []ma.Multiaddr) (good []ma.Multiaddr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	words := make(map[string]bool)
	for _, a := range addrs {
		key, at, ok := reached(id, a)
		if ok && (d.isProven(key, at) || d.site.Near(at)) {
			good = append(good, a)
			continue
		}
		place := at.String() // an address that both transports listen on is one place
		if !ok {
			place = a.String() // a name
		}
		if words[place] || len(words) < wordsOfKey {
			words[place] = true
			good = append(good, a)
		}
	}
	return good
}

// Dial is one that may go out. Its end must be told.
type Dial struct {
	of   *Dials
	key  peer.ID
	at   netip.Addr
	near bool
	drew bool
}

// Begin draws for a dial to an address of id, where id was not proven to be there. It
// waits a moment for dials that are under way; outbound.ErrSpent.
func (d *Dials) Begin(ctx context.Context, id peer.ID, a ma.Multiaddr) (*Dial, error) {
	key, at, ok := reached(id, a)
	if !ok {
		return &Dial{of: d}, nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for waited := false; ; waited = true {
		dial, landed, wait := d.draw(key, at, waited)
		if dial != nil {
			return dial, nil
		}
		refused := fmt.Errorf("%s: %w, wait %s", at, outbound.ErrSpent, wait.Round(time.Second))
		if landed == nil {
			return nil, refused
		}
		again := time.NewTimer(wait)
		select {
		case <-landed:
		case <-again.C:
		case <-late.C:
			d.giveUp()
			return nil, refused
		case <-ctx.Done():
			d.giveUp()
			return nil, ctx.Err()
		}
		again.Stop()
	}
}

// draw returns a dial, or what to wait for and for how long; a nil channel: waiting is of
// no use. Who waited gives its place back.
func (d *Dials) draw(key peer.ID, at netip.Addr, waited bool) (*Dial, <-chan struct{}, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if waited {
		d.waiting--
	}
	dial := &Dial{of: d, key: key, at: at}
	if d.isProven(key, at) {
		return dial, nil, 0
	}
	dial.near = d.site.Near(at)
	wait := d.budget.Dial(time.Now(), at, string(key), dial.near)
	if wait == 0 {
		d.pending[at]++
		dial.drew = true
		return dial, nil, 0
	}
	if d.waiting >= maxWaiting || wait > patience && d.pending[at] == 0 {
		return nil, nil, wait
	}
	d.waiting++
	return nil, d.landed, wait
}

func (d *Dials) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
}

// End notes whether the key that was looked for answered. Then the address was no mere
// word, and what was drawn for it is given back, also by a dial over another transport that
// was slower.
func (l *Dial) End(answered bool) {
	d := l.of
	d.mu.Lock()
	defer d.mu.Unlock()
	if answered && l.at.IsValid() {
		d.prove(l.key, l.at)
	}
	if !l.drew {
		return
	}
	if answered || d.isProven(l.key, l.at) {
		d.budget.GiveBack(time.Now(), l.at, string(l.key), l.near)
	}
	if d.pending[l.at]--; d.pending[l.at] == 0 {
		delete(d.pending, l.at)
	}
	close(d.landed)
	d.landed = make(chan struct{})
}
