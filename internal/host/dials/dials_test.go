package dials

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/test"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring/internal/outbound"
)

// site is a host whose home is 10.0.0.0/8.
type site struct{}

// Near implements Site.
func (site) Near(at netip.Addr) bool { return netip.MustParsePrefix("10.0.0.0/8").Contains(at) }

const public = "/ip4/198.51.100.7/tcp/7377"

func key(t *testing.T) peer.ID {
	t.Helper()
	id, err := test.RandPeerID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// try dials as libp2p does, and reports whether anything was sent.
func (d *Dials) try(t *testing.T, id peer.ID, at string, answered bool) bool {
	t.Helper()
	a := ma.StringCast(at)
	if !d.May(id, a) {
		return false
	}
	l, err := d.Begin(t.Context(), id, a)
	if err != nil {
		if !errors.Is(err, outbound.ErrSpent) {
			t.Fatal(err)
		}
		return false
	}
	l.End(answered)
	return true
}

// TestDialsInVain: whatever keys are said to be where none of them answers, an address is
// dialled five times, and once a minute.
func TestDialsInVain(t *testing.T) {
	for name, form := range map[string]func(i int) string{
		"one port":       func(int) string { return public },
		"many ports":     func(i int) string { return fmt.Sprintf("/ip4/198.51.100.7/tcp/%d", i%60_000+1) },
		"both ways":      func(i int) string { return []string{public, "/ip4/198.51.100.7/udp/7377/quic-v1"}[i%2] },
		"IPv6 for IPv4":  func(i int) string { return []string{public, "/ip6/::ffff:198.51.100.7/tcp/7377"}[i%2] },
		"made-up relays": func(int) string { return fmt.Sprintf("%s/p2p/%s/p2p-circuit", public, key(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, begun, sent := New(site{}), time.Now(), 0
				for i := 0; time.Since(begun) < 10*time.Minute; i++ {
					if d.try(t, key(t), form(i), false) {
						sent++
					}
					time.Sleep(100 * time.Millisecond) // virtual
				}
				if sent < 14 || sent > 15 {
					t.Errorf("%d dials in ten minutes", sent)
				}
			})
		})
	}
}

// TestManyAddressesInVain: whoever's addresses they are, eight of them are dialled in a
// second, and a hundred in ten minutes because of one key.
func TestManyAddressesInVain(t *testing.T) {
	for name, c := range map[string]struct {
		key         func(*testing.T) peer.ID
		least, most int
	}{
		"many keys": {key, 600*8 + 50, 600*8 + 64},
		"one key":   {func(*testing.T) peer.ID { return "one key" }, 195, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, begun, sent := New(site{}), time.Now(), 0
				for i := 0; time.Since(begun) < 10*time.Minute; i++ {
					if d.try(t, c.key(t), fmt.Sprintf("/ip4/198.%d.%d.7/tcp/1", i/200%200, i%200), false) {
						sent++
					}
					time.Sleep(50 * time.Millisecond) // virtual
				}
				if sent < c.least || sent > c.most {
					t.Errorf("%d dials in ten minutes", sent)
				}
			})
		})
	}
}

// TestProvenAddressesCostNothing: where a key answered, came from, or is by a person's word,
// or which a relay of that kind leads to.
func TestProvenAddressesCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, id, relay, saved := New(site{}), key(t), key(t), key(t)
		for range 100 {
			d.try(t, key(t), public, false)
		}
		if d.try(t, id, public, true) {
			t.Fatal("something is left to draw on")
		}
		d.Prove(id, ma.StringCast(public))
		d.Prove(key(t), ma.StringCast(fmt.Sprintf("%s/p2p/%s/p2p-circuit", public, relay)))
		d.ProveAt(saved, []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::1")})
		for range 100 {
			for _, dial := range []struct {
				id peer.ID
				at string
			}{
				{id, public}, {id, "/ip4/198.51.100.7/udp/9/quic-v1"}, {key(t), fmt.Sprintf("%s/p2p/%s/p2p-circuit", public, relay)},
				{saved, public}, {saved, "/ip6/2001:db8::1/tcp/1"},
			} {
				if !d.try(t, dial.id, dial.at, false) {
					t.Fatalf("%s is refused", dial.at)
				}
			}
		}
		if d.try(t, key(t), public, false) {
			t.Error("another key is let through")
		}
		if got := d.Proven(saved); len(got) != 2 || got[0].String() != "198.51.100.7" {
			t.Errorf("proven: %v", got)
		}
	})
}

