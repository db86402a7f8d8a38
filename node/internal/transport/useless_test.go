package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// aSealer signs with a key of its own.
func aSealer(t *testing.T) *wire.Sealer {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	check(t, err)
	s, err := wire.NewSealer(key, "test")
	check(t, err)
	return s
}

// viewed is a machine as it was seen.
type viewed struct{ view *peer.View }

func (v viewed) View() *peer.View { return v.view }

// aServer checks messages for what it knows.
func aServer(v *peer.View) *Server {
	return NewServer(context.Background(), ServerConfig{
		Verifier: wire.NewVerifier("test"), Credit: &Credit{}, Views: viewed{v}, Counts: new(refusals.Counts),
	})
}

// body is the frame of a message without its length.
func body(t *testing.T, by *wire.Sealer, m feedring.Message) []byte {
	t.Helper()
	frame, err := codec.Encode(by, m)
	check(t, err)
	for i, b := range frame {
		if b < 0x80 {
			return frame[i+1:]
		}
	}
	t.Fatal("no frame")
	return nil
}

const news = feedring.Theme("news")

// marks are so many of one key that leads no group: each has to be checked, none is news.
func marks(t *testing.T, by *wire.Sealer, first, count int) []byte {
	t.Helper()
	m := ring.Rows{}
	for i := range count {
		m.Lost = append(m.Lost, ring.Lost{Group: news.Group(), Term: feedring.Term{Number: uint64(first + i + 1), Claimant: by.ID()}, Version: 1, By: by.ID()})
	}
	return body(t, by, m)
}

// TestUselessChecksOfOneKey sends message after message of statements that bring no news:
// after the first that goes beyond the budget nothing is checked for ten minutes, and then
// as much again. Another key, and what needs no check, pass meanwhile.
func TestUselessChecksOfOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		manager := aSealer(t)
		s := aServer(&peer.View{Synced: true, Ring: []feedring.RingGroup{{Theme: news, Manager: manager.ID(), Term: 5}}})
		hostile := aSealer(t)
		from := sender{id: hostile.ID()}
		checked := 0
		for i := range 20 {
			_, err := s.decode(from, ring.Rows{}.Verb(), marks(t, hostile, 100*i, 20))
			switch {
			case err == nil:
				checked += 20
			case !errors.Is(err, errUseless):
				t.Fatal(err)
			}
		}
		if checked < uselessOfPeer || checked > uselessOfPeer+20 {
			t.Errorf("%d useless checks for one key", checked)
		}
		if _, err := s.decode(from, ring.Rows{}.Verb(), marks(t, hostile, 0, 20)); err != nil {
			t.Errorf("what was checked before: %v", err)
		}
		if _, err := s.decode(from, ring.Search{}.Verb(), body(t, hostile, ring.Search{})); errors.Is(err, errUseless) {
			t.Errorf("what holds no statement: %v", err)
		}
		other := aSealer(t)
		if _, err := s.decode(sender{id: other.ID()}, ring.Rows{}.Verb(), marks(t, other, 0, 20)); err != nil {
			t.Errorf("another key: %v", err)
		}
		time.Sleep(2 * uselessSpan)
		checked = 0
		for i := range 20 {
			if _, err := s.decode(from, ring.Rows{}.Verb(), marks(t, hostile, 10_000+100*i, 20)); err == nil {
				checked += 20
			}
		}
		if checked < uselessOfPeer || checked > uselessOfPeer+20 {
			t.Errorf("%d useless checks in the next span", checked)
		}
	})
}

// TestWrongSignatures are few before a key is listened to no more.
func TestWrongSignatures(t *testing.T) {
	s := aServer(&peer.View{Synced: true})
	hostile := aSealer(t)
	wrong := 0
	for i := range 20 {
		b := marks(t, hostile, i, 1)
		b[len(b)-1] ^= 1
		if _, err := s.decode(sender{id: hostile.ID()}, ring.Rows{}.Verb(), b); !errors.Is(err, errUseless) {
			wrong++
		}
	}
	if wrong > uselessOfPeer/uselessWrong+1 {
		t.Errorf("%d wrong signatures were checked", wrong)
	}
}

// TestPrefixesShare has many keys of one prefix, each within its own budget.
func TestPrefixesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aServer(&peer.View{Synced: true})
		checked := 0
		for range 50 {
			hostile := aSealer(t)
			if _, err := s.decode(sender{hostile.ID(), "192.0.2.0/24"}, ring.Rows{}.Verb(), marks(t, hostile, 0, 10)); err == nil {
				checked += 10
			}
		}
		if checked < uselessOfPrefix || checked > uselessOfPrefix+10 {
			t.Errorf("%d useless checks for one prefix", checked)
		}
		other := aSealer(t)
		if _, err := s.decode(sender{other.ID(), "198.51.100.0/24"}, ring.Rows{}.Verb(), marks(t, other, 0, 10)); err != nil {
			t.Errorf("another prefix: %v", err)
		}
	})
}

