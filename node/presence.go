package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/presence"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/node/internal/publish"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	presenceRead   = 5 * time.Second
	presenceWithin = 2 * time.Second // one witness

	leavePresenceWithin = 300 * time.Millisecond
	presenceRecord      = "presence"
)

// duplicateIdentity keeps this peer's only process from others with its key, a
// copy of its data directory above all: see internal/presence.
type duplicateIdentity struct {
	machine *presence.Machine // of the goroutine that runs keepPresence
	saved   savedPresence
	leaving chan struct{} // closed when the peer stops
	left    chan struct{} // closed when witnesses know

	mu      sync.Mutex
	now     presence.Changed
	changed chan struct{} // closed when now is another

	witnessing sync.Mutex
	witness    presence.Witness
}

// savedPresence outlives the process.
type savedPresence struct {
	Since time.Time `json:"since"` // this peer ranks no earlier
	Above uint64    `json:"above"` // no log goes on below
}

func openDuplicateIdentity(s *store.Store, refresh time.Duration, started time.Time) (*duplicateIdentity, error) {
	d := &duplicateIdentity{changed: make(chan struct{}), leaving: make(chan struct{}), left: make(chan struct{})}
	value, err := s.Value(store.BucketMeta, presenceRecord)
	if err == nil {
		err = json.Unmarshal(value, &d.saved)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("what is kept of other processes with this key cannot be read: %w", err)
	}
	since := started.UTC().Truncate(time.Millisecond)
	if d.saved.Since.After(since) {
		since = d.saved.Since
	}
	d.machine = presence.New(presence.Config{Refresh: refresh, Instance: seed() | 1, Since: since, Above: d.saved.Above}, started)
	return d, nil
}

