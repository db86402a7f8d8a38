package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	"github.com/feedring/feedring/node/internal/pass"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// passNet is a group of three peers and a relay in a group of its own.
func passNet(t testing.TB, change ...func(*Config)) (w *benchNet, relay *Node) {
	t.Helper()
	w = &benchNet{b: t}
	fast := append([]func(*Config){func(c *Config) { c.Refresh = time.Second }}, change...)
	for i := range 3 {
		w.start("news", fmt.Sprintf("p%d.example", i), fast...)
	}
	w.formed("news", 3)
	relay = w.start("sport", "relay.example", fast...)
	benchUntil(t, "a map of two groups", func() bool {
		for _, n := range w.nodes {
			if len(n.loop.View().Ring) != 2 {
				return false
			}
		}
		return true
	})
	w.publish(w.nodes[0], "a bridge is closed", "a bridge is open", "nothing else")
	(&benchNet{b: t, nodes: w.nodes[:3]}).spreadEntries(3)
	return w, relay
}

// reader asks by way of relays.
func (w *benchNet) reader(via string, peers ...string) *client.Client {
	w.b.Helper()
	c, err := client.New(context.Background(), client.Config{Network: "bench", Via: via, Peers: peers, Logger: quiet})
	if err != nil {
		w.b.Fatal(err)
	}
	w.b.Cleanup(func() { _ = c.Close() })
	return c
}

func at(n *Node) string { return n.Started().Addrs[0] }

// tap notes what a relay passes on.
type tap struct {
	*host.Host
	mu     sync.Mutex
	passed bytes.Buffer
}

func (p *tap) note(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed.Write(b)
}

func (p *tap) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error) {
	s, err := p.Host.Open(ctx, to, verb, fresh)
	if err != nil {
		return nil, err
	}
	return tapped{s, p}, nil
}

type tapped struct {
	network.Stream
	tap *tap
}

func (s tapped) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	s.tap.note(b[:n])
	return n, err
}

func (s tapped) Write(b []byte) (int, error) {
	s.tap.note(b)
	return s.Stream.Write(b)
}

// listen has a relay note what it passes on from now on.
func listen(n *Node) *tap {
	p := &tap{Host: n.host}
	passer := pass.New(n.ctx, pass.Config{
		Self: n.ID(), Key: n.host.PrivateKey(), Network: n.cfg.Network, Most: 16, Host: p, Views: n.loop, Blocks: n.blocks, Server: n.server, Counts: &n.refused, Log: n.log,
	})
	n.server.Handle(wire.VerbPass, transport.Bound{All: 64, Each: 64}, transport.HandlerFunc(passer.ServePass))
	return p
}

// words that must not pass in clear: of the question and of the answer.
var secrets = []string{"news", "bridge", "p0.example", "council", "127.0.0.1"}

func readable(text []byte) (found []string) {
	for _, word := range secrets {
		if bytes.Contains(bytes.ToLower(text), []byte(word)) {
			found = append(found, word)
		}
	}
	return found
}

// TestWhoPassesOnReadsNothing: a reader is answered through a relay as it is directly, and
// in what passes there no word of the question or the answer is in clear. Peers that
// answer are connected with the relay alone.
func TestWhoPassesOnReadsNothing(t *testing.T) {
	w, relay := passNet(t)
	heard := listen(relay)
	if got := readable([]byte("The council on BRIDGE News at http://127.0.0.1/p0.example")); len(got) != len(secrets) {
		t.Fatalf("of a text in clear only %q are found", got)
	}
	shown := make(map[string][]string)
	for _, words := range []string{"bridge", ""} {
		through, err := w.reader(at(relay)).Query(t.Context(), feedring.Query{Theme: "news", Words: words})
		check(t, err)
		if shown[words] = titlesOf(through); through.Final.Status != feedring.Answered {
			t.Errorf("%q: %v", words, through.Final.Status)
		}
	}
	if n := w.strangers(); n > 0 {
		t.Errorf("%d connections of readers with peers that answer", n)
	}
	for words, got := range shown {
		direct, err := w.client(w.nodes[0]).Query(t.Context(), feedring.Query{Theme: "news", Words: words})
		check(t, err)
		if want := titlesOf(direct); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%q: %q, directly %q", words, got, want)
		}
	}
	if w.strangers() == 0 {
		t.Error("readers that ask directly are not seen either")
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	if got := readable(heard.passed.Bytes()); len(got) > 0 || heard.passed.Len() < 1000 {
		t.Errorf("of %d bytes %q are in clear", heard.passed.Len(), got)
	}
}