// TestNetworkAtOneAddress: any number of peers behind one address are dialled, as long as
// they answer, and at the same time.
func TestNetworkAtOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, begun := New(site{}), time.Now()
		var all sync.WaitGroup
		for range 60 {
			id := key(t)
			all.Go(func() {
				l, err := d.Begin(t.Context(), id, ma.StringCast(public))
				if err != nil {
					t.Error(err)
					return
				}
				if !d.May(id, ma.StringCast(public)) {
					t.Error("what may be given back is not waited for")
				}
				time.Sleep(50 * time.Millisecond) // virtual: the handshakes
				l.End(true)
			})
		}
		all.Wait()
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestNobodyWaitsForLong: dials that wait for others give up when those reached nobody, or
// after a second, and when whoever asks does.
func TestNobodyWaitsForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, a := New(site{}), ma.StringCast(public)
		var pending []*Dial
		for range 5 {
			l, err := d.Begin(t.Context(), key(t), a)
			if err != nil {
				t.Fatal(err)
			}
			pending = append(pending, l)
		}
		begun := time.Now()
		if _, err := d.Begin(t.Context(), key(t), a); !errors.Is(err, outbound.ErrSpent) || time.Since(begun) > patience {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		var all sync.WaitGroup
		for range 2 * maxWaiting {
			all.Go(func() {
				if _, err := d.Begin(t.Context(), key(t), a); !errors.Is(err, outbound.ErrSpent) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if d.waiting != maxWaiting {
			t.Errorf("%d wait", d.waiting)
		}
		begun = time.Now()
		for _, l := range pending {
			l.End(false)
		}
		all.Wait()
		if time.Since(begun) > 0 || d.waiting != 0 || len(d.pending) != 0 {
			t.Errorf("after %s %d wait, %v are pending", time.Since(begun), d.waiting, d.pending)
		}
		if d.May(key(t), a) {
			t.Error("another may")
		}
	})
}

// TestHomeHasItsOwnAccount: dials there take nothing of others; a thousand go out at once, and
// a thousand a second.
func TestHomeHasItsOwnAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, begun, sent := New(site{}), time.Now(), 0
		for range 3000 { // each waits for its turn
			if d.try(t, "somebody", "/ip4/10.1.2.3/tcp/1", false) {
				sent++
			}
		}
		if took := time.Since(begun); sent != 3000 || took != 2*time.Second || !d.try(t, key(t), public, false) {
			t.Errorf("%d dials at home in %s", sent, took)
		}
	})
}

// TestFewWordsAreBelieved: of the places at which a key says to be four are noted, and
// all at which it was proven to be, or that are near.
func TestFewWordsAreBelieved(t *testing.T) {
	d, id := New(site{}), key(t)
	var addrs []ma.Multiaddr
	for i := range 16 {
		addrs = append(addrs, ma.StringCast(fmt.Sprintf("/ip4/198.51.100.%d/tcp/1", i)), ma.StringCast(fmt.Sprintf("/ip4/198.51.100.%d/udp/1/quic-v1", i)))
	}
	near, name := ma.StringCast("/ip4/10.0.0.1/tcp/1"), ma.StringCast("/dns4/victim.example/tcp/1")
	d.ProveAt(id, []netip.Addr{netip.MustParseAddr("198.51.100.15")})
	got := d.Believe(id, append(slices.Clone(addrs), near, name))
	if want := append(slices.Clone(addrs[:8]), addrs[30], addrs[31], near); !slices.EqualFunc(got, want, ma.Multiaddr.Equal) {
		t.Errorf("%v are believed", got)
	}
	if got := d.Believe(id, []ma.Multiaddr{name}); len(got) != 1 {
		t.Error("a name is not believed")
	}
}

// TestManyKeysAreRemembered: the newest, and of each the newest addresses.
func TestManyKeysAreRemembered(t *testing.T) {
	d := New(site{})
	for i := range maxKeys + 100 {
		d.Prove(peer.ID(fmt.Sprint(i)), ma.StringCast(public))
	}
	for i := range 20 {
		d.Prove("one", ma.StringCast(fmt.Sprintf("/ip4/198.51.100.%d/tcp/1", i)))
	}
	if got := d.Proven("one"); len(got) != addrsOfKey || got[0].String() != "198.51.100.19" {
		t.Errorf("%v are remembered", got)
	}
	if d.proven.Len() != maxKeys || d.Proven("0") != nil || d.Proven(peer.ID(fmt.Sprint(maxKeys))) == nil {
		t.Errorf("%d keys are remembered", d.proven.Len())
	}
}