// get returns the present state, and a channel that is closed when it changes. A
// nil duplicateIdentity publishes.
func (d *duplicateIdentity) get() (presence.Changed, <-chan struct{}) {
	if d == nil {
		return presence.Changed{State: presence.Publishes}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, d.changed
}

func (d *duplicateIdentity) set(c presence.Changed) (before presence.Changed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.now = d.now, c
	close(d.changed)
	d.changed = make(chan struct{})
	return before
}

// MayPublish waits until it is clear whether this process publishes; an error
// says that another one does.
func (d *duplicateIdentity) MayPublish(ctx context.Context) error {
	for {
		now, changed := d.get()
		switch now.State {
		case presence.Publishes:
			return nil
		case presence.Yields:
			return d.Yields()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Yields is an error where this process publishes nothing for another one.
func (d *duplicateIdentity) Yields() error {
	now, _ := d.get()
	if now.State != presence.Yields {
		return nil
	}
	if now.Rival == nil {
		return fmt.Errorf("%w until it is clear that no other process runs with this peer's key", publish.ErrElsewhere)
	}
	return fmt.Errorf("%w: %s", publish.ErrElsewhere, elsewhere(now))
}

// elsewhere says that another process has this key, and what to do; empty: none
// has.
func elsewhere(now presence.Changed) string {
	if now.Rival == nil {
		return ""
	}
	at := ""
	if len(now.Rival.Addrs) > 0 {
		at = " (" + strings.Join(now.Rival.Addrs, " ") + ")"
	}
	then := "that one publishes nothing meanwhile"
	if now.State == presence.Yields {
		then = "it began earlier, so this one publishes nothing until it stops"
	}
	return "another process runs with this peer's key" + at + ", most likely on a copy of the data directory; " + then +
		": stop one of them, or give it a data directory of its own"
}

// status is nil where no other process has this key.
func (d *duplicateIdentity) status() *web.IdentityStatus {
	now, _ := d.get()
	if now.Rival == nil && now.State != presence.Yields {
		return nil
	}
	is := &web.IdentityStatus{Elsewhere: now.Rival != nil, Publishes: now.State != presence.Yields}
	if now.Rival != nil {
		is.Addrs = now.Rival.Addrs
	}
	return is
}

// keepPresence tells witnesses of this process, and goes by what they heard,
// until the peer stops.
func (n *Node) keepPresence() {
	d := n.identity
	defer close(d.left)
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	n.background(func() {
		select {
		case <-d.leaving:
			cancel()
		case <-ctx.Done():
		}
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-timer.C:
			n.stepPresence(ctx, presence.Tick{})
			timer.Reset(max(time.Until(d.machine.Deadline()), time.Millisecond))
		}
	}
	last, end := context.WithTimeout(n.ctx, leavePresenceWithin)
	defer end()
	n.stepPresence(last, presence.Leave{})
}

// leavePresence tells witnesses that this process is no rival of the next one.
func (n *Node) leavePresence() {
	close(n.identity.leaving)
	late := time.NewTimer(2 * leavePresenceWithin)
	defer late.Stop()
	select {
	case <-n.identity.left:
	case <-late.C:
	}
}

func (n *Node) stepPresence(ctx context.Context, in presence.Input) {
	inputs := []presence.Input{in}
	for len(inputs) > 0 && ctx.Err() == nil {
		outs := n.identity.machine.Step(time.Now(), inputs[0])
		inputs = inputs[1:]
		for _, out := range outs {
			switch out := out.(type) {
			case presence.Ask:
				inputs = append(inputs, n.askWitnesses(ctx, out.Statement)...)
			case presence.Changed:
				n.presenceChanged(out)
			}
		}
	}
}

// askWitnesses is one round: each is told, and its answer taken.
func (n *Node) askWitnesses(ctx context.Context, s presence.Statement) []presence.Input {
	view := n.loop.View()
	witnesses, stands := n.witnesses(view)
	asked := presence.Asked{
		Nobody: len(witnesses) == 0 && stands, Settled: view.Synced, Addrs: n.host.Addrs(), Epoch: n.latestEpoch(),
	}
	var inputs []presence.Input
	req, err := codec.PresenceTo(n.sealer, s)
	if err != nil {
		n.log.Error("what this process tells of itself cannot be encoded", "err", err)
		return []presence.Input{asked}
	}
	defer n.host.Meet(witnesses)()
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, id := range witnesses {
		wait.Go(func() {
			heard, err := n.askWitness(ctx, id, req)
			if err != nil {
				n.log.Debug("presence", "asked", id.Short(), "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			inputs = append(inputs, heard)
			asked.Answers++
		})
	}
	wait.Wait()
	return append(inputs, asked)
}

// witnesses is whom this process tells, and whether it knows of nobody to join.
func (n *Node) witnesses(view *peer.View) (chosen []feedring.PeerID, stands bool) {
	var own, ring, connected []feedring.PeerID
	offered := n.origins.Offered()
	for _, g := range view.Ring {
		leaders := []feedring.PeerID{g.Manager, g.Secondary}
		ring = append(ring, leaders...)
		if _, ours := offered[g.Theme]; ours || slices.Contains(n.cfg.Read, g.Theme) {
			own = append(own, leaders...)
		}
	}
	for _, p := range n.host.Peers() {
		if !p.Client {
			connected = append(connected, p.ID)
		}
	}
	if now, _ := n.identity.get(); now.State == presence.Yields { // it is connected with nobody
		for _, p := range n.host.KnownPeers() {
			connected = append(connected, p.ID)
		}
	}
	stands = len(n.joins.All()) == 0 && len(n.host.KnownPeers()) == 0 && !n.cfg.LAN
	return presence.Choose(n.ID(), own, ring, connected), stands
}

// latestEpoch is that of this peer's logs that others know.
func (n *Node) latestEpoch() (latest uint64) {
	for url := range n.origins.Public() {
		latest = max(latest, n.store.LogHead(feedring.FeedRef{URL: url, Publisher: n.ID()}).Position.Epoch)
	}
	return latest
}

func (n *Node) askWitness(ctx context.Context, id feedring.PeerID, req *feedringv1.PresenceRequest) (presence.Heard, error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWithin)
	defer cancel()
	raw, err := n.host.Open(ctx, id, wire.VerbPresence, false)
	if err != nil {
		return presence.Heard{}, err
	}
	s := wire.NewStream(raw)
	defer s.Close()
	if err := s.Send(req, presenceWithin); err != nil {
		return presence.Heard{}, err
	}
	var reply feedringv1.PresenceReply
	if err := s.Receive(&reply, presenceWithin); err != nil {
		return presence.Heard{}, err
	}
	return codec.HeardFrom(n.verifier, n.ID(), &reply)
}

// servePresence is the witness of another process.
func (n *Node) servePresence(from feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.PresenceRequest
	if err := s.Receive(&req, presenceRead); err != nil {
		return err
	}
	told, err := codec.PresenceFrom(n.verifier, from, req.GetStatement())
	if err != nil {
		n.server.Refuse()
		return err
	}
	d := n.identity
	d.witnessing.Lock()
	others := d.witness.Record(time.Now(), from, told)
	d.witnessing.Unlock()
	return s.Send(codec.HeardTo(others), presenceRead)
}

// presenceChanged goes by what was decided. What must outlive the process is on
// disk before.
func (n *Node) presenceChanged(c presence.Changed) {
	d := n.identity
	if saved := (savedPresence{c.Since, c.Above}); c.State == presence.Yields && saved.Since != d.saved.Since || saved.Above != d.saved.Above {
		value, err := json.Marshal(saved)
		if err == nil {
			err = n.store.Put(n.ctx, store.BucketMeta, presenceRecord, value)
		}
		if err != nil {
			n.log.Warn("that another process has this peer's key was not saved", "err", err)
		}
		d.saved = saved
	}
	n.origins.StartAbove(c.Above)
	before := d.set(c)
	n.tellPresence(before, c)
	switch {
	case c.State == presence.Yields && before.State != c.State:
		n.loop.Post(peer.Suspend{})
		n.host.Silence(true)
		n.origins.Yield()
	case before.State == presence.Yields && c.State != before.State:
		n.host.Silence(false)
		n.loop.Post(peer.Resume{})
		n.offers.Now()
	case c.State == presence.Publishes && c.Above != before.Above:
		n.offers.Now()
	}
}

// tellPresence tells the log and who reads events.
func (n *Node) tellPresence(before, now presence.Changed) {
	text := elsewhere(now)
	stopped := now.State == presence.Yields
	if text == elsewhere(before) && stopped == (before.State == presence.Yields) {
		return
	}
	switch {
	case text != "":
		n.log.Error(text)
	case stopped:
		return // a moment before it goes on
	default:
		n.log.Info("no other process runs with this peer's key any more: this one publishes")
	}
	is := n.identity.status()
	if is == nil {
		is = &web.IdentityStatus{Publishes: true}
	}
	n.output.events.Add(Event{Event: "identity", Identity: is})
}
