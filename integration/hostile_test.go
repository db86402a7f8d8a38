package integration

import (
	"bytes"
	"context"
	varint "encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// stranger is a host that keeps no rule.
type stranger struct {
	t      testing.TB
	lib    libhost.Host
	sealer *wire.Sealer // of the victims' network
	other  *wire.Sealer // of another one
	victim libpeer.AddrInfo
}

func newStranger(t testing.TB, victim *peer) *stranger {
	t.Helper()
	return newStrangerAt(t, victim.addr, "127.0.0.1")
}

// newStrangerAt is a stranger that connects from an address of this machine.
func newStrangerAt(t testing.TB, victim, ip string) *stranger {
	t.Helper()
	s, err := strangerAt(t, victim, ip)
	must(t, err)
	t.Cleanup(func() { _ = s.lib.Close() })
	return s
}

// strangerAt is newStrangerAt where the victim may refuse the connection. Who calls it
// closes the host.
func strangerAt(t testing.TB, victim, ip string) (*stranger, error) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(nil)
	must(t, err)
	limits, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(rcmgr.InfiniteLimits))
	must(t, err)
	lib, err := libp2p.New(libp2p.Identity(key), libp2p.ListenAddrStrings("/ip4/"+ip+"/tcp/0"), libp2p.DisableRelay(),
		libp2p.ResourceManager(limits), libp2p.ProtocolVersion("feedring/main"))
	must(t, err)
	s := &stranger{t: t, lib: lib}
	s.sealer, err = wire.NewSealer(key, "main")
	must(t, err)
	s.other, err = wire.NewSealer(key, "other")
	must(t, err)
	info, err := libpeer.AddrInfoFromString(victim)
	must(t, err)
	s.victim = *info
	if err := lib.Connect(t.Context(), s.victim); err != nil {
		_ = lib.Close()
		return nil, err
	}
	return s, nil
}

// facing is the same stranger towards another victim.
func (s *stranger) facing(victim *peer) *stranger {
	s.t.Helper()
	info, err := libpeer.AddrInfoFromString(victim.addr)
	must(s.t, err)
	must(s.t, s.lib.Connect(s.t.Context(), *info))
	to := *s
	to.victim = *info
	return &to
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// protocols are those of the victim that are feedring's own.
func (s *stranger) protocols() []protocol.ID {
	var own []protocol.ID
	until(s.t, 20*time.Second, "the victim's protocols", func() bool {
		all, err := s.lib.Peerstore().GetProtocols(s.victim.ID)
		must(s.t, err)
		own = own[:0]
		for _, p := range all {
			if strings.HasPrefix(string(p), "/feedring/main/") {
				own = append(own, p)
			}
		}
		return len(own) > 20
	})
	return own
}

// write opens a stream, writes and goes away in the given manner. What the
// victim does about it is not looked at.
func (s *stranger) write(p protocol.ID, b []byte, stay bool) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
	defer cancel()
	stream, err := s.lib.NewStream(ctx, s.victim.ID, p)
	if err != nil {
		if s.lib.Network().Connectedness(s.victim.ID) != 1 {
			_ = s.lib.Connect(ctx, s.victim) // thrown out: comes again
		}
		return
	}
	_ = stream.SetWriteDeadline(time.Now().Add(2 * time.Second))
	_, _ = stream.Write(b)
	if !stay {
		_ = stream.Close()
	}
}

// say sends well-formed messages, sealed or not as they are: those of one verb
// behind each other on one stream, since a peer that opens many is cut short.
func (s *stranger) say(sealer *wire.Sealer, spoil func([]byte), messages ...feedring.Message) {
	streams := make(map[feedring.Verb][]byte)
	var order []feedring.Verb
	for _, m := range messages {
		frame, err := codec.Encode(sealer, m)
		must(s.t, err)
		if spoil != nil {
			spoil(frame)
		}
		if streams[m.Verb()] == nil {
			order = append(order, m.Verb())
		}
		streams[m.Verb()] = append(streams[m.Verb()], frame...)
	}
	for _, verb := range order {
		s.write(wire.ProtocolID("main", verb), streams[verb], false)
	}
}

