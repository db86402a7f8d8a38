package integration

import (
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// conditions is what happens to packets from one machine to another. Reordering
// comes of jitter alone: each packet has a delay of its own.
type conditions struct {
	delay, jitter time.Duration // each packet: delay ± jitter, evenly
	loss          float64       // share of packets that never arrive
	twice         float64       // share of packets that arrive two times
	cut           bool          // nothing arrives
}

// way is one direction between two machines.
type way struct{ from, to netip.Addr }

// lossyLink forwards IPv4 packets between ports, as badly as its conditions say. What
// happens to the nth packet follows from the seed.
type lossyLink struct {
	mu     sync.Mutex
	random *rand.Rand
	ports  map[netip.Addr]io.Writer
	calm   conditions         // where nothing else is said
	on     map[way]conditions // instead of calm
	passed int
	lost   int
	late   []time.Duration // how much later than meant packets went on; see countLate
}

func newLossyLink(seed uint64, calm conditions) *lossyLink {
	return &lossyLink{
		random: rand.New(rand.NewPCG(seed, 0)), calm: calm,
		ports: make(map[netip.Addr]io.Writer), on: make(map[way]conditions),
	}
}

// set changes the conditions one way.
func (a *lossyLink) set(from, to netip.Addr, w conditions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.on[way{from, to}] = w
}

// clear makes the conditions calm everywhere.
func (a *lossyLink) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.on)
}

// attach forwards what comes from port, one packet a Read, until that fails.
func (a *lossyLink) attach(at netip.Addr, port io.ReadWriter) {
	a.mu.Lock()
	a.ports[at] = port
	a.mu.Unlock()
	buf := make([]byte, 1<<16)
	for {
		n, err := port.Read(buf)
		if err != nil {
			return
		}
		a.forward(at, buf[:n])
	}
}

// forward gives a packet to the machine it is for, later or never. Nobody sends
// under another's address: that is dropped, and so is all that is not IPv4.
func (a *lossyLink) forward(from netip.Addr, packet []byte) {
	if len(packet) < 20 || packet[0]>>4 != 4 || netip.AddrFrom4([4]byte(packet[12:16])) != from {
		return
	}
	to := netip.AddrFrom4([4]byte(packet[16:20]))
	a.mu.Lock()
	defer a.mu.Unlock()
	port := a.ports[to]
	if port == nil {
		return
	}
	delays := a.fate(way{from, to})
	if len(delays) == 0 {
		a.lost++
		return
	}
	a.passed++
	kept := append([]byte(nil), packet...)
	for _, d := range delays {
		due := time.Now().Add(d)
		time.AfterFunc(d, func() {
			a.countLate(time.Since(due))
			_, _ = port.Write(kept)
		})
	}
}

// countLate remembers how late a packet is, of the last hundred thousand.
func (a *lossyLink) countLate(by time.Duration) {
	const most = 100_000
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.late) == most {
		a.late = append(a.late[:0], a.late[most/2:]...)
	}
	a.late = append(a.late, by)
}

// lateness is how late packets were since it was last asked, in order.
func (a *lossyLink) lateness() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := a.late
	a.late = nil
	slices.Sort(late)
	return late
}

// fate is after which times a packet arrives: never, once or twice. It draws as
// many random numbers whatever the outcome.
func (a *lossyLink) fate(on way) (delays []time.Duration) {
	w, ok := a.on[on]
	if !ok {
		w = a.calm
	}
	lost, twice := a.random.Float64() < w.loss, a.random.Float64() < w.twice
	first, second := w.wait(a.random), w.wait(a.random)
	switch {
	case w.cut || lost:
		return nil
	case twice:
		return []time.Duration{first, second}
	}
	return []time.Duration{first}
}

func (w conditions) wait(random *rand.Rand) time.Duration {
	return max(0, w.delay+time.Duration((2*random.Float64()-1)*float64(w.jitter)))
}
