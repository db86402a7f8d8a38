package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libnet "github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/codec"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
	"github.com/feedring/feedring/ring"
)

// association is a closed network: its first peer made it.
type association struct {
	*network
	name  string
	roots []string
	first *peer
}

const associationRefresh = 500 * time.Millisecond

func newAssociation(t *testing.T, feeds ...string) *association {
	t.Helper()
	n := newNetwork(t, associationRefresh.String())
	first := n.prepare(nil, feeds...)
	made := command(t, "network", "create", "--label", "Thirty sites", "--json", "--data", first.data)
	if made.code != 0 || len(made.objects) != 1 || len(made.objects[0].list("roots")) != 2 {
		t.Fatalf("create: %v", made)
	}
	a := &association{network: n, name: made.objects[0].str("network"), first: first}
	for _, root := range made.objects[0].list("roots") {
		a.roots = append(a.roots, root.(string))
		info, err := os.Stat(root.(string))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("a root key has mode %04o", info.Mode().Perm())
		}
	}
	n.start(first)
	return a
}

// code has the first peer invite.
func (a *association) code(flags ...string) string {
	a.t.Helper()
	r := command(a.t, append([]string{"network", "invite", "--json", "--data", a.first.data}, flags...)...)
	if r.code != 0 || len(r.objects) != 1 {
		a.t.Fatalf("invite: %v", r)
	}
	return r.objects[0].str("code")
}

// member joins a peer with feeds and starts it.
func (a *association) member(role string, feeds ...string) *peer {
	a.t.Helper()
	p := a.prepare(nil, feeds...)
	a.joins(p.data, a.code("--role", role))
	a.start(p)
	return p
}

func (a *association) joins(data, code string) {
	a.t.Helper()
	if r := command(a.t, "network", "join", code, "--data", data); r.code != 0 {
		a.t.Fatalf("join: %v", r)
	}
}

// refuses wants exit 1 and a line with a word.
func (a *association) refuses(word string, args ...string) {
	a.t.Helper()
	r := command(a.t, args...)
	if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, word) {
		a.t.Errorf("%v: %v, want exit 1 and %q", args, r, word)
	}
}

// ask queries with what a data directory has.
func (a *association) ask(data string) result {
	return command(a.t, "query", "--theme", "news", "--json", "--data", data)
}

// titles are those of an answer, sorted.
func (r result) titles() (titles []string) {
	for _, e := range r.entries() {
		titles = append(titles, e.str("title"))
	}
	slices.Sort(titles)
	return titles
}

// expelledAt reports whether a peer's roll has a member as expelled.
func (a *association) expelledAt(p *peer, id string) bool {
	for _, m := range command(a.t, "network", "members", "--json", "--data", p.data).objects {
		if m.str("peer") == id {
			return m["expelled"] == true
		}
	}
	return false
}

