// Package identity keeps one process at a time publishing with this peer's key.
package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/presence"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/node/internal/origins"
	"github.com/feedring/feedring/node/internal/publish"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	presenceRead   = 5 * time.Second
	presenceWithin = 2 * time.Second // one witness

	leaveWithin    = 300 * time.Millisecond
	presenceRecord = "presence"
)

// Keeper keeps this peer's only process from others with its key, a copy of its
// data directory above all: see internal/presence.
type Keeper struct {
	Parts
	signs   signs
	machine *presence.Machine // of the goroutine that runs Run
	saved   savedPresence
	leaving chan struct{} // closed when the peer stops
	left    chan struct{} // closed when witnesses know

	mu      sync.Mutex
	now     presence.Changed
	changed chan struct{} // closed when now is another

	witnessing sync.Mutex
	witness    presence.Witness
}

// Parts is what a Keeper works with, and which of its peer's settings it needs.
type Parts struct {
	Self     feedring.PeerID
	Read     []feedring.Theme
	LAN      bool
	Store    *store.Store
	Host     *host.Host
	Sealer   *wire.Sealer
	Verifier *wire.Verifier
	Loop     Loop
	Feeds    *origins.Feeds
	Offers   Offers
	Joins    Joins
	Refusals Refusals
	Events   Events
	Tasks    Tasks
	Log      *slog.Logger
}

// Loop runs the peer's machine.
type Loop interface {
	Now() time.Time
	View() *peer.View
	Post(peer.Input) bool
}

// Offers tells the machine what this peer publishes and reads.
type Offers interface{ Now() }

// Joins are the targets that this peer joins the network through.
type Joins interface{ All() []string }

// Refusals counts what other peers sent in vain.
type Refusals interface{ Refuse() }

// Events takes what listeners are told.
type Events interface {
	IdentityChanged(*web.IdentityStatus)
}

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// savedPresence outlives the process.
type savedPresence struct {
	Since time.Time `json:"since"` // this peer ranks no earlier
	Above uint64    `json:"above"` // no log goes on below
}

// Open reads what an earlier process of this peer kept. Nothing runs before Begin.
func Open(s *store.Store, refresh time.Duration, started time.Time) (*Keeper, error) {
	d := &Keeper{
		signs: signs{recent: max(time.Minute, 6*refresh)}, changed: make(chan struct{}), leaving: make(chan struct{}), left: make(chan struct{}),
	}
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
	d.machine = presence.New(presence.Config{Refresh: refresh, Instance: rand.Uint64() | 1, Since: since, Above: d.saved.Above}, started)
	return d, nil
}

// Begin takes the parts, before Run.
func (d *Keeper) Begin(parts Parts) { d.Parts = parts }

