package integration

import (
	bytesof "encoding/binary"
	"io"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a port of the air: what is said into it, and what came, and when.
type pipe struct {
	say chan []byte
	mu  sync.Mutex
	got []arrival
}

type arrival struct {
	number uint32
	at     time.Time
}

func (p *pipe) Read(b []byte) (int, error) {
	packet, ok := <-p.say
	if !ok {
		return 0, io.EOF
	}
	return copy(b, packet), nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, arrival{bytesof.BigEndian.Uint32(b[20:]), time.Now()})
	return len(b), nil
}

func (p *pipe) arrived() []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

var (
	east, west = netip.MustParseAddr("25.7.0.1"), netip.MustParseAddr("25.7.0.2")
	nowhere    = netip.MustParseAddr("25.7.0.9")
)

func packet(from, to netip.Addr, number int) []byte {
	b := make([]byte, 24)
	b[0] = 0x45
	copy(b[12:], from.AsSlice())
	copy(b[16:], to.AsSlice())
	bytesof.BigEndian.PutUint32(b[20:], uint32(number))
	return b
}

// through sends n packets from east to west and as many back, a millisecond
// apart, and returns what arrived at west and at east.
func through(a *lossyLink, n int) (atWest, atEast []arrival) {
	one, two := &pipe{say: make(chan []byte)}, &pipe{say: make(chan []byte)}
	var wg sync.WaitGroup
	wg.Go(func() { a.attach(east, one) })
	wg.Go(func() { a.attach(west, two) })
	synctest.Wait()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range n {
		one.say <- packet(east, west, i)
		two.say <- packet(west, east, i)
		<-tick.C
	}
	time.Sleep(time.Minute) // virtual; no conditions keep a packet that long
	close(one.say)
	close(two.say)
	wg.Wait()
	return two.arrived(), one.arrived()
}

// TestLink measures the conditions that the link makes.
func TestLink(t *testing.T) {
	t.Parallel()
	const n = 20000
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		got, _ := through(newLossyLink(1, conditions{delay: 50 * time.Millisecond, jitter: 20 * time.Millisecond, loss: 0.05, twice: 0.01}), n)
		least, most, late := time.Hour, time.Duration(0), 0
		times := make(map[uint32]int)
		for i, g := range got {
			took := g.at.Sub(begun.Add(time.Duration(g.number) * time.Millisecond))
			least, most = min(least, took), max(most, took)
			if i > 0 && g.number < got[i-1].number {
				late++
			}
			times[g.number]++
		}
		if lost := n - len(times); lost < n*45/1000 || lost > n*55/1000 {
			t.Errorf("%d of %d packets were lost, not 5 %%", lost, n)
		}
		if again := len(got) - len(times); again < n*7/1000 || again > n*13/1000 {
			t.Errorf("%d of %d packets came twice, not 1 %%", again, n)
		}
		if least < 30*time.Millisecond || least > 32*time.Millisecond || most > 70*time.Millisecond || most < 68*time.Millisecond {
			t.Errorf("delays of %v to %v, not of 30 to 70 ms", least, most)
		}
		if late < n/10 {
			t.Errorf("only %d packets were overtaken", late)
		}
	})
}

// TestNetworkLosesOneWay cuts one direction, and drops what goes nowhere or comes under
// a false name.
func TestNetworkLosesOneWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newLossyLink(1, conditions{})
		a.set(east, west, conditions{cut: true})
		if atWest, atEast := through(a, 100); len(atWest) != 0 || len(atEast) != 100 {
			t.Errorf("%d packets passed the cut, %d of 100 went the other way", len(atWest), len(atEast))
		}
		a.clear()
		if atWest, _ := through(a, 100); len(atWest) != 100 {
			t.Errorf("%d of 100 packets passed when the cut was healed", len(atWest))
		}
		for _, p := range [][]byte{packet(east, nowhere, 0), packet(nowhere, west, 0), {0x60}, nil} {
			before := a.passed
			if a.forward(east, p); a.passed != before {
				t.Errorf("%x was forwarded", p)
			}
		}
	})
}

// TestLinkRepeats shows that a seed gives the same conditions again, and another
// seed another.
func TestLinkRepeats(t *testing.T) {
	t.Parallel()
	fates := func(seed uint64) (all []time.Duration) {
		a := newLossyLink(seed, conditions{delay: time.Second, jitter: time.Second, loss: 0.3, twice: 0.3})
		for range 100 {
			all = append(append(all, a.fate(way{east, west})...), -1)
		}
		return all
	}
	if !slices.Equal(fates(1), fates(1)) {
		t.Error("one seed, two series of fates")
	}
	if slices.Equal(fates(1), fates(2)) {
		t.Error("two seeds, the same fates")
	}
}
