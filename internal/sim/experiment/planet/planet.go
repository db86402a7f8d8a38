// Package planet gives peers the distances of real machines: round trips between
// 189 nodes of PlanetLab, as many as FeedEx ran on, in place of one delay for all.
//
// The data are those of Zhu, Liu, Niu, Li and Zhao, "Network Latency Estimation for
// Personal Devices: A Matrix Completion Approach" (IEEE/ACM Transactions on
// Networking 25, 2017), as published at github.com/uofa-rzhu3/NetLatency-Data
// (commit a584557, PlanetLab/PlanetLabData_1 to _18) under the MIT licence in
// planetlab.LICENSE: 18 matrices of the round trips between 490 nodes. Its README says
// that they are RTTs and names no unit. Milliseconds it must be: the median is 134 and
// the greatest 680, while light in glass needs 100 ms and more for a round trip between
// continents. Both ways of a pair are equal in all 18. One way is taken as half.
package planet

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// unit is what stored times are whole multiples of.
const unit = 10 * time.Microsecond

// Stored is how many nodes the stored matrix has.
const Stored = 189

// stored is written by TestStoredMatrix.
//
//go:embed planetlab.bin
var stored []byte

// pair is the round trip from one node to another, over the times at which it was
// measured.
type pair struct{ median, p90 time.Duration }

// Matrix has the round trips of all ordered pairs of nodes. It does not change.
type Matrix struct {
	nodes int
	pairs []pair // by from × nodes + to
}

// PlanetLab is the stored matrix.
func PlanetLab() *Matrix {
	m, err := decode(bytes.NewReader(stored), Stored)
	if err != nil {
		panic(fmt.Sprintf("planetlab.bin: %v", err)) // the program was built with another file
	}
	return m
}

func newMatrix(nodes int) *Matrix { return &Matrix{nodes, make([]pair, nodes*nodes)} }

func (m *Matrix) at(from, to int) *pair { return &m.pairs[from*m.nodes+to] }

// RTT is the median of the round trips from one node to another.
func (m *Matrix) RTT(from, to int) time.Duration { return m.at(from, to).median }

// decode reads what encode wrote: for all pairs, the one with the lower number first,
// the medians, then how far 90th percentiles are above them, then how far both are
// from those of the way there on the way back.
func decode(in io.Reader, nodes int) (*Matrix, error) {
	raw, err := io.ReadAll(flate.NewReader(in))
	if err != nil {
		return nil, err
	}
	m, failed := newMatrix(nodes), false
	next := func() time.Duration {
		v, n := binary.Varint(raw)
		failed = failed || n <= 0
		raw = raw[max(n, 0):]
		return time.Duration(v) * unit
	}
	m.each(func(there, _ *pair) { there.median = next() })
	m.each(func(there, _ *pair) { there.p90 = there.median + next() })
	m.each(func(there, back *pair) { back.median = there.median + next() })
	m.each(func(there, back *pair) { back.p90 = there.p90 + next() })
	m.each(func(there, back *pair) {
		for _, p := range []*pair{there, back} {
			failed = failed || p.median <= 0 || p.p90 < p.median
		}
	})
	if failed || len(raw) > 0 {
		return nil, fmt.Errorf("not a matrix of %d nodes", nodes)
	}
	return m, nil
}

// each goes through all pairs, both ways at once.
func (m *Matrix) each(do func(there, back *pair)) {
	for i := range m.nodes {
		for j := i + 1; j < m.nodes; j++ {
			do(m.at(i, j), m.at(j, i))
		}
	}
}

// nearest is how far a node is from the one next to it, in the middle of all nodes.
func (m *Matrix) nearest() time.Duration {
	least := make([]time.Duration, m.nodes)
	for i := range least {
		least[i] = time.Hour
		for j := range m.nodes {
			if j != i {
				least[i] = min(least[i], m.RTT(i, j))
			}
		}
	}
	slices.Sort(least)
	return least[len(least)/2]
}

// Places puts peers on the nodes of a matrix, at one moment. It does not change.
type Places struct {
	matrix *Matrix
	node   []int           // of peer i, for as many peers as there are nodes
	trip   []time.Duration // a round trip at that moment, as Matrix.pairs
	near   time.Duration   // between peers on one node
}

// Places draws who is where, and the moment: of all pairs half have the median, one in
// ten has the 90th percentile, and the others are evenly between. A pair keeps its round
// trip, the same both ways where the matrix has it so: a path changes with the hours, not
// from packet to packet.
//
// Where there are more peers than nodes, they share nodes, in turn. Two on one node are
// as far apart as a node is from the one next to it, in the median of all nodes: so far
// are two machines that share a town, or a network.
func (m *Matrix) Places(seed uint64) *Places {
	random := rand.New(rand.NewPCG(seed, 0x706c61636573))
	p := &Places{m, random.Perm(m.nodes), make([]time.Duration, len(m.pairs)), m.nearest()}
	for i := range m.nodes {
		for j := range i {
			u := min(max(random.Float64(), 0.5), 0.9)
			for _, at := range []int{i*m.nodes + j, j*m.nodes + i} {
				of := m.pairs[at]
				p.trip[at] = of.median + time.Duration((u-0.5)/0.4*float64(of.p90-of.median))
			}
		}
	}
	return p
}

// OneWay is how long a message takes from a peer to another; both count from 0.
func (p *Places) OneWay(from, to int) time.Duration {
	a, b := p.node[from%p.matrix.nodes], p.node[to%p.matrix.nodes]
	if a == b {
		return p.near / 2
	}
	return p.trip[a*p.matrix.nodes+b] / 2
}

// Median is the median of OneWay between peers on different nodes.
func (p *Places) Median() time.Duration {
	var all []time.Duration
	for _, trip := range p.trip {
		if trip > 0 {
			all = append(all, trip/2)
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Slowest is the longest OneWay.
func (p *Places) Slowest() time.Duration { return slices.Max(p.trip) / 2 }
