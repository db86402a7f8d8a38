package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
)

const (
	joinFirst   = time.Second // doubles up to joinLast, a quarter more or less by chance
	joinLast    = time.Minute
	joinLook    = 15 * time.Second // between looks at a place that was reached
	joinWithin  = 5 * time.Second  // for one attempt at one peer
	joinAtOnce  = 8
	joinKnown   = 64 // saved peers tried at a time
	joinDomains = 32 // peers taken from one domain
)

// Resolver turns a domain into complete multiaddrs.
type Resolver interface {
	Resolve(ctx context.Context, domain string) ([]string, error)
}

// Joiner is told of peers newly reached, by one goroutine at a time. done is true from
// the first call after everything was tried once, and that call comes even where
// nothing was reached.
type Joiner interface {
	Reached(peers []feedring.PeerID, done bool)
}

// Joining is one call of Join, and the places that are joined through since. All
// methods are safe for concurrent use.
type Joining struct {
	h        *Host
	ctx      context.Context // ends with that of Join, or the host
	resolver Resolver

	mu      sync.Mutex // held while joiner is told
	joiner  Joiner
	pending int // places that were not tried yet

	places sync.Mutex
	stops  map[string]context.CancelFunc // of each target
	failed map[string]error              // of each target, why the last try failed; absent: it did not
}

// place is somewhere to join through: an address, a domain, or all the peers
// saved from last time.
type place struct {
	name string
	source
}

// source tells which peers are at a place.
type source interface {
	ask(ctx context.Context) ([]peer.AddrInfo, error)
	content() bool // nothing needs doing
}

// Join connects to peers of the network at targets, complete multiaddrs or
// domains, and at the peers of Config.Known. It returns at once and goes on
// until ctx or the host ends: what fails is tried again after a second, then
// more and more rarely, up to a minute; what was reached is looked after, so
// that two parts of a network find together again. Without a resolver domains fail.
func (h *Host) Join(ctx context.Context, targets []string, resolver Resolver, joiner Joiner) *Joining {
	j := &Joining{h: h, resolver: resolver, joiner: joiner, stops: make(map[string]context.CancelFunc), failed: make(map[string]error)}
	var places []place
	for i, t := range targets {
		if !slices.Contains(targets[:i], t) {
			places = append(places, j.placeOf(t))
		}
	}
	if len(h.cfg.Known) > 0 {
		places = append(places, place{"saved peers", saved{j}})
	}
	j.pending = len(places)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.ctx, cancel)
	j.ctx = ctx
	for _, p := range places {
		if here := j.begin(p.name); here != nil {
			h.background(func() { j.keep(here, p) })
		}
	}
	h.background(func() {
		if len(places) == 0 {
			joiner.Reached(nil, true)
		}
		<-ctx.Done()
		stop()
		cancel()
	})
	return j
}

// keep tries one place again and again.
func (j *Joining) keep(ctx context.Context, p place) {
	reached, all, err := j.try(ctx, p)
	j.report(reached, true)
	var foreign *ForeignError
	switch {
	case errors.As(err, &foreign) && foreign.Speaks != "":
		// It goes on trying, for that peer may be started anew; as a rule it is this one that must be.
		j.h.log.Warn("not joined: this peer is of another network; start it with --network "+foreign.Speaks+", or join through a peer of its own", "at", p.name, "err", err)
	case err != nil:
		j.h.log.Info("not joined yet; trying again", "at", p.name, "err", err)
	}
	j.follow(ctx, p, all)
}

// follow goes on after a try; all is what that said.
func (j *Joining) follow(ctx context.Context, p place, all bool) {
	for wait := joinFirst; ; {
		if all {
			pause(ctx, joinLook)
			wait = joinFirst
		} else {
			pause(ctx, wait)
			wait = min(2*wait, joinLast)
		}
		if ctx.Err() != nil {
			return
		}
		var reached []feedring.PeerID
		var err error
		reached, all, err = j.try(ctx, p)
		j.report(reached, false)
		if err != nil {
			j.h.log.Debug("not joined yet; trying again", "at", p.name, "err", err)
		}
	}
}

// try connects to the peers of a place. all reports that there is nothing to
// hurry for.
func (j *Joining) try(ctx context.Context, p place) (reached []feedring.PeerID, all bool, err error) {
	if p.content() {
		j.came(p.name, nil)
		return nil, true, nil
	}
	here, err := j.connect(ctx, p)
	j.came(p.name, err)
	for _, c := range here {
		if c.fresh {
			reached = append(reached, c.id)
		}
	}
	return reached, err == nil, err
}

// connection is one that stands after a try; fresh: it did not before.
type connection struct {
	id    feedring.PeerID
	fresh bool
}

// connect connects to the peers of a place. The error is nil where one of them is
// connected then, or is this peer itself, or where there are none.
func (j *Joining) connect(ctx context.Context, p place) (here []connection, err error) {
	within, cancel := context.WithTimeout(ctx, 2*joinWithin)
	infos, err := p.ask(within)
	cancel()
	if err != nil {
		return nil, err
	}
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		errs []error
		free = make(chan struct{}, joinAtOnce)
	)
	for _, info := range infos {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			fresh, err := j.h.connect(ctx, info)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			here = append(here, connection{feedring.PeerID(info.ID.String()), fresh})
		})
	}
	wg.Wait()
	if len(here) == 0 && len(errs) > 0 {
		return nil, errs[0]
	}
	return here, nil
}

