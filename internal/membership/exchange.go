package membership

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Host is what a keeper needs of the network.
type Host interface {
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
	// Welcome notes that a connected peer and this one admit each other; Welcomed lists
	// those peers.
	Welcome(feedring.PeerID)
	Welcomed() []feedring.PeerID
	// Part ends the connections with a peer.
	Part(feedring.PeerID)
	// KnownPeers lists peers of the network, connected ones first.
	KnownPeers() []feedring.PeerInfo
}

// Listener hands out streams that other peers open.
type Listener interface {
	Handle(verb feedring.Verb, serve func(network.Stream))
}

// Listen has a client hear of the roll. A peer bounds what it serves by itself.
func (k *Keeper) Listen(at Listener) {
	for verb, serve := range map[feedring.Verb]func(feedring.PeerID, *wire.Stream) error{wire.VerbHello: k.ServeHello, wire.VerbRoll: k.ServeRoll} {
		at.Handle(verb, func(s network.Stream) {
			if err := serve(feedring.PeerID(s.Conn().RemotePeer().String()), wire.NewStream(s)); err != nil {
				_ = s.Reset()
				return
			}
			_ = s.Close()
		})
	}
}

const (
	rollStep     = 3 * time.Second // one message of an exchange
	rollWithin   = 10 * time.Second
	tellWithin   = 2 * time.Second // to tell an expelled peer why
	keptAddrs    = 16
	addrsOfAPeer = 2
)

// Begin gives the keeper its host, before anything is served. Without sites no
// invitation for a site is redeemed.
func (k *Keeper) Begin(h Host, sites Sites, log *slog.Logger) { k.host, k.sites, k.log = h, sites, log }

// Run tells others of changes of the roll, asks one of them each period, and parts from
// whoever is no member any more, until ctx ends. No peer makes another one wait. Without
// a charter nothing is done.
func (k *Keeper) Run(ctx context.Context, period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	at, out := newTasks(), newTasks() // whoever is parted from cannot put that off by a slow exchange
	defer at.running.Wait()
	defer out.running.Wait()
	var asks sync.WaitGroup
	defer asks.Wait()
	for {
		select {
		case <-ctx.Done():
			k.keepAddresses() // a command may end before the first period does
			return
		case <-k.changed:
			k.partFromOthers(ctx, out)
			for _, p := range k.host.Welcomed() {
				at.run(p, func() { k.exchangeWith(ctx, p) })
			}
		case <-k.vouched.wake:
			k.askSites(ctx, &asks)
		case <-tick.C:
			k.partFromOthers(ctx, out)
			if peers := k.host.Welcomed(); len(peers) > 0 {
				p := peers[rand.IntN(len(peers))]
				at.run(p, func() { k.exchangeWith(ctx, p) })
			}
			k.keepAddresses()
			k.askSites(ctx, &asks)
			k.keepNamed()
		}
	}
}

// tasks runs one thing at a time for each peer, and again what was asked for meanwhile.
type tasks struct {
	mu      sync.Mutex
	busy    map[feedring.PeerID]bool // true: again
	running sync.WaitGroup
}

func newTasks() *tasks { return &tasks{busy: make(map[feedring.PeerID]bool)} }

func (t *tasks) run(p feedring.PeerID, do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, busy := t.busy[p]; busy {
		t.busy[p] = true
		return
	}
	t.busy[p] = false
	t.running.Go(func() {
		for again := true; again; again = t.again(p) {
			do()
		}
	})
}

func (t *tasks) again(p feedring.PeerID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy[p] {
		t.busy[p] = false
		return true
	}
	delete(t.busy, p)
	return false
}

func (k *Keeper) exchangeWith(ctx context.Context, p feedring.PeerID) {
	if !k.Admits(p) {
		return
	}
	k.renew(p)
	if err := k.exchange(ctx, p); err != nil && ctx.Err() == nil {
		k.log.Debug("the roll was not exchanged", "with", p.Short(), "err", err)
	}
}

func (k *Keeper) exchangeSoon(with feedring.PeerID) {
	if err := k.exchange(context.Background(), with); err != nil {
		k.log.Debug("the roll was not exchanged", "with", with.Short(), "err", err)
	}
}

