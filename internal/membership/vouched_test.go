package membership

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/named"
	"github.com/feedring/feedring/internal/wire"
)

// answers are sites that name peers, and answer at once.
type answers struct {
	mu      sync.Mutex
	own     []string
	names   map[string]feedring.PeerID
	changed []feedring.PeerID
	feeds   int // how often this peer may publish other feeds
}

func (a *answers) Sites() []string { return a.own }

func (a *answers) Ask(_ context.Context, q named.Question) named.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names[q.Site] == q.Peer {
		return named.Yes
	}
	return named.No
}

func (a *answers) PublishesChanged() { a.feeds++ }

func (a *answers) NamedChanged(p feedring.PeerID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed = append(a.changed, p)
}

// asks has the sites asked that are due.
func (k *Keeper) asks(t *testing.T) {
	t.Helper()
	var running sync.WaitGroup
	k.askSites(t.Context(), &running)
	running.Wait()
}

func openFounder(t *testing.T, a *answers) (*Keeper, string) {
	t.Helper()
	made, err := Create(t.TempDir(), "L", charter.Vouched, time.Now())
	must(t, err)
	k, err := Open(filepath.Dir(filepath.Dir(made.Charter)))
	must(t, err)
	k.Begin(nowhere{}, nil, slog.New(slog.DiscardHandler))
	k.Vouch(a, time.Second)
	return k, made.Roots[0]
}

// TestWhomASiteNames: everybody is served, whom a site names signs, and what was found is
// kept over a restart.
func TestWhomASiteNames(t *testing.T) {
	sites := &answers{own: []string{"a.example"}, names: map[string]feedring.PeerID{}}
	k, _ := openFounder(t, sites)
	id := k.self()
	k.asks(t)
	if s := k.Self(); s.Rights.Has(charter.Publish) || s.Rights.Has(charter.Serve) || s.Site != "" || !k.Admits("anybody") {
		t.Errorf("the founder may %v", s.Rights.List())
	}
	if k.MaySign(wire.KindEntry, id) || !k.MaySign(wire.KindPresence, "anybody") {
		t.Error("a peer that no site names may publish, or not even be there")
	}
	sites.names["a.example"] = id
	k.AskAgain()
	k.asks(t)
	if s := k.Self(); s.Site != "a.example" || !k.MaySign(wire.KindEntry, id) || !k.MaySign(wire.KindRow, id) || len(sites.changed) != 1 {
		t.Errorf("the founder that a site names is %+v", s)
	}

	other := &answers{names: sites.names}
	o := k.other(t)
	o.Vouch(other, time.Second)
	must(t, o.greets(t, k, ""))
	if o.MaySign(wire.KindEntry, id) || !o.Hides(id) {
		t.Error("a peer is believed that says itself who names it")
	}
	o.asks(t)
	if !o.MaySign(wire.KindEntry, id) || o.Hides(id) || o.Hides(o.self()) || k.MaySign(wire.KindRow, o.self()) {
		t.Error("what the site says is not heard")
	}
	o.keepNamed()
	must(t, o.keep())
	again, err := Open(o.data)
	must(t, err)
	again.Begin(nowhere{}, nil, o.log)
	again.Vouch(other, time.Second)
	if got := again.Named(); len(got) != 1 || got[0].Peer != id || !again.MaySign(wire.KindRow, id) {
		t.Errorf("kept: %v", got)
	}
}

// TestHintsOfOthers: a peer that was asked tells which sites name others; what it was not
// asked for is not taken.
func TestHintsOfOthers(t *testing.T) {
	sites := &answers{own: []string{"a.example"}, names: map[string]feedring.PeerID{}}
	k, _ := openFounder(t, sites)
	sites.names["a.example"] = k.self()
	k.asks(t)
	told := k.namedOf([]feedring.PeerID{"unknown"})
	if len(told) != 1 || told[0].Peer != k.self() || told[0].Site != "a.example" {
		t.Fatalf("told: %v", told)
	}
	o := k.other(t)
	o.Vouch(&answers{names: sites.names}, time.Second)
	o.tellSites("third", told)
	o.asks(t)
	if o.MaySign(wire.KindRow, k.self()) {
		t.Error("what nobody asked for was taken")
	}
	if asked := o.unplaced(); len(asked) != 1 || asked[0] != k.self() {
		t.Errorf("asks for %v", asked)
	}
	o.tellSites("third", told)
	o.asks(t)
	if !o.MaySign(wire.KindRow, k.self()) {
		t.Error("the hint led nowhere")
	}
}

