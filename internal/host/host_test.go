package host

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
)

// observer hears of what a test wants to know.
type observer struct {
	changed func(id feedring.PeerID, connected bool)
	moved   func()
}

func (o observer) PeerChanged(id feedring.PeerID, connected bool) {
	if o.changed != nil {
		o.changed(id, connected)
	}
}

func (o observer) AddrsChanged() {
	if o.moved != nil {
		o.moved()
	}
}

var group = feedring.Theme("sport").Group()

func TestAddrsAreCompleteAndReal(t *testing.T) {
	h := newHost(t)
	if len(h.Addrs()) != 2 {
		t.Fatalf("addresses %v", h.Addrs())
	}
	for _, a := range append(h.Addrs(), h.Listening()...) {
		if !strings.HasPrefix(a, "/ip4/127.0.0.1/") || !strings.HasSuffix(a, "/p2p/"+string(h.ID())) || strings.Contains(a, "/0/") {
			t.Errorf("address %s", a)
		}
	}
}

func TestEveryInterfaceTellsNoPrivateAddress(t *testing.T) {
	h := newHost(t, func(c *Config) { c.Listen = []string{"/ip4/0.0.0.0/udp/0/quic-v1"} })
	for _, a := range h.lib.Addrs() {
		if k := addr.KindOf(a); k != addr.Public {
			t.Errorf("tells %s", a)
		}
	}
	if !slices.ContainsFunc(h.Listening(), func(a string) bool { return strings.HasPrefix(a, "/ip4/127.0.0.1/") }) {
		t.Errorf("a person is not shown loopback: %v", h.Listening())
	}
	if h.Reachability().Local {
		t.Error("every interface is not local")
	}
}

func TestLoopbackAsksNobodyOutside(t *testing.T) {
	h := newHost(t)
	if !h.Reachability().Local || h.reachesOut() {
		t.Error("loopback reaches out")
	}
}

func TestAnnounce(t *testing.T) {
	h := newHost(t, func(c *Config) { c.Announce = []string{"/dns4/peer.example.org/udp/7377/quic-v1"} })
	want := []string{"/dns4/peer.example.org/udp/7377/quic-v1/p2p/" + string(h.ID())}
	if got := h.Addrs(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestFromOnePeerToAllByTheAddressBook(t *testing.T) {
	hub, provider, seeker := newHost(t), newHost(t), newHost(t)
	echo(provider)
	if err := provider.Provide(t.Context(), group); err != nil {
		t.Fatal(err) // knows nobody yet: told later
	}
	joinTo(t, provider, hub)
	joinTo(t, seeker, hub)
	var found []feedring.PeerInfo
	eventually(t, "the group in the address book", func() bool {
		found, _ = seeker.FindGroup(t.Context(), group)
		return len(found) > 0
	})
	if found[0].ID != provider.ID() || len(found[0].Addrs) == 0 {
		t.Fatalf("found %v", found)
	}
	if err := ask(t.Context(), seeker, provider.ID()); err != nil {
		t.Fatal(err)
	}
	if none, err := seeker.FindGroup(t.Context(), feedring.Theme("weather").Group()); err != nil || len(none) > 0 {
		t.Errorf("nobody's group: %v, %v", none, err)
	}
}

func TestPeerWithoutKnownAddressIsLookedUp(t *testing.T) {
	hub, server := newHost(t), newHost(t)
	client := newHost(t, asClient)
	echo(server)
	joinTo(t, server, hub)
	joinTo(t, client, hub)
	eventually(t, "reached through the address book", func() bool { return ask(t.Context(), client, server.ID()) == nil })
}

func TestStrangerIsUnreachable(t *testing.T) {
	h, gone := newHost(t), newHost(t, onlyTCP)
	h.Learn(gone.ID(), gone.Addrs())
	_ = gone.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, to := range []feedring.PeerID{gone.ID(), "nonsense", ""} {
		if _, err := h.Open(ctx, to, "echo", true); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%q: %v", to, err)
		}
	}
}

func TestRestartedPeerIsReachedAtOnce(t *testing.T) {
	dir := t.TempDir()
	h, old := newHost(t), newHost(t, onlyTCP, func(c *Config) { c.Dir = dir })
	h.Learn(old.ID(), old.Addrs())
	id := old.ID()
	listen := []string{strings.Split(old.Addrs()[0], "/p2p/")[0]}
	_ = old.Close()
	if _, err := h.Open(t.Context(), id, "echo", false); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("got %v", err)
	}
	again := newHost(t, func(c *Config) { c.Dir, c.Listen = dir, listen })
	if again.ID() != id {
		t.Fatal("another identity")
	}
	s, err := h.Open(t.Context(), id, presence, true)
	if err != nil {
		t.Fatalf("fresh: %v", err)
	}
	_ = s.Reset()
}

func TestUnspokenVerb(t *testing.T) {
	a, b := newHost(t), newHost(t)
	joinTo(t, a, b)
	if err := ask(t.Context(), a, b.ID()); err == nil {
		t.Error("nobody serves that")
	}
}

