// Package fleetlink finds the other peers of this peer's fleet, keeps everybody else out of
// the fleet's group, and speaks HTTP with them.
//
// Two peers of a fleet show each other a credential before either hears the other in the
// group: see Link.Pass.
package fleetlink

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

const (
	helloWithin = 5 * time.Second
	helloAgain  = 2 * time.Second // after a hello that failed, doubled each time
	helloRarest = 10 * time.Minute
	// maxAsked is how many peers are remembered that showed no credential. Whoever signs a
	// row of the fleet's group becomes one of them. Members that are known come beside them,
	// or strangers could keep them out.
	maxAsked = 256
	maxHeld  = 64 // rows of the ring's map that wait for their manager's credential
)

// Host reaches other peers.
type Host interface {
	ID() feedring.PeerID
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
	Learn(id feedring.PeerID, addrs []string)
}

// Machine takes what was held back.
type Machine interface{ Post(peer.Input) bool }

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// Known tells who was a member of the fleet within 30 days: Members.
type Known interface{ Known(feedring.PeerID) bool }

// Config is what a link needs.
type Config struct {
	Key     *fleetkey.Key
	Known   Known
	Host    Host
	Machine Machine
	Tasks   Tasks
	Log     *slog.Logger
}

// Link knows which peers showed that they belong to the fleet. It is safe for concurrent use.
type Link struct {
	cfg   Config
	ctx   context.Context
	group feedring.GroupID
	own   []byte // this peer's credential
	client
	server
	strangers strangers

	mu    sync.Mutex
	shown map[feedring.PeerID]time.Time // until when their credentials are valid
	asked map[feedring.PeerID]*asking   // the others that were met
	held  []held
}

// asking is when a peer without a credential is asked for one.
type asking struct {
	busy  bool
	next  time.Time
	pause time.Duration
	wrong time.Time // until then what it shows is not looked at, since it showed a wrong one
}

// failed notes that a peer showed none.
func (a *asking) failed(now time.Time) {
	a.busy, a.next = false, now.Add(a.pause)
	a.pause = min(2*a.pause, helloRarest)
}

// held is a row of the map that names the sender of it a leader of the fleet's group.
type held struct {
	from feedring.PeerID
	row  *ring.Row
}

// New returns the link of a peer that belongs to the fleet of cfg.Key. It ends with ctx.
func New(ctx context.Context, cfg Config) (*Link, error) {
	own, err := cfg.Key.Credential(cfg.Host.ID(), time.Now())
	if err != nil {
		return nil, err
	}
	l := &Link{
		cfg: cfg, ctx: ctx, group: cfg.Key.Theme.Group(), own: own,
		shown: make(map[feedring.PeerID]time.Time), asked: make(map[feedring.PeerID]*asking),
	}
	l.client.init(ctx, cfg.Host)
	l.server.init(l, cfg.Log)
	return l, nil
}

// Theme names the fleet's group.
func (l *Link) Theme() feedring.Theme { return l.cfg.Key.Theme }

// Shown reports whether a peer showed that it belongs to the fleet.
func (l *Link) Shown(p feedring.PeerID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shownNow(p)
}

func (l *Link) shownNow(p feedring.PeerID) bool {
	until, ok := l.shown[p]
	return ok && time.Now().Before(until) || p == l.cfg.Host.ID()
}

// Pass implements transport.Closed: it drops what others than the fleet's peers say in the
// fleet's group, and holds rows of the map back by which they claim to lead it. They are
// asked for a credential; who shows one is heard.
func (l *Link) Pass(from feedring.PeerID, m feedring.Message) (feedring.Message, bool) {
	switch m := m.(type) {
	case group.Place: // peers of before ask every group: they are told that this one serves nothing
		return m, true
	case group.Message:
		if m.Of().Group != l.group || l.Shown(from) {
			return m, true
		}
		l.meet(from, nil)
		return nil, false
	case ring.Rows:
		return l.passRows(from, m), true
	}
	return m, true
}

func (l *Link) passRows(from feedring.PeerID, m ring.Rows) ring.Rows {
	foreign := func(r *ring.Row) bool { return r.Group == l.group && !l.Shown(r.Term.Claimant) }
	if !slices.ContainsFunc(m.Rows, foreign) {
		return m
	}
	var rows []*ring.Row
	for _, r := range m.Rows {
		if !foreign(r) {
			rows = append(rows, r)
			continue
		}
		l.hold(from, r)
		l.meet(r.Term.Claimant, r.Manager.Addrs)
	}
	m.Rows = rows
	return m
}