// TestAssociation is the story of an association: it makes its network, three sites join
// and a reader, strangers get nothing, a site is expelled and gets nothing new, and a
// root key, the other one being lost, admits it anew.
func TestAssociation(t *testing.T) {
	t.Parallel()
	own := newFeed("own", 2)
	a := newAssociation(t, "news=own@"+newOrigin(t).feed(own))
	second := a.member("publish", "news=second@"+newOrigin(t).feed(newFeed("second", 2)))
	third := a.member("publish", "news=third@"+newOrigin(t).feed(newFeed("third", 2)))
	reader := filepath.Join(a.dir, "reader")
	a.joins(reader, a.code("--role", "read"))
	for _, p := range []*peer{a.first, second, third} {
		until(t, 30*time.Second, "three peers and six entries at each peer", func() bool {
			c := a.ownView(p, "news")
			return c != nil && len(c.list("peers")) == 3 && len(a.ask(p.data).entries()) == 6
		})
	}
	if got := a.ask(reader); got.code != 0 || len(got.entries()) != 6 {
		t.Errorf("the reader is answered %v", got)
	}
	if got := command(t, "ring", "--json", "--data", reader); got.code != 0 || len(got.objects) != 1 {
		t.Errorf("the reader sees the ring %v", got)
	}

	// Codes that are of no use.
	code := a.code()
	a.joins(filepath.Join(a.dir, "fourth"), code)
	a.refuses("used up", "network", "join", code, "--data", filepath.Join(a.dir, "fifth"))
	short := a.code("--valid", "1s", "--uses", "1000")
	until(t, 20*time.Second, "an expired code", func() bool {
		r := command(t, "network", "join", short, "--data", filepath.Join(a.dir, fmt.Sprint("late", time.Now().UnixNano())))
		return r.code == 1 && strings.Contains(r.stderr, "expired")
	})
	site, named := newOrigin(t), filepath.Join(a.dir, "named")
	key, err := identity.Load(named)
	must(t, err)
	sealer, err := wire.NewSealer(key, "main")
	must(t, err)
	host := strings.TrimPrefix(site.URL, "http://")
	ofSite := a.code("--site", host)
	a.refuses("site", "network", "join", ofSite, "--data", named)
	site.publish([]byte(`{"network":"main","peers":["` + string(sealer.ID()) + `"]}`))
	a.joins(named, ofSite)
	if r := command(t, "network", "join", code[:len(code)-2], "--data", filepath.Join(a.dir, "fifth")); r.code != 2 || !strings.Contains(r.stderr, "no invitation") {
		t.Errorf("a part of a code: %v", r)
	}

	// Clients and peers without a credential.
	none := filepath.Join(a.dir, "none")
	for _, args := range [][]string{
		{"query", "--theme", "news"}, {"query", "--provider", "own"}, {"follow", "--theme", "news"}, {"catalog", "news"}, {"ring"},
	} {
		a.refuses("credential", append(args, "--json", "--data", none, "--peer", a.first.addr, "--network", a.name)...)
	}
	a.refuses("credential", "query", "--theme", "news", "--json", "--data", none, "--peer", a.first.addr)
	stranger := a.prepare([]*peer{a.first}, "news=stranger@"+newOrigin(t).feed(newFeed("stranger", 2)))
	stranger.args = append(stranger.args, "--network", a.name)
	a.start(stranger)
	a.refuses("credential", "query", "--theme", "news", "--json", "--data", stranger.data)
	if status := command(t, "status", "--data", stranger.data, "--json"); !strings.Contains(status.stdout, "no credential") || !strings.Contains(stranger.errors(), "no credential") {
		t.Errorf("the stranger's status says %v", status)
	}

	// The expulsion: everywhere within a few rounds, and nothing new afterwards.
	follower := start(t, "follow", "--theme", "news", "--json", "--data", reader)
	follower.event(t, 20*time.Second, "the reader's first answer", func(o object) bool { return o.str("event") == "answered" })
	before := a.ask(third.data).titles()
	if r := command(t, "network", "expel", third.id, "--reason", "sold", "--data", a.first.data); r.code != 0 {
		t.Fatalf("expel: %v", r)
	}
	took := until(t, 20*time.Second, "the expulsion at all", func() bool {
		return a.expelledAt(a.first, third.id) && a.expelledAt(second, third.id) && a.expelledAt(third, third.id)
	})
	t.Logf("the expulsion was at all three peers after %s, with a round of %s", took.Round(time.Millisecond), associationRefresh)
	own.add("after the expulsion", "about things", time.Time{})
	follower.event(t, 20*time.Second, "the new entry at the reader", func(o object) bool { return o.str("title") == "after the expulsion" })
	until(t, 20*time.Second, "the new entry at the second peer", func() bool {
		return slices.Contains(a.ask(second.data).titles(), "after the expulsion")
	})
	for _, title := range a.ask(third.data).titles() {
		if !slices.Contains(before, title) {
			t.Errorf("the expelled peer has got %q", title)
		}
	}
	until(t, 20*time.Second, "the expelled peer without a connection", func() bool {
		status := command(t, "status", "--data", third.data, "--json")
		return len(status.objects) == 1 && status.objects[0].num("peers") == 0 && strings.Contains(status.stdout, "expelled")
	})
	if r := command(t, "doctor", "--data", third.data); r.code != 1 || !strings.Contains(r.stdout, "FAIL  membership: this peer was expelled") {
		t.Errorf("doctor: %v", r)
	}
	for _, words := range [][]string{{"query", "--theme", "news"}, {"ring"}} {
		if r := command(t, append(words, "--data", third.data)...); !strings.Contains(r.stderr, "this peer was expelled from its network, and is served nothing new") {
			t.Errorf("%v at the expelled peer: %v", words, r)
		}
	}
	if r := command(t, "query", "--data", third.data); r.code != 4 || !strings.Contains(r.stderr, `"feedring doctor`) {
		t.Errorf("every group asked at the expelled peer: %v", r)
	}
	// Its readers are told that it is not their fault.
	a.refuses("the other side was expelled", "query", "--theme", "news", "--data", reader, "--peer", third.addr)
	silent := start(t, "follow", "--theme", "news", "--data", reader, "--peer", third.addr)
	until(t, 20*time.Second, "the reason why nothing comes", func() bool { return strings.Contains(silent.errors(), "the other side was expelled") })
	own.add("told to nobody there", "about things", time.Time{})
	until(t, 20*time.Second, "a later entry", func() bool { return slices.Contains(a.ask(second.data).titles(), "told to nobody there") })
	if n := strings.Count(silent.errors(), "the other side was expelled"); n != 1 {
		t.Errorf("the reason is told %d times", n)
	}
	third.stop(t, 10*time.Second)
	a.refuses("credential", "query", "--theme", "news", "--json", "--data", third.data)

	// An admin does not admit it anew, and the second root does.
	a.refuses("root", "network", "admit", third.id, "--data", a.first.data)
	must(t, os.Remove(a.roots[0]))
	if r := command(t, "network", "admit", third.id, "--root", a.roots[1], "--data", a.first.data); r.code != 0 {
		t.Fatalf("admit: %v", r)
	}
	// Its own roll says that it was expelled: it learns of its new credential at its next hello.
	a.start(third)
	until(t, 30*time.Second, "the peer that was admitted anew", func() bool {
		return slices.Contains(a.ask(third.data).titles(), "after the expulsion")
	})

	// A code that nobody answers.
	unanswered := a.code()
	a.first.signal(syscall.SIGKILL)
	<-a.first.done
	a.refuses("does not answer", "network", "join", unanswered, "--data", filepath.Join(a.dir, "sixth"), "--timeout", "5s")
	until(t, 30*time.Second, "an answer without the first peer", func() bool { return len(a.ask(reader).entries()) > 0 })
}