func TestNetworksNeverMix(t *testing.T) {
	var mu sync.Mutex
	var heard []feedring.PeerID
	other := newHost(t, func(c *Config) { c.Network = "other" })
	h := newHost(t, func(c *Config) {
		c.Observer = observer{changed: func(id feedring.PeerID, _ bool) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, id)
		}}
	})
	third := newHost(t)
	echo(other)
	tried := make(chan struct{})
	var once sync.Once
	h.Join(t.Context(), []string{other.Addrs()[0], third.Addrs()[0]}, nil, joinerFunc(func(_ []feedring.PeerID, done bool) {
		if done {
			once.Do(func() { close(tried) })
		}
	}))
	<-tried
	eventually(t, "the foreigner parted from", func() bool {
		return !h.connected(other.lib.ID()) && !other.connected(h.lib.ID()) && h.members.Has(third.lib.ID())
	})
	if err := ask(t.Context(), h, other.ID()); err == nil {
		t.Error("a verb was served across networks")
	}
	for _, k := range h.KnownPeers() {
		if k.ID == other.ID() {
			t.Error("the foreigner is saved")
		}
	}
	if slices.Contains(h.dht.RoutingTable().ListPeers(), other.lib.ID()) || h.members.Has(other.lib.ID()) {
		t.Error("the foreigner is in a table")
	}
	// Observers are told later than the table of members is changed.
	told := func(id feedring.PeerID) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(heard, id)
	}
	eventually(t, "told of the one of the same network", func() bool { return told(third.ID()) })
	if told(other.ID()) {
		t.Error("told of the foreigner")
	}
}

// Whoever asks a peer of another network is told so, and which one: whichever
// end is first to part.
func TestForeignNetworkIsNamed(t *testing.T) {
	for _, only := range []func(*Config){onlyTCP, onlyQUIC} {
		other := newHost(t, only, func(c *Config) { c.Network = "other" })
		for range 5 {
			h := newHost(t, asClient)
			id, err := h.Given(other.Addrs()[0])
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, err = h.Open(t.Context(), id, "echo", true)
				var foreign *ForeignError
				if !errors.Is(err, ErrForeign) || !errors.As(err, &foreign) || *foreign != (ForeignError{"other", "test"}) {
					t.Errorf("got %v", err)
				}
			}
		}
	}
}

func TestChangesAreTold(t *testing.T) {
	told := make(chan bool, 16)
	h := newHost(t, func(c *Config) {
		c.Observer = observer{changed: func(_ feedring.PeerID, connected bool) { told <- connected }}
	})
	other := newHost(t)
	joinTo(t, other, h)
	if !<-told {
		t.Fatal("lost before connected")
	}
	if peers := h.Peers(); len(peers) != 1 || peers[0].ID != other.ID() || !peers[0].Inbound || peers[0].Client || peers[0].Agent != userAgent {
		t.Errorf("peers %+v", peers)
	}
	_ = other.Close()
	if <-told {
		t.Fatal("connected twice")
	}
	if len(h.Peers()) != 0 {
		t.Error("still listed")
	}
}

func TestLearnKeepsWhatIsSound(t *testing.T) {
	h, other := newHost(t), newHost(t)
	many := make([]string, 0, 200)
	for range 100 {
		many = append(many, "nonsense", "/ip4/10.0.0.1/tcp/1", "/ip4/127.0.0.1/tcp/9/p2p/"+string(h.ID()))
	}
	h.Learn(other.ID(), many)
	if got := h.dialable(other.lib.ID()); len(got) != 0 {
		t.Errorf("learned %v", got)
	}
	h.Learn(other.ID(), other.Addrs())
	if got := h.dialable(other.lib.ID()); len(got) != 2 {
		t.Errorf("learned %v", got)
	}
	h.Learn("nonsense", other.Addrs())
	h.Learn(h.ID(), h.Addrs())
}

func TestPrivateAddressesAreNotDialledUnasked(t *testing.T) {
	client := newHost(t, asClient)
	server := newHost(t)
	echo(server)
	client.Learn(server.ID(), server.Addrs()) // told by others: not a person's word
	if err := ask(t.Context(), client, server.ID()); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("dialled loopback unasked: %v", err)
	}
	id, err := client.Given(server.Addrs()[0])
	if err != nil || id != server.ID() {
		t.Fatal(id, err)
	}
	if err := ask(t.Context(), client, server.ID()); err != nil {
		t.Error(err)
	}
	if addrs := client.Addrs(); len(addrs) != 0 {
		t.Errorf("a client listens: %v", addrs)
	}
}

func TestProtect(t *testing.T) {
	a, b, c := newHost(t), newHost(t), newHost(t)
	check := func(want ...*Host) {
		t.Helper()
		for _, p := range []*Host{b, c} {
			if got := a.lib.ConnManager().IsProtected(p.lib.ID(), "g"); got != slices.Contains(want, p) {
				t.Errorf("%s protected: %t", p.ID().Short(), got)
			}
		}
	}
	a.Protect("g", []feedring.PeerID{b.ID(), "nonsense"})
	check(b)
	a.Protect("g", []feedring.PeerID{c.ID()})
	check(c)
	a.Protect("g", nil)
	check()
}

func TestCloseIsQuick(t *testing.T) {
	hub := newHost(t, func(c *Config) { c.Listen = []string{"/ip4/0.0.0.0/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"} })
	for range 5 {
		joinTo(t, newHost(t), hub)
	}
	start := time.Now()
	if err := hub.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 4*closeWithin {
		t.Errorf("took %s", took)
	}
	if err := hub.Close(); err != nil {
		t.Error(err)
	}
	if _, err := hub.Open(t.Context(), "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2", "echo", false); err == nil {
		t.Error("a closed host opens streams")
	}
}

// TestCloseAfterTheOtherEnd: who answered closes first, and QUIC refuses the
// close of the end that got the answer.
func TestCloseAfterTheOtherEnd(t *testing.T) {
	server, client := newHost(t, onlyQUIC), newHost(t, asClient)
	echo(server)
	if _, err := client.Given(server.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	s, err := client.Open(t.Context(), server.ID(), "echo", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte{7}); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(s); err != nil || len(b) != 1 {
		t.Fatal(b, err)
	}
	eventually(t, "the other end reads no more", func() bool { _, err := s.Write([]byte{7}); return err != nil })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
