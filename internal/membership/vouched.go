package membership

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/named"
	"github.com/feedring/feedring/internal/wire/charters"
)

// namedFile has the peers that sites name, as this peer found.
const namedFile = "named"

// Asker asks sites, on a network of the mode vouched.
type Asker interface {
	// Sites lists those that may name this peer.
	Sites() []string
	// Ask asks a site whether it names a peer. It blocks, until ctx ends.
	Ask(ctx context.Context, q named.Question) named.Answer
	// NamedChanged says that a peer is named now, or no longer. It must not block.
	NamedChanged(feedring.PeerID)
	// PublishesChanged says that this peer may publish other feeds than before: moderators
	// removed or restored something, or its credential became another. It must not block.
	PublishesChanged()
}

// vouched is what a peer knows of who is named, on a network of the mode vouched.
type vouched struct {
	asker   Asker
	wake    chan struct{} // holds one: a site is to be asked
	changes atomic.Uint64

	mu       sync.Mutex
	registry *named.Registry // nil: this is no peer, or no network of that mode
	kept     []named.Named   // what the registry begins with
	retry    time.Duration
	asking   int
	unkept   bool
	was      bool // this peer was named a moment ago
}

const (
	askAtOnce  = 16
	gatherFor  = 50 * time.Millisecond // what comes meanwhile is asked at once
	askedEach  = 100 * time.Second     // a site that was asked a moment ago is asked a minute later
	longRetry  = time.Minute
	periodsOff = 6 // of the network's refresh, between two questions, if that is less
)

// Vouch has the keeper find out by asker whom sites name, before anything is served.
func (k *Keeper) Vouch(asker Asker, refresh time.Duration) {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asker, v.retry = asker, min(longRetry, periodsOff*refresh)
	k.beginNamed()
}

// beginNamed makes the registry once all that it needs is there. It is called with
// vouched.mu held.
func (k *Keeper) beginNamed() {
	v := &k.vouched
	if v.asker == nil || v.registry != nil || !k.isVouched() {
		return
	}
	v.registry = named.New(named.Config{Self: k.self(), Retry: v.retry}, v.kept)
	v.was = v.registry.Site(k.self(), time.Now()) != ""
}

// readNamed reads what was found before.
func (k *Keeper) readNamed(c *charter.Charter) error {
	if c.Mode != charter.Vouched {
		return nil
	}
	k.vouched.mu.Lock()
	defer k.vouched.mu.Unlock()
	return readJSON(k.data, namedFile, &k.vouched.kept)
}

// keepNamed writes down what was found, if it changed.
func (k *Keeper) keepNamed() {
	v := &k.vouched
	v.mu.Lock()
	if v.registry == nil || !v.unkept || k.data == "" {
		v.mu.Unlock()
		return
	}
	all := v.registry.All(time.Now())
	v.unkept = false
	v.mu.Unlock()
	if err := writeJSON(k.data, namedFile, all); err != nil {
		k.log.Warn("whom sites name is not kept", "err", err)
	}
}

// Named lists the peers that sites name, as this peer found; of a directory where no
// peer runs, as it found last.
func (k *Keeper) Named() []named.Named {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry != nil {
		return v.registry.All(time.Now())
	}
	return v.kept
}

// Hides reports whether a peer's entries are not shown: no site names it, on a network
// where one must. This peer's own are shown to its owner.
func (k *Keeper) Hides(p feedring.PeerID) bool {
	return k.isVouched() && p != k.self() && !k.namedNow(p, time.Now())
}

// HidesAny reports whether Hides may be true of any peer.
func (k *Keeper) HidesAny() bool { return k.isVouched() }

// HideChanges is another number whenever Hides became another one.
func (k *Keeper) HideChanges() uint64 { return k.vouched.changes.Load() }

// namedNow reports whether a site names a peer that is not expelled. If none does, it
// is found out.
func (k *Keeper) namedNow(p feedring.PeerID, now time.Time) bool {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry == nil {
		return false
	}
	if v.registry.Names(p, now) {
		return !k.Roll().Expelled(p, now)
	}
	if v.registry.Due(p, now) {
		k.wakeAsker()
	}
	return false
}

func (k *Keeper) wakeAsker() {
	select {
	case k.vouched.wake <- struct{}{}:
	default:
	}
}

// siteOf is the site that names a peer; empty: none does, or no site is needed.
func (k *Keeper) siteOf(p feedring.PeerID, now time.Time) string {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry == nil {
		return ""
	}
	return v.registry.Site(p, now)
}