// TestServeTakesAnInvitationOrACharter: a peer that is started with an invitation is a member,
// now and at each later start, however used up the code is. One that is started with the charter
// waits until it is given a credential.
func TestServeTakesAnInvitationOrACharter(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	a := newAssociation(t, "news=first@"+o.feed(newFeed("first", 2)))
	code := a.code()
	second := a.prepare(nil)
	second.args = append(second.args, "--network", code)
	a.start(second)
	answers := func(p *peer) func() bool {
		return func() bool { return len(a.ask(p.data).titles()) == 2 }
	}
	until(t, 30*time.Second, "the invited peer's answer", answers(second))
	if exit := second.stop(t, 10*time.Second); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	a.start(second)
	until(t, 30*time.Second, "the invited peer's answer after a restart", answers(second))

	late := a.prepare(nil)
	a.refuses("used up", append(slices.Clone(late.args), "--network", code)...)
	late.args = append(late.args, "--network", filepath.Join(a.first.data, "network", "charter"), "--join", a.first.addr, "--read", "news")
	a.start(late)
	if all := command(t, "status", "--json", "--data", late.data).stdout; !strings.Contains(all, "no credential") {
		t.Errorf("with the charter alone the status says %s", all)
	}
	a.refuses("credential", "query", "--theme", "news", "--data", late.data)
	if r := command(t, "network", "admit", late.id, "--data", a.first.data); r.code != 0 {
		t.Fatalf("admit: %v", r)
	}
	until(t, 60*time.Second, "the admitted peer's answer", answers(late))
	until(t, 60*time.Second, "the admitted peer in the group", func() bool {
		return strings.Contains(command(t, "catalog", "news", "--json", "--data", a.first.data).stdout, late.id)
	})

	open := a.prepare(nil)
	a.start(open)
	if exit := open.stop(t, 10*time.Second); exit != 0 {
		t.Fatalf("exit %d", exit)
	}
	a.refuses("takes its feeds and settings along", append(slices.Clone(open.args), "--network", a.code())...)
}