func (j *Joining) report(reached []feedring.PeerID, first bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if first {
		j.pending--
	}
	if len(reached) > 0 || (first && j.pending == 0) {
		j.joiner.Reached(reached, j.pending == 0)
	}
}

// connect connects to a peer and makes sure that it is of this network. fresh
// reports that it was not connected before. This peer itself is no failure:
// many peers share one list of addresses.
func (h *Host) connect(ctx context.Context, info peer.AddrInfo) (fresh bool, err error) {
	if info.ID == h.lib.ID() {
		return false, nil
	}
	if h.members.Has(info.ID) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	h.clearBackoff(info.ID)
	if err := h.lib.Connect(ctx, info); err != nil {
		return false, h.classify(info.ID, err)
	}
	if h.speaks(info.ID) {
		return true, h.greet(ctx, info.ID)
	}
	s, err := h.Open(ctx, feedring.PeerID(info.ID.String()), presence, false)
	if err != nil {
		return false, err
	}
	return true, s.Close()
}

// speaks reports whether a peer said that it is of this network.
func (h *Host) speaks(id peer.ID) bool {
	if v, err := h.lib.Peerstore().Get(id, "ProtocolVersion"); err == nil && v == h.version() {
		return true
	}
	p, err := h.lib.Peerstore().FirstSupportedProtocol(id, h.protocol(presence))
	return err == nil && p != ""
}

func (j *Joining) placeOf(name string) place { return place{name, &target{j: j, name: name}} }

// target is an address or a domain. One goroutine at a time uses it.
type target struct {
	j    *Joining
	name string
	last []peer.AddrInfo
}

func (t *target) ask(ctx context.Context) (infos []peer.AddrInfo, err error) {
	if strings.HasPrefix(t.name, "/") {
		infos, err = t.j.address(ctx, t.name)
	} else {
		infos, err = t.j.domain(ctx, t.name)
	}
	t.last = infos
	return infos, err
}

func (t *target) content() bool {
	return slices.ContainsFunc(t.last, func(i peer.AddrInfo) bool { return i.ID == t.j.h.lib.ID() || t.j.h.members.Has(i.ID) })
}

func (j *Joining) address(ctx context.Context, target string) ([]peer.AddrInfo, error) {
	info, err := addr.ParsePeer("join", target)
	if err != nil {
		return nil, err
	}
	j.h.giveNamed(ctx, info)
	j.h.give(info)
	return []peer.AddrInfo{info}, nil
}

// domain asks a site for its peers. What a site says is no person's word: its
// addresses are used only within the scope.
func (j *Joining) domain(ctx context.Context, name string) ([]peer.AddrInfo, error) {
	if j.resolver == nil {
		return nil, fmt.Errorf("domains cannot be resolved")
	}
	addrs, err := j.resolver.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	byID := make(map[peer.ID]int)
	var infos []peer.AddrInfo
	for _, a := range addrs {
		info, err := addr.ParsePeer(name, a)
		if err != nil {
			j.h.log.Debug("address left out", "err", err)
			continue
		}
		if i, ok := byID[info.ID]; ok {
			infos[i].Addrs = append(infos[i].Addrs, info.Addrs...)
		} else if len(infos) < joinDomains {
			byID[info.ID] = len(infos)
			infos = append(infos, info)
		}
	}
	if len(infos) == 0 {
		return nil, fmt.Errorf("%s names no peer that can be dialled", name)
	}
	return infos, nil
}

// saved is the peers of last time. They are asked again only while nobody is
// connected.
type saved struct{ j *Joining }

func (s saved) content() bool { return s.j.h.members.Any() && s.j.tried() }

func (s saved) ask(context.Context) (infos []peer.AddrInfo, err error) {
	known := s.j.h.cfg.Known
	for _, i := range rand.Perm(len(known)) {
		id, err := peer.Decode(string(known[i].ID))
		if err == nil && len(infos) < joinKnown {
			infos = append(infos, peer.AddrInfo{ID: id})
		}
	}
	return infos, nil
}

// tried reports whether everything was tried once.
func (j *Joining) tried() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pending == 0
}

// giveNamed widens the scope for an address with a host name, by what the name
// means now: it was given by a person too.
func (h *Host) giveNamed(ctx context.Context, info peer.AddrInfo) {
	for _, a := range info.Addrs {
		name := ""
		for _, code := range []int{ma.P_DNS, ma.P_DNS4, ma.P_DNS6} {
			if v, err := a.ValueForProtocol(code); err == nil {
				name = v
			}
		}
		if name == "" {
			continue
		}
		ips, err := net.DefaultResolver.LookupIPAddr(ctx, name)
		if err != nil {
			continue // dialling says it better
		}
		for _, ip := range ips {
			if m, err := manet.FromIP(ip.IP); err == nil {
				h.scope.Give(m)
				_, rest := ma.SplitFirst(a)
				h.dials.Prove(info.ID, m.Encapsulate(rest))
			}
		}
	}
}

// pause waits for d, a quarter more or less, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d*3/4 + rand.N(d/2))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