// exchange makes the rolls of two peers equal.
func (k *Keeper) exchange(ctx context.Context, with feedring.PeerID) error {
	ctx, cancel := context.WithTimeout(ctx, rollWithin)
	defer cancel()
	s, err := k.host.Open(ctx, with, wire.VerbRoll, false)
	if err != nil {
		return err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	frames, own := wire.NewStream(s), k.Roll()
	if err := send(frames, charters.Roll{Hash: own.Hash(), Whole: own.Whole(), Asked: k.unplaced(), Named: k.namedOf(nil)}); err != nil {
		return err
	}
	told, err := k.receive(frames)
	if err != nil {
		return err
	}
	k.tellSites(with, told.Named)
	if same(own, told.Hash, told.Whole) {
		return nil
	}
	lacks, wanted := own.Compare(told.Have, told.Whole != charter.ID{})
	if err := send(frames, charters.Roll{Hash: own.Hash(), Whole: own.Whole(), Statements: lacks, Want: wanted}); err != nil {
		return err
	}
	if len(wanted) == 0 {
		return nil
	}
	_, err = k.receive(frames)
	return err
}

// ServeRoll is the other side of an exchange.
func (k *Keeper) ServeRoll(from feedring.PeerID, frames *wire.Stream) error {
	if k.charter.Load() == nil {
		return errNoCharter
	}
	told, err := k.receive(frames)
	if err != nil {
		return err
	}
	k.tellSites(from, slices.DeleteFunc(told.Named, func(n charters.NamedPeer) bool { return n.Peer != from }))
	own := k.Roll()
	equal := same(own, told.Hash, told.Whole)
	answer := charters.Roll{Hash: own.Hash(), Whole: own.Whole(), Named: k.namedOf(told.Asked)}
	if !equal {
		answer.Have = own.Have(told.Whole != charter.ID{})
	}
	if err := send(frames, answer); err != nil || equal {
		return err
	}
	if told, err = k.receive(frames); err != nil {
		return err
	}
	if len(told.Want) == 0 {
		return nil
	}
	return send(frames, charters.Roll{Hash: k.Roll().Hash(), Whole: k.Roll().Whole(), Statements: k.Roll().Find(told.Want)})
}

// same reports whether another peer has the same roll, by the hashes that it told. One
// of a version without removals tells no whole, and is told of none.
func same(own *charter.Roll, hash, whole charter.ID) bool {
	if whole == (charter.ID{}) {
		return hash == own.Hash()
	}
	return whole == own.Whole()
}

func send(frames *wire.Stream, r charters.Roll) error {
	p, err := charters.RollTo(r)
	if err != nil {
		return err
	}
	return frames.Send(p, rollStep)
}

var errNoCharter = errors.New("this peer has no charter of its network")

// receive takes one message of an exchange, with what it tells.
func (k *Keeper) receive(frames *wire.Stream) (charters.Roll, error) {
	var p feedringv1.Roll
	if err := frames.Receive(&p, rollStep); err != nil {
		return charters.Roll{}, err
	}
	told, err := charters.RollFrom(&p)
	if err == nil {
		err = k.takeFrom(p.GetStatements(), charters.MaxStatements)
	}
	return told, err
}

// partFromOthers parts from peers that are no members any more; from all, if this one
// is none.
func (k *Keeper) partFromOthers(ctx context.Context, out *tasks) {
	if k.charter.Load() == nil {
		return
	}
	self := k.member(k.self())
	if was := k.joined.Swap(self); was && !self {
		k.log.Warn("this peer has no credential of its network any more: it serves nobody and is served nothing", "network", k.network)
	}
	for _, p := range k.host.Welcomed() {
		if k.Admits(p) {
			continue
		}
		if self && k.Roll().Expelled(p, time.Now()) {
			out.run(p, func() {
				k.tell(ctx, p)
				k.host.Part(p)
			})
			continue
		}
		k.host.Part(p)
	}
}

// tell shows an expelled peer its expulsion, so that it ends the streams of its clients.
func (k *Keeper) tell(ctx context.Context, p feedring.PeerID) {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	s, err := k.host.Open(ctx, p, wire.VerbHello, false)
	if err != nil {
		return
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	says := k.proof()
	says.Statements = append(says.Statements, k.Roll().Proof(p, time.Now())...)
	_ = k.greet(ctx, p, s, says, nil) // it has no chain to answer with
}

// keepAddresses notes peers for the next start, and for commands.
func (k *Keeper) keepAddresses() {
	if k.data == "" || k.charter.Load() == nil {
		return
	}
	var addrs []string
	for _, p := range k.host.KnownPeers() {
		addrs = append(addrs, p.Addrs[:min(len(p.Addrs), addrsOfAPeer)]...)
	}
	k.saveAddresses(addrs)
}

// Note keeps addresses of peers of which others told, after those that are kept already.
func (k *Keeper) Note(peers []feedring.PeerInfo) {
	if k.data == "" || k.charter.Load() == nil {
		return
	}
	addrs := k.Addresses()
	for _, p := range peers {
		for _, a := range p.Addrs[:min(len(p.Addrs), addrsOfAPeer)] {
			if !strings.Contains(a, "/p2p/") {
				a += "/p2p/" + string(p.ID)
			}
			if !slices.Contains(addrs, a) {
				addrs = append(addrs, a)
			}
		}
	}
	k.saveAddresses(addrs)
}

// saveAddresses keeps addresses, and as many of those that were kept as there is room for.
func (k *Keeper) saveAddresses(addrs []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.addrs {
		if !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	addrs = addrs[:min(len(addrs), keptAddrs)]
	same := len(addrs) == len(k.addrs) && !slices.ContainsFunc(addrs, func(a string) bool { return !slices.Contains(k.addrs, a) })
	if same {
		return
	}
	if err := writeJSON(k.data, addrsFile, addrs); err != nil {
		k.log.Warn("addresses of the network's peers are not kept", "err", err)
		return
	}
	k.addrs = addrs
}