// outsider is a libp2p host without a credential, which counts what it is told.
type outsider struct {
	t    *testing.T
	lib  libhost.Host
	told atomic.Int64 // bytes on streams that others opened
}

func newOutsider(t *testing.T, network string) *outsider {
	t.Helper()
	lib, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.ProtocolVersion("feedring/"+network))
	must(t, err)
	t.Cleanup(func() { _ = lib.Close() })
	o := &outsider{t: t, lib: lib}
	for _, verb := range append(codec.Verbs(), wire.VerbRoll, wire.VerbPoll, wire.VerbInfo, wire.VerbAttach, wire.VerbAsk) {
		lib.SetStreamHandler(wire.ProtocolID(network, verb), func(s libnet.Stream) {
			n, _ := io.Copy(io.Discard, s)
			o.told.Add(n)
		})
	}
	return o
}

// asks opens a stream and returns what comes back.
func (o *outsider) asks(of *peer, p protocol.ID, frame []byte) []byte {
	info, err := libpeer.AddrInfoFromString(of.addr)
	must(o.t, err)
	ctx, cancel := context.WithTimeout(o.t.Context(), 5*time.Second)
	defer cancel()
	must(o.t, o.lib.Connect(ctx, *info))
	s, err := o.lib.NewStream(ctx, info.ID, p)
	if err != nil {
		return nil
	}
	defer s.Reset()
	must(o.t, s.SetDeadline(time.Now().Add(time.Second)))
	_, _ = s.Write(frame)
	_ = s.CloseWrite()
	answer, _ := io.ReadAll(s)
	return answer
}

// TestOutsidersAreToldNothing: with raw libp2p and HTTP, no verb but hello is answered
// and no route but health, in a closed network.
func TestOutsidersAreToldNothing(t *testing.T) {
	t.Parallel()
	url := newOrigin(t).feed(newFeed("own", 3))
	a := newAssociation(t, "news=own@"+url)
	second := a.member("publish", "news=second@"+newOrigin(t).feed(newFeed("second", 3)))
	until(t, 30*time.Second, "six entries", func() bool { return len(a.ask(second.data).entries()) == 6 })
	o := newOutsider(t, a.name)

	info, err := wire.AppendFrame(nil, &feedringv1.InfoRequest{Theme: "news"})
	must(t, err)
	all, err := wire.AppendFrame(nil, &feedringv1.InfoRequest{})
	must(t, err)
	poll, err := wire.AppendFrame(nil, polls.RequestTo(polls.Request{Feed: feedring.FeedRef{URL: url, Publisher: feedring.PeerID(a.first.id)}}))
	must(t, err)
	swap, err := codec.Encode(nil, ring.Swap{Hash: 1})
	must(t, err)
	hello, err := wire.AppendFrame(nil, &feedringv1.Hello{})
	must(t, err)
	verbs := map[protocol.ID][]byte{wire.ProtocolID(a.name, wire.VerbRoll): nil}
	for _, verb := range append(codec.Verbs(), wire.VerbPoll, wire.VerbInfo, wire.VerbAttach, wire.VerbAsk, wire.VerbPresence, "kad") {
		verbs[wire.ProtocolID(a.name, verb)] = []byte{0}
	}
	delete(verbs, wire.ProtocolID(a.name, "kad"))
	verbs[protocol.ID("/feedring/"+a.name+"/kad/1.0.0")] = []byte{2, 8, 4} // FIND_NODE
	verbs[wire.ProtocolID(a.name, "swap")] = swap
	verbs[wire.ProtocolID(a.name, wire.VerbPoll)] = poll
	verbs[wire.ProtocolID(a.name, wire.VerbInfo)] = slices.Concat(info, all)
	sum := 0
	for p, frame := range verbs {
		answer := o.asks(a.first, p, frame)
		if sum += len(answer); len(answer) > 0 {
			t.Errorf("%s answers %d bytes", p, len(answer))
		}
	}
	answer := o.asks(a.first, wire.ProtocolID(a.name, wire.VerbHello), hello)
	var said feedringv1.Hello
	if err := wire.NewStream(&onlyAnswer{strings.NewReader(string(answer))}).Receive(&said, 0); err != nil {
		t.Errorf("hello: %v", err)
	}
	if said.GetRefusal() != feedringv1.HelloRefusal_HELLO_REFUSAL_CREDENTIAL || said.GetMode() != 1 || len(said.GetStatements()) > 0 {
		t.Errorf("hello is answered %v", &said)
	}
	t.Logf("%d verbs: %d bytes, and %d on streams of their own", len(verbs), sum, o.told.Load())
	if o.told.Load() > 0 {
		t.Errorf("the outsider was told %d bytes", o.told.Load())
	}
	until(t, 20*time.Second, "the connection's end", func() bool { return len(o.lib.Network().Conns()) == 0 })

	get := func(path, token string) (int, int64) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.first.http+path, nil)
		must(t, err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		n, _ := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		return resp.StatusCode, n
	}
	for _, path := range []string{
		"/", "/group/news", "/metrics", "/api/v1/status", "/api/v1/ring", "/api/v1/catalog/news", "/api/v1/entries", "/api/v1/entries.atom", "/api/v1/stream",
		"/f/own/own", "/api/v1/subscriptions", "//api/v1/ring", "/livez/../api/v1/ring", "/api/v1/entries?theme=news",
	} {
		if status, n := get(path, ""); status < 300 {
			t.Errorf("%s answers %d with %d bytes", path, status, n)
		}
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if status, _ := get(path, ""); status != http.StatusOK {
			t.Errorf("%s answers %d", path, status)
		}
	}
	token, err := os.ReadFile(filepath.Join(a.first.data, "token"))
	must(t, err)
	if status, _ := get("/api/v1/ring", strings.TrimSpace(string(token))); status != http.StatusOK {
		t.Errorf("with the token the ring answers %d", status)
	}
}