// AskAgain has the sites asked that may name this peer: its owner says that they changed.
func (k *Keeper) AskAgain() {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry != nil {
		v.registry.Again(k.self())
		k.wakeAsker()
	}
}

// unplaced lists peers whose sites others are asked for.
func (k *Keeper) unplaced() []feedring.PeerID {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry == nil {
		return nil
	}
	return v.registry.Unplaced(time.Now())
}

// namedOf is what this peer tells: who names itself, and those of others that it found.
func (k *Keeper) namedOf(others []feedring.PeerID) (told []charters.NamedPeer) {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry == nil {
		return nil
	}
	now := time.Now()
	for _, p := range append([]feedring.PeerID{k.self()}, others...) {
		if site := v.registry.Site(p, now); site != "" {
			told = append(told, charters.NamedPeer{Peer: p, Site: site})
		}
	}
	return told
}

// tellSites takes in what a peer says of itself, and of others if it was asked.
func (k *Keeper) tellSites(by feedring.PeerID, told []charters.NamedPeer) {
	v := &k.vouched
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.registry == nil {
		return
	}
	now := time.Now()
	for _, n := range told {
		if n.Site == "" || n.Peer == k.self() || n.Peer != by && !v.registry.Sought(n.Peer) {
			continue
		}
		v.registry.Tell(n.Peer, by, []string{n.Site}, now)
		if v.registry.Due(n.Peer, now) {
			k.wakeAsker()
		}
	}
}

// askSites asks the sites whose turn it is; running counts what goes on.
func (k *Keeper) askSites(ctx context.Context, running *sync.WaitGroup) {
	v := &k.vouched
	if v.asker == nil || !k.isVouched() {
		return
	}
	own := v.asker.Sites()
	wait := time.NewTimer(gatherFor)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return
	case <-wait.C:
	}
	v.mu.Lock()
	now := time.Now()
	learnt := v.registry == nil
	k.beginNamed()
	v.registry.Tell(k.self(), k.self(), own, now)
	due := v.registry.Questions(now, askAtOnce-v.asking)
	v.asking += len(due)
	lapsed := v.was && v.registry.Site(k.self(), now) == "" // it was not asked for long
	if lapsed {
		v.was = false
	}
	v.mu.Unlock()
	if lapsed || learnt { // without a charter it took itself for a member
		k.namedChanged(k.self())
	}
	for _, q := range due {
		running.Go(func() { k.askSite(ctx, q) })
	}
}

func (k *Keeper) askSite(ctx context.Context, q named.Question) {
	within, cancel := context.WithTimeout(ctx, askedEach)
	defer cancel()
	answer := k.vouched.asker.Ask(within, q)
	v := &k.vouched
	v.mu.Lock()
	now := time.Now()
	changed := v.registry.Answered(q, answer, now)
	v.asking--
	v.unkept = v.unkept || answer != named.Unknown
	if q.Peer == k.self() {
		v.was = v.registry.Site(q.Peer, now) != ""
	}
	v.mu.Unlock()
	k.log.Debug("a site was asked", "site", q.Site, "peer", q.Peer.Short(), "named", answer == named.Yes)
	if changed {
		k.namedChanged(q.Peer)
	}
	k.wakeAsker()
}

// namedChanged tells that a peer is named now, or no longer; others hear of this one
// at once.
func (k *Keeper) namedChanged(p feedring.PeerID) {
	k.vouched.changes.Add(1)
	k.vouched.asker.NamedChanged(p)
	if p != k.self() {
		return
	}
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

var errOtherCharter = errors.New("a peer showed the charter of another network")

// learn takes over the charter of this peer's network, if it has none.
func (k *Keeper) learn(text []byte) error {
	if len(text) == 0 || k.charter.Load() != nil {
		return nil
	}
	c, err := charters.Decode(text)
	if err != nil {
		return err
	}
	if c.Mode != charter.Vouched || c.Network() != k.network {
		return errOtherCharter
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.charter.Load() != nil {
		return nil
	}
	if err := k.hold(c); err != nil {
		return err
	}
	if k.data != "" {
		if err := k.keep(); err != nil {
			return err
		}
	}
	k.log.Info("the network's charter came from a peer", "network", k.network, "label", c.Label, "mode", c.Mode)
	k.wakeAsker()
	return nil
}