// usurpation is every message by which a peer claims to be manager, under a
// number.
func (s *stranger) usurpation(number uint64) []feedring.Message {
	news := feedring.Theme("news").Group()
	me := s.sealer.ID()
	term := feedring.Term{Number: number, Claimant: me}
	h, claim := group.Header{Group: news, Term: term}, group.Claim{Group: news, Term: term}
	return []feedring.Message{
		group.Confirmation{Header: h, Claim: claim, Secondary: me},
		group.Beacon{Header: h, Claim: claim, Number: 1 << 60, Secondary: me, Acknowledged: 1000},
		group.Refresh{Header: h, Claim: claim, Version: 1 << 60},
		group.Stale{Header: h, Claim: claim, Secondary: me, Acknowledged: true},
		group.Intention{Header: h, Proposed: number, Elapsed: time.Hour, Nonce: 1},
		group.HandOver{Header: h},
		group.Replace{Header: h, Secondary: me},
	}
}

// row is a row of the stranger's own.
func (s *stranger) row() group.Row {
	return group.Row{
		Group: feedring.Theme("news").Group(), Peer: s.sealer.ID(), Incarnation: 1, Version: 1,
		Feeds: []feedring.Feed{{URL: "http://127.0.0.1/stranger", Provider: "stranger"}},
	}
}

// TestHostilePeers lets a stranger do what no peer does: the group keeps its
// manager and its term, the peer serves on, and neither its memory nor its log
// grows much.
func TestHostilePeers(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "3s") // on a loaded machine nobody misses the manager for so long
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 6 })
	m := n.manager("news", p, q)
	term := n.catalogue(m, "news").num("term")
	logged := len(p.errors()) + len(q.errors())

	for _, victim := range []*peer{p, q} {
		s := newStranger(t, victim)
		s.garbage()
		s.say(s.other, nil, s.usurpation(uint64(term)+1)...)
		s.say(s.sealer, func(frame []byte) { frame[len(frame)-1] ^= 1 }, s.usurpation(uint64(term)+1)...)
		s.say(s.sealer, nil, s.usurpation(uint64(term)+1)...)
		s.say(s.sealer, nil, s.usurpation(1<<63)...)
		s.say(s.sealer, nil, s.usurpation(1)...)
		var streams sync.WaitGroup
		for range 1000 {
			streams.Go(func() { s.write(wire.ProtocolID("main", wire.VerbAsk), nil, true) })
		}
		streams.Wait()
		if r := n.query(victim, "--theme", "news"); r.code != 0 || len(r.entries()) != 6 || r.took > 5*time.Second {
			t.Errorf("after the attack, in %s: %v", r.took, r)
		}
		if c := n.catalogue(victim, "news"); c.str("manager") != m.id || c.num("term") != term {
			t.Errorf("the group has term %d and manager %s, had %d and %s", c.num("term"), c.str("manager"), term, m.id)
		}
		if mib := victim.resident(t); mib > 250 {
			t.Errorf("%d MiB are resident", mib)
		}
	}
	if more := len(p.errors()) + len(q.errors()) - logged; more > 4000 {
		t.Errorf("%d bytes of log", more)
	}
}

// garbage opens every protocol with what is no message of it.
func (s *stranger) garbage() {
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 4096)
	_, _ = random.Read(noise)
	large := varint.AppendUvarint(nil, 4<<20+1)
	for _, p := range s.protocols() {
		s.write(p, noise, false)
		s.write(p, append(varint.AppendUvarint(nil, 4000), noise[:4000]...), false)
		s.write(p, append(bytes.Clone(large), noise...), false)
		s.write(p, bytes.Repeat([]byte{0xff}, 64), false)
		s.write(p, varint.AppendUvarint(nil, 4<<20), true) // and then silence
		s.write(p, append(varint.AppendUvarint(nil, 4000), noise[:10]...), true)
		s.write(p, nil, false)
	}
}

// resident is the resident memory of a process, MiB.
func (p *process) resident(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		lacking(t, "proc", "this system does not tell the memory of a process: %v", err)
	}
	for text := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(text, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			must(t, err)
			return kib >> 10
		}
	}
	return 0
}