// TestACharterIsLearnt: who knows the name of a vouched network is told its charter, and of
// a closed one nothing.
func TestACharterIsLearnt(t *testing.T) {
	k, _ := openFounder(t, &answers{})
	s := Stranger(k.network, t.TempDir())
	s.Begin(nowhere{}, nil, k.log)
	must(t, s.greets(t, k, ""))
	if kept, err := NetworkOf(s.data); err != nil || kept != k.network || s.Self().Mode != charter.Vouched {
		t.Errorf("kept %q, %v", kept, err)
	}
	a := &answers{}
	s.Vouch(a, time.Second)
	late := Stranger(k.network, t.TempDir())
	late.Begin(nowhere{}, nil, k.log)
	late.Vouch(a, time.Second)
	late.asks(t)
	must(t, late.greets(t, k, ""))
	late.asks(t)
	late.asks(t)
	if len(a.changed) != 1 || a.changed[0] != late.self() {
		t.Errorf("told of %v: once, that this peer is a guest", a.changed)
	}
	reader := Stranger(k.network, "")
	reader.Begin(nowhere{}, nil, k.log)
	must(t, reader.greets(t, k, ""))

	closed, _ := founder(t)
	out := Stranger(closed.network, "")
	out.Begin(nowhere{}, nil, k.log)
	wants(t, out.greets(t, closed, ""), NoCredential)
	if err := out.learn(k.charter.Load().Text); !errors.Is(err, errOtherCharter) || out.charter.Load() != nil {
		t.Errorf("another network's charter: %v", err)
	}
	if err := out.learn(closed.charter.Load().Text); !errors.Is(err, errOtherCharter) {
		t.Errorf("a closed network's charter: %v", err)
	}
}

// TestRootsModerate: an expelled peer is not served though a site names it, until a root
// takes that back.
func TestRootsModerate(t *testing.T) {
	sites := &answers{names: map[string]feedring.PeerID{}}
	k, root := openFounder(t, sites)
	o := k.other(t)
	sites.names["b.example"], sites.own = o.self(), nil
	o.Vouch(&answers{own: []string{"b.example"}, names: sites.names}, time.Second)
	o.asks(t)
	must(t, o.greets(t, k, ""))
	k.namedNow(o.self(), time.Now())
	k.asks(t)
	if !k.MaySign(wire.KindRow, o.self()) {
		t.Fatal("the peer is not named")
	}
	own, err := k.Signer("")
	must(t, err)
	out, err := own.Expel([]feedring.PeerID{o.self()}, time.Time{}, "spam")
	must(t, err)
	_, err = k.Merge(out)
	must(t, err)
	if k.MaySign(wire.KindRow, o.self()) || k.Admits(o.self()) || !k.Hides(o.self()) {
		t.Error("the expulsion has no effect")
	}
	if e, ok := IsRefused(o.greets(t, k, "")); !ok || e.Reason != Expelled || e.Mode != charter.Vouched || !o.Self().Expelled {
		t.Errorf("the expelled is told %v", e)
	}
	if _, err := own.Admit("anybody", charter.Invited, time.Hour); !errors.Is(err, ErrMayNotAdmit) && !errors.Is(err, ErrNoNeed) {
		t.Errorf("a credential: %v", err)
	}
	byRoot, err := k.Signer(root)
	must(t, err)
	back, err := byRoot.Admit(o.self(), charter.Invited, time.Hour)
	must(t, err)
	_, err = k.Merge(back)
	must(t, err)
	must(t, o.greets(t, k, ""))
	if !k.MaySign(wire.KindRow, o.self()) {
		t.Error("a root's word has no effect")
	}
	if _, err := k.Invite(Invitation{Site: "a.example"}, nil); !errors.Is(err, ErrNoNeed) {
		t.Errorf("an invitation for a site: %v", err)
	}
}