// TestHonestMessagesAreFree sends what honest peers send: rows that are new, again and
// again, a large map to one who has none, and rows that were seen.
func TestHonestMessagesAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		manager := aSealer(t)
		row := func(version uint64) *group.Row {
			return &group.Row{Group: news.Group(), Peer: manager.ID(), Incarnation: 1, Version: version, Addrs: []string{"/ip4/192.0.2.1/tcp/1"}}
		}
		v := &peer.View{Synced: true, Memberships: map[feedring.Theme]*group.View{
			news: {Theme: news, Group: news.Group(), Settled: true, Members: []group.Member{{Row: row(1)}}},
		}}
		s := aServer(v)
		from := sender{id: manager.ID()}
		for version := range uint64(500) {
			m := group.Rows{Header: group.Header{Group: news.Group()}, Rows: []*group.Row{row(version + 2)}}
			b := body(t, manager, m)
			for range 3 {
				if _, err := s.decode(from, m.Verb(), b); err != nil {
					t.Fatalf("version %d: %v", version, err)
				}
			}
		}
		old := group.Rows{Header: group.Header{Group: news.Group()}, Rows: []*group.Row{row(1)}}
		stranger := aSealer(t)
		if got := stale(v, stranger.ID(), old); got != 1 {
			t.Errorf("a row from a stranger counts %d", got)
		}
		if got := stale(v, manager.ID(), old); got != 1 {
			t.Errorf("a row that is held counts %d", got)
		}
		v.Memberships[news].Settled = false
		if got := stale(v, stranger.ID(), old); got != 0 {
			t.Errorf("what a peer without a role asked for counts %d", got)
		}
		v.Synced = false
		if got := stale(v, stranger.ID(), ring.Rows{Lost: []ring.Lost{{By: stranger.ID()}}}); got != 0 {
			t.Errorf("the map that a peer without one asked for counts %d", got)
		}
	})
}

func TestPrefixOf(t *testing.T) {
	for addr, want := range map[string]string{
		"/ip4/8.8.4.4/tcp/1": "8.8.4.0/24", "/ip6/2606:4700:1:2::3/udp/1/quic-v1": "2606:4700:1::/48",
		"/ip4/127.0.0.1/tcp/1": "", "/ip4/10.0.0.1/tcp/1": "",
		"/ip4/8.8.4.4/tcp/1/p2p/12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2/p2p-circuit": "",
	} {
		if got := prefixOf(ma.StringCast(addr)); got != want {
			t.Errorf("%s: %q", addr, got)
		}
	}
}

// TestGate has one sender with many pieces, and others who come later with one each: they
// pass after one of its pieces each, and one who gives up leaves no place behind.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		check(t, g.enter(t.Context(), "many"))
		passed := make(chan feedring.PeerID, 16)
		wait := func(ctx context.Context, from feedring.PeerID) {
			go func() {
				if g.enter(ctx, from) == nil {
					passed <- from
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			wait(t.Context(), "many")
		}
		gone, cancel := context.WithCancel(t.Context())
		wait(gone, "gone")
		wait(t.Context(), "one")
		wait(t.Context(), "two")
		cancel()
		synctest.Wait()
		for i, want := range []feedring.PeerID{"many", "one", "two", "many", "many"} {
			g.leave()
			synctest.Wait()
			if got := <-passed; got != want {
				t.Errorf("turn %d is of %s, not of %s", i, got, want)
			}
		}
		g.leave()
		if g.free != 1 || len(g.turns)+len(g.waiting) != 0 {
			t.Errorf("left behind: %+v", g)
		}
	})
}

// known is which forks are known.
type known struct{ forks, held bool }

func (k known) Known(feedring.Fork) bool   { return k.forks }
func (k known) Held(feedring.FeedRef) bool { return k.held }

// TestEvidenceIsCheckedWhereItIsNews sends evidence of a fork whose signatures are wrong: of a feed that nobody
// publishes, and of a fork that is known, nothing is checked.
func TestEvidenceIsCheckedWhereItIsNews(t *testing.T) {
	publisher, from := aSealer(t), aSealer(t)
	e := wiretest.SampleEntry(publisher.ID())
	fork := feedring.Fork{Feed: e.Ref()}
	for i, title := range []string{"one", "another"} {
		e.Title = title
		fork.Entries[i] = wiretest.SealEntry(t, publisher, e, [32]byte{})
	}
	right := body(t, from, group.Evidence{Header: group.Header{Group: news.Group()}, Fork: fork})
	fork.Entries[1] = &feedring.Seal{Signer: publisher.ID(), Payload: fork.Entries[1].Payload, Signature: fork.Entries[0].Signature}
	wrong := body(t, from, group.Evidence{Header: group.Header{Group: news.Group()}, Fork: fork})
	listed := &peer.View{Memberships: map[feedring.Theme]*group.View{news: {Group: news.Group(), Members: []group.Member{
		{Row: &group.Row{Peer: publisher.ID(), Feeds: []feedring.Feed{{URL: e.Feed}}}},
	}}}}
	for name, c := range map[string]struct {
		view  *peer.View
		forks Forks
		frame []byte
		want  error
	}{
		"of a feed of the group":              {listed, known{}, right, nil},
		"of a feed that is held":              {&peer.View{}, known{held: true}, right, nil},
		"with a wrong signature":              {listed, known{}, wrong, wire.ErrSignature},
		"of a feed that nobody publishes":     {&peer.View{}, known{}, wrong, errKnown},
		"of a fork that is known":             {listed, known{forks: true, held: true}, wrong, errKnown},
		"where this peer keeps no such thing": {listed, nil, wrong, errKnown},
	} {
		s := aServer(c.view)
		s.Forks = c.forks
		if _, err := s.decode(sender{id: from.ID()}, group.Evidence{}.Verb(), c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