// strangers counts who is connected with the first three peers and is no peer.
func (w *benchNet) strangers() (n int) {
	for _, one := range w.nodes[:3] {
		for _, p := range one.host.Peers() {
			if !slices.ContainsFunc(w.nodes, func(n *Node) bool { return n.ID() == p.ID }) {
				n++
			}
		}
	}
	return n
}

func titlesOf(a client.Answer) (titles []string) {
	for i := range a.Entries {
		titles = append(titles, a.Entries[i].Title)
	}
	return titles
}

// TestEachThemeHasItsOwnKey: who answers for one theme sees another key than who answers for
// another, and the relay, which sees the address, sees neither.
func TestEachThemeHasItsOwnKey(t *testing.T) {
	w, relay := passNet(t)
	clients := make(map[feedring.PeerID][]feedring.Theme)
	var mu sync.Mutex
	for _, n := range w.nodes[:3] {
		passer := pass.New(n.ctx, pass.Config{
			Self: n.ID(), Key: n.host.PrivateKey(), Network: n.cfg.Network, Host: n.host, Views: n.loop, Blocks: n.blocks, Server: n.server, Counts: &n.refused, Log: n.log,
			Serves: map[feedring.Verb]transport.Handler{wire.VerbAsk: transport.HandlerFunc(func(from feedring.PeerID, s *wire.Stream) error {
				var req feedringv1.AskRequest
				if err := s.Receive(&req, time.Second); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				clients[from] = append(clients[from], feedring.Theme(req.GetTheme()))
				return nil
			})},
		})
		n.server.Handle(wire.VerbSealed, transport.Bound{All: 64, Each: 64}, transport.HandlerFunc(passer.ServeSealed))
	}
	c := w.reader(at(relay))
	for _, theme := range []feedring.Theme{"news", "sport", "news"} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, _ = c.Query(ctx, feedring.Query{Theme: theme}) // it ends when nobody has an answer
		cancel()
	}
	mu.Lock()
	defer mu.Unlock()
	if len(clients) != 2 {
		t.Errorf("%d keys ask: %v", len(clients), clients)
	}
	for key, themes := range clients {
		if slices.Sort(themes); len(slices.Compact(themes)) != 1 {
			t.Errorf("%s asks for %q", key, themes)
		}
	}
}

// opened is a stream to a relay on which a circuit is asked for, as a program of somebody
// else's may.
func opened(t *testing.T, from *host.Host, relay *Node, end feedring.PeerID) (network.Stream, error) {
	t.Helper()
	s, err := from.Open(t.Context(), relay.ID(), wire.VerbPass, true)
	check(t, err)
	t.Cleanup(func() { _ = s.Reset() })
	frames := wire.NewStream(s)
	check(t, frames.Send(circuit.RequestTo(end), time.Second))
	var reply feedringv1.PassReply
	check(t, frames.Receive(&reply, 5*time.Second))
	_, err = circuit.ReplyFrom(&reply)
	return s, err
}

func stranger(t *testing.T, peers ...*Node) *host.Host {
	t.Helper()
	h, err := host.New(t.Context(), host.Config{Network: "bench", Client: true, Logger: quiet})
	check(t, err)
	t.Cleanup(func() { _ = h.Close() })
	for _, n := range peers {
		_, err := h.Given(at(n))
		check(t, err)
	}
	return h
}

func newKey(t *testing.T) (crypto.PrivKey, feedring.PeerID) {
	t.Helper()
	h := stranger(t)
	return h.PrivateKey(), h.ID()
}