// onlyAnswer is a stream of which only the answer is left.
type onlyAnswer struct{ io.Reader }

func (*onlyAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (*onlyAnswer) Close() error                { return nil }

// TestReadersPublishNothing: the peer of a member whose credential lets it read only founds no
// group, offers none of its feeds and takes no others for a theme. Once it may publish it does
// so, without a restart.
func TestReadersPublishNothing(t *testing.T) {
	t.Parallel()
	a := newAssociation(t, "news=own@"+newOrigin(t).feed(newFeed("own", 2)))
	reader := a.member("read", "sport=reader@"+newOrigin(t).feed(newFeed("reader", 2)))
	until(t, 30*time.Second, "the publisher's entries at the reader's peer", func() bool { return len(a.ask(reader.data).entries()) == 2 })
	status := command(t, "status", "--data", reader.data, "--json")
	if len(status.objects) != 1 || len(status.objects[0].list("roles")) != 0 || !strings.Contains(status.stdout, "so it publishes no feed") {
		t.Errorf("the reader's peer says %v", status)
	}
	if log := reader.errors(); !strings.Contains(log, "lets it read only: it takes part in no group, and publishes no feed") {
		t.Errorf("its log says %s", log)
	}
	other := newOrigin(t).feed(newFeed("other", 1))
	a.refuses("lets it read only", "feed", "add", other, "--theme", "news", "--data", reader.data)
	if r := command(t, "feed", "add", other, "--data", reader.data); r.code != 0 {
		t.Errorf("a private feed: %v", r)
	}
	for _, p := range []*peer{a.first, reader} {
		if r := command(t, "ring", "--data", p.data, "--json"); len(r.objects) != 1 || r.objects[0].str("manager") != a.first.id {
			t.Errorf("the groups are %v", r)
		}
	}
	if r := command(t, "network", "admit", reader.id, "--role", "publish", "--data", a.first.data); r.code != 0 {
		t.Fatalf("admit: %v", r)
	}
	until(t, 30*time.Second, "its entries at the publisher's peer", func() bool {
		return len(command(t, "query", "--theme", "sport", "--json", "--data", a.first.data).entries()) == 2
	})
}
