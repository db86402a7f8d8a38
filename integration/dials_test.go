package integration

import (
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/ring"
)

// bystander is a machine that takes no part in the network, and counts who connects to it.
type bystander struct {
	addrs []string
	calls atomic.Int64
}

// newBystander listens at several ports of an address of this machine, and ends every
// connection at once.
func newBystander(t *testing.T, ip string) *bystander {
	t.Helper()
	b := &bystander{}
	for range 4 {
		l, err := net.Listen("tcp4", ip+":0")
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		b.addrs = append(b.addrs, fmt.Sprintf("/ip4/%s/tcp/%d", ip, l.Addr().(*net.TCPAddr).Port))
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				b.calls.Add(1)
				_ = conn.Close()
			}
		}()
	}
	return b
}

// TestAddressesOfBystanders has strangers put the addresses of a machine that takes no part
// into the rows of a thousand made-up managers, and into the rows of members that go away
// then. The peers that believe them leave that machine alone.
func TestAddressesOfBystanders(t *testing.T) {
	t.Parallel()
	n, p, q, s := newTrio(t, "500ms")
	honest := []*peer{p, q, s}
	victim, begun := newBystander(t, "127.66.6.6"), time.Now()

	m := n.admittedMember(p, q)
	for i := range 3 {
		gone := asMember(newStrangerAt(t, p.byTCP(), fmt.Sprintf("127.9.%d.1", 2+i)))
		gone.row.Version, gone.row.Addrs = 2, victim.addrs
		for _, to := range []*peer{p, q} {
			gone.facing(to).say(gone.sealer, nil, group.Join{Header: group.Header{Group: gone.group}, Row: gone.row})
		}
		gone.hears(2) // it answered one
		must(t, gone.lib.Close())
	}
	verifier := wire.NewVerifier("main")
	for wave := range 4 {
		var rows []*ring.Row
		for i := range 250 {
			key, _, err := crypto.GenerateEd25519Key(nil)
			must(t, err)
			sealer, err := wire.NewSealer(key, "main")
			must(t, err)
			rows = append(rows, groupRow(t, sealer, verifier, fmt.Sprintf("made-up-%d-%d", wave, i), victim.addrs...))
		}
		for _, to := range honest {
			m.facing(to).say(m.sealer, nil, ring.Rows{Rows: rows})
		}
		m.hears(6) // two periods
	}
	took := time.Since(begun)
	got, most := int(victim.calls.Load()), len(honest)*(5+int(took/time.Minute))
	t.Logf("three peers connected %d times in %s", got, took.Round(time.Second))
	if got > most {
		t.Errorf("three peers connected %d times in %s, at most %d may be", got, took, most)
	}
	if got == 0 {
		t.Error("the attack did not take place")
	}
	late := n.peer([]*peer{s}, "news=late@"+newOrigin(t).feed(newFeed("late", 3)))
	until(t, 30*time.Second, "a newcomer's entries at all others", func() bool {
		return !slices.ContainsFunc([]*peer{p, q, late}, func(p *peer) bool {
			return len(n.query(p, "--theme", string(feedring.Theme("news"))).entries()) < 9
		})
	})
}