// TestRelaysAreNoProxy: a relay refuses an end that it does not know, itself, and who asks; the
// end of a circuit passes nothing on.
func TestRelaysAreNoProxy(t *testing.T) {
	w, relay := passNet(t)
	h := stranger(t, relay, w.nodes[0])
	_, unknown := newKey(t)
	for name, c := range map[string]struct {
		end  feedring.PeerID
		want feedringv1.ErrorKind
	}{
		"unknown":  {unknown, feedringv1.ErrorKind_ERROR_KIND_UNKNOWN},
		"itself":   {relay.ID(), feedringv1.ErrorKind_ERROR_KIND_BAD_REQUEST},
		"who asks": {h.ID(), feedringv1.ErrorKind_ERROR_KIND_BAD_REQUEST},
	} {
		_, err := opened(t, h, relay, c.end)
		if refused := new(wire.RemoteError); !errors.As(err, &refused) || refused.Kind != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	key, _ := newKey(t)
	raw, err := h.Open(t.Context(), relay.ID(), wire.VerbPass, true)
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c, err := circuit.Dial(ctx, raw, key, "bench", w.nodes[0].ID())
	check(t, err)
	defer c.Close()
	for _, verb := range []feedring.Verb{wire.VerbPass, wire.VerbPoll, wire.VerbSealed, "", wire.VerbInfo} {
		one, err := c.Open(t.Context(), verb)
		check(t, err)
		frames := wire.NewStream(one)
		_ = frames.Send(&feedringv1.InfoRequest{}, time.Second)
		var reply feedringv1.InfoReply
		if err := frames.Receive(&reply, 5*time.Second); (err == nil) != (verb == wire.VerbInfo) {
			t.Errorf("%q within a circuit: %v", verb, err)
		}
	}
}

// TestCircuitsAreFew: a relay carries so many circuits, and four of one address; who gives
// one back makes room.
func TestCircuitsAreFew(t *testing.T) {
	w, relay := passNet(t, func(c *Config) { c.Pass = 2 })
	h := stranger(t, relay)
	var open []network.Stream
	for range 2 {
		s, err := opened(t, h, relay, w.nodes[0].ID())
		check(t, err)
		open = append(open, s)
	}
	_, err := opened(t, h, relay, w.nodes[1].ID())
	refused := new(wire.RemoteError)
	if !errors.As(err, &refused) || refused.Kind != feedringv1.ErrorKind_ERROR_KIND_BUSY {
		t.Fatalf("a third of two: %v", err)
	}
	_ = open[0].Reset()
	benchUntil(t, "room", func() bool {
		_, err := opened(t, h, relay, w.nodes[1].ID())
		return err == nil
	})
}

// TestNoRelayMeansNoQuestion: where the relay is away, passes nothing on, or is the one to
// answer, the question fails, and nobody else is connected to.
func TestNoRelayMeansNoQuestion(t *testing.T) {
	w, relay := passNet(t, func(c *Config) { c.Pass = 0 })
	q := feedring.Query{Theme: "news"}
	ask := func(c *client.Client) error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Query(ctx, q)
		return err
	}
	if err := ask(w.reader(at(relay), at(w.nodes[1]))); !errors.Is(err, client.ErrRelay) || !strings.Contains(err.Error(), "name another relay") {
		t.Errorf("a relay that passes nothing on: %v", err)
	}
	kill(relay)
	began := time.Now()
	if err := ask(w.reader(at(relay), at(w.nodes[1]))); !errors.Is(err, client.ErrRelay) {
		t.Errorf("a relay that is away: %v", err)
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("that took %v", took)
	}
	_, err := client.New(t.Context(), client.Config{Network: "x-" + strings.Repeat("a", 26), Via: at(relay), Logger: quiet})
	if !errors.Is(err, client.ErrViaCharter) {
		t.Errorf("a network with a charter: %v", err)
	}
	if err := w.reader(at(relay)).Follow(t.Context(), feedring.Query{}, client.FollowOptions{}, nil); !errors.Is(err, client.ErrViaAll) {
		t.Errorf("a follow of all groups: %v", err)
	}
}

// TestFollowerResumesAtAnotherRelay: a relay is lost, and the follower is shown everything
// once, in order, through another one.
func TestFollowerResumesAtAnotherRelay(t *testing.T) {
	w, relay := passNet(t)
	second := w.start("weather", "second.example", func(c *Config) { c.Refresh = time.Second })
	benchUntil(t, "a map of three groups", func() bool { return len(relay.loop.View().Ring) == 3 && len(second.loop.View().Ring) == 3 })
	c := w.reader(client.AnyRelay, at(relay))
	var mu sync.Mutex
	var shown []string
	begun := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		o := client.FollowOptions{First: func(client.Answer) error { close(begun); return nil }}
		err := c.Follow(ctx, feedring.Query{Theme: "news"}, o, func(e feedring.Entry, _ feedring.Cursor) error {
			mu.Lock()
			defer mu.Unlock()
			shown = append(shown, e.Title)
			return nil
		})
		if ctx.Err() == nil {
			t.Error("the follower ends:", err)
		}
	})
	select {
	case <-begun:
	case <-time.After(20 * time.Second):
		t.Fatal("the follower does not begin")
	}
	all := func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(shown) }
	var want []string
	for i := range 20 {
		if i == 10 {
			kill(relay)
		}
		want = append(want, fmt.Sprintf("story %02d", i))
		w.publish(w.nodes[0], want[i])
		if i != 10 {
			benchUntil(t, "what is new is shown", func() bool { return i == 10 || len(all()) == len(want) })
		}
	}
	if got := all(); !slices.Equal(got, want) {
		t.Errorf("%q are shown", got)
	}
}