// State returns the present state, and a channel that is closed when it changes. A
// nil Keeper publishes.
func (d *Keeper) State() (presence.Changed, <-chan struct{}) {
	if d == nil {
		return presence.Changed{State: presence.Publishes}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, d.changed
}

func (d *Keeper) set(c presence.Changed) (before presence.Changed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.now = d.now, c
	close(d.changed)
	d.changed = make(chan struct{})
	return before
}

// MayPublish waits until it is clear whether this process publishes; an error
// says that another one does.
func (d *Keeper) MayPublish(ctx context.Context) error {
	for {
		now, changed := d.State()
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
func (d *Keeper) Yields() error {
	now, _ := d.State()
	if now.State != presence.Yields {
		return nil
	}
	if now.Rival == nil {
		return fmt.Errorf("%w until it is clear that no other process runs with this peer's key", publish.ErrElsewhere)
	}
	return fmt.Errorf("%w: %s", publish.ErrElsewhere, web.AdviseStopEither.To(elsewhere(now)))
}

// elsewhere says that another process has this key; empty: none has.
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
	return "another process runs with this peer's key" + at + ", most likely on a copy of the data directory; " + then
}

// Status is nil where no other process has this key.
func (d *Keeper) Status() *web.IdentityStatus {
	now, _ := d.State()
	if now.Rival == nil && now.State != presence.Yields {
		return nil
	}
	is := &web.IdentityStatus{Elsewhere: now.Rival != nil, Publishes: now.State != presence.Yields}
	if now.Rival != nil {
		is.Addrs = now.Rival.Addrs
	}
	return is
}

// Run tells witnesses of this process, and goes by what they heard, until Leave,
// or until stops ends.
func (d *Keeper) Run(stops context.Context) {
	defer close(d.left)
	ctx, cancel := context.WithCancel(stops)
	defer cancel()
	d.Tasks.Run(func() {
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
			d.step(ctx, stops, presence.Tick{})
			timer.Reset(max(time.Until(d.machine.Deadline()), time.Millisecond))
		}
	}
	last, end := context.WithTimeout(stops, leaveWithin)
	defer end()
	d.step(last, stops, presence.Leave{})
}

// Leave tells witnesses that this process is no rival of the next one.
func (d *Keeper) Leave() {
	close(d.leaving)
	late := time.NewTimer(2 * leaveWithin)
	defer late.Stop()
	select {
	case <-d.left:
	case <-late.C:
	}
}

func (d *Keeper) step(ctx, stops context.Context, in presence.Input) {
	inputs := []presence.Input{in}
	for len(inputs) > 0 && ctx.Err() == nil {
		outs := d.machine.Step(time.Now(), inputs[0])
		inputs = inputs[1:]
		for _, out := range outs {
			switch out := out.(type) {
			case presence.Ask:
				inputs = append(inputs, d.askWitnesses(ctx, out.Statement)...)
			case presence.Changed:
				d.Decided(stops, out)
			}
		}
	}
}

// askWitnesses is one round: each is told, and its answer taken.
func (d *Keeper) askWitnesses(ctx context.Context, s presence.Statement) []presence.Input {
	view := d.Loop.View()
	witnesses, stands := d.witnesses(view)
	asked := presence.Asked{
		Nobody: len(witnesses) == 0 && stands, Settled: view.Synced, Addrs: d.Host.Addrs(), Epoch: d.latestEpoch(),
	}
	var inputs []presence.Input
	req, err := codec.PresenceTo(d.Sealer, s)
	if err != nil {
		d.Log.Error("what this process tells of itself cannot be encoded", "err", err)
		return []presence.Input{asked}
	}
	defer d.Host.Meet(witnesses)()
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, id := range witnesses {
		wait.Go(func() {
			heard, err := d.askWitness(ctx, id, req)
			if err != nil {
				d.Log.Debug("presence", "asked", id.Short(), "err", err)
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
func (d *Keeper) witnesses(view *peer.View) (chosen []feedring.PeerID, stands bool) {
	var own, ring, connected []feedring.PeerID
	offered := d.Feeds.Offered()
	for _, g := range view.Ring {
		leaders := []feedring.PeerID{g.Manager, g.Secondary}
		ring = append(ring, leaders...)
		if _, ours := offered[g.Theme]; ours || slices.Contains(d.Read, g.Theme) {
			own = append(own, leaders...)
		}
	}
	for _, p := range d.Host.Peers() {
		if !p.Client {
			connected = append(connected, p.ID)
		}
	}
	if now, _ := d.State(); now.State == presence.Yields { // it is connected with nobody
		for _, p := range d.Host.KnownPeers() {
			connected = append(connected, p.ID)
		}
	}
	stands = len(d.Joins.All()) == 0 && len(d.Host.KnownPeers()) == 0 && !d.LAN
	return presence.Choose(d.Self, own, ring, connected), stands
}

// latestEpoch is that of this peer's logs that others know.
func (d *Keeper) latestEpoch() (latest uint64) {
	for _, url := range d.Feeds.Published() {
		latest = max(latest, d.Store.LogHead(feedring.FeedRef{URL: url, Publisher: d.Self}).Position.Epoch)
	}
	return latest
}

func (d *Keeper) askWitness(ctx context.Context, id feedring.PeerID, req *feedringv1.PresenceRequest) (presence.Heard, error) {
	ctx, cancel := context.WithTimeout(ctx, presenceWithin)
	defer cancel()
	raw, err := d.Host.Open(ctx, id, wire.VerbPresence, false)
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
	return codec.HeardFrom(d.Verifier, d.Self, &reply)
}

// Serve is the witness of another process.
func (d *Keeper) Serve(from feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.PresenceRequest
	if err := s.Receive(&req, presenceRead); err != nil {
		return err
	}
	told, err := codec.PresenceFrom(d.Verifier, from, req.GetStatement())
	if err != nil {
		d.Refusals.Refuse()
		return err
	}
	d.witnessing.Lock()
	others := d.witness.Record(time.Now(), from, told)
	d.witnessing.Unlock()
	return s.Send(codec.HeardTo(others), presenceRead)
}

// Decided goes by what the machine decided. What must outlive the process is on disk
// before, unless ctx has ended.
func (d *Keeper) Decided(ctx context.Context, c presence.Changed) {
	if saved := (savedPresence{c.Since, c.Above}); c.State == presence.Yields && saved.Since != d.saved.Since || saved.Above != d.saved.Above {
		value, err := json.Marshal(saved)
		if err == nil {
			err = d.Store.Put(ctx, store.BucketMeta, presenceRecord, value)
		}
		if err != nil {
			d.Log.Warn("that another process has this peer's key was not saved", "err", err)
		}
		d.saved = saved
	}
	d.Feeds.StartAbove(c.Above)
	before := d.set(c)
	d.tell(before, c)
	switch {
	case c.State == presence.Yields && before.State != c.State:
		d.Loop.Post(peer.Suspend{})
		d.Host.Silence(true)
		d.Feeds.Yield()
	case before.State == presence.Yields && c.State != before.State:
		d.Host.Silence(false)
		d.Loop.Post(peer.Resume{})
		d.Offers.Now()
	case c.State == presence.Publishes && c.Above != before.Above:
		d.Offers.Now()
	}
}

// tell tells the log and who reads events.
func (d *Keeper) tell(before, now presence.Changed) {
	text := elsewhere(now)
	stopped := now.State == presence.Yields
	if text == elsewhere(before) && stopped == (before.State == presence.Yields) {
		return
	}
	switch {
	case text != "":
		d.Log.Error(web.AdviseStopEither.To(text))
	case stopped:
		return // a moment before it goes on
	default:
		d.Log.Info("no other process runs with this peer's key any more: this one publishes")
	}
	is := d.Status()
	if is == nil {
		is = &web.IdentityStatus{Publishes: true}
	}
	d.Events.IdentityChanged(is)
}