// hold keeps the newest row of each manager.
func (l *Link) hold(from feedring.PeerID, r *ring.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = slices.DeleteFunc(l.held, func(h held) bool { return h.row.Term.Claimant == r.Term.Claimant })
	if len(l.held) >= maxHeld {
		stranger := slices.IndexFunc(l.held, func(h held) bool { return !l.cfg.Known.Known(h.row.Term.Claimant) })
		l.held = slices.Delete(l.held, max(stranger, 0), max(stranger, 0)+1)
	}
	l.held = append(l.held, held{from, r})
}

// meet asks a peer for its credential, unless that was tried lately.
func (l *Link) meet(p feedring.PeerID, addrs []string) {
	now := time.Now()
	l.mu.Lock()
	a := l.asked[p]
	switch {
	case a == nil && len(l.asked) >= maxAsked && !l.forgetOne(now) && !l.cfg.Known.Known(p):
		l.mu.Unlock()
		return
	case a == nil:
		a = &asking{pause: helloAgain}
		l.asked[p] = a
	}
	begun := !a.busy && !now.Before(a.next)
	a.busy = a.busy || begun
	l.mu.Unlock()
	if begun && !l.cfg.Tasks.Run(func() { l.hello(p, addrs) }) {
		l.mu.Lock()
		a.busy = false
		l.mu.Unlock()
	}
}

// forgetOne makes room for one more: that of one who may be asked again anyway.
func (l *Link) forgetOne(now time.Time) bool {
	for p, a := range l.asked {
		if !a.busy && !now.Before(a.next) {
			delete(l.asked, p)
			return true
		}
	}
	return false
}

// hello shows this peer's credential to another peer, and checks its answer.
func (l *Link) hello(p feedring.PeerID, addrs []string) {
	if len(addrs) > 0 {
		l.cfg.Host.Learn(p, addrs)
	}
	err := l.Greet(l.ctx, p)
	if err == nil {
		return
	}
	l.cfg.Log.Debug("a peer in the fleet's group shows no credential", "peer", p.Short(), "err", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.asked[p]; a != nil {
		a.failed(time.Now())
	}
}

// Greet shows this peer's credential to another peer, which must show one as well.
func (l *Link) Greet(ctx context.Context, p feedring.PeerID) error {
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	theirs, err := l.exchange(ctx, p, l.own)
	if err != nil {
		return err
	}
	return l.admit(p, theirs)
}

var errTooSoon = errors.New("it showed a wrong credential a moment ago")

// admit takes in a peer that shows a credential, and what it told before.
func (l *Link) admit(p feedring.PeerID, credential []byte) error {
	until, err := l.cfg.Key.Check(p, credential, time.Now())
	if err != nil {
		return err
	}
	l.mu.Lock()
	fresh := !l.shownNow(p)
	l.shown[p] = until
	delete(l.asked, p)
	var waiting []held
	l.held = slices.DeleteFunc(l.held, func(h held) bool {
		mine := h.row.Term.Claimant == p
		if mine {
			waiting = append(waiting, h)
		}
		return mine
	})
	l.mu.Unlock()
	if fresh {
		l.cfg.Log.Info("a peer of the fleet was met", "peer", p.Short())
	}
	for _, h := range waiting {
		l.cfg.Machine.Post(peer.Receive{From: h.from, Message: ring.Rows{Rows: []*ring.Row{h.row}}})
	}
	return nil
}

// greeted answers a hello. A peer that shows a wrong credential is not checked again at
// once: a signature costs more than the bytes that ask for it.
func (l *Link) greeted(p feedring.PeerID, credential []byte) error {
	l.mu.Lock()
	a := l.asked[p]
	soon := a != nil && time.Now().Before(a.wrong)
	l.mu.Unlock()
	if soon {
		return errTooSoon
	}
	err := l.admit(p, credential)
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a = l.asked[p]; a == nil && (len(l.asked) < maxAsked || l.forgetOne(time.Now())) {
		a = &asking{pause: helloAgain}
		l.asked[p] = a
	}
	if a != nil {
		a.wrong = time.Now().Add(a.pause)
		a.pause = min(2*a.pause, helloRarest)
	}
	return err
}
