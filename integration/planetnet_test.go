package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/planet"
)

// planetNet is a network whose machines are as far from each other as nodes of PlanetLab.
type planetNet struct {
	*lossyNet
	places *planet.Places
	placed []*machine // each at the place of its number
}

func newPlanetNet(t testing.TB) *planetNet {
	t.Helper()
	n := &planetNet{lossyNet: newLossyNet(t, 1, conditions{}), places: planet.PlanetLab().Places(1)}
	n.far = true
	return n
}

// planetLoss is assumed: the matrix has none.
const planetLoss = 0.001

// place puts a machine at the next place.
func (n *planetNet) place(m *machine) *machine {
	at := len(n.placed)
	for i, other := range n.placed {
		n.between(m, other, conditions{delay: n.places.OneWay(at, i), loss: planetLoss})
		n.between(other, m, conditions{delay: n.places.OneWay(i, at), loss: planetLoss})
	}
	n.placed = append(n.placed, m)
	return m
}

// A run counts only on a machine that was not too busy, and if the link kept its times.
const (
	busyMost = 0.70
	lateMost = 5 * time.Millisecond
)

// strain is how hard a machine worked during a run.
type strain struct {
	busy    float64       // share of the time of all processors
	late    time.Duration // by which packets came too late, at p99
	packets int
}

// watch begins to watch the machine; the result tells what came since.
func (n *planetNet) watch() func() strain {
	n.t.Helper()
	n.link.lateness()
	begun := readBusy(n.t)
	return func() strain {
		n.t.Helper()
		late := n.link.lateness()
		return strain{readBusy(n.t).since(begun), quantile(late, 0.99), len(late)}
	}
}

// much reports whether the times of the run do not count.
func (s strain) much() bool { return s.busy >= busyMost || s.late > lateMost }

// String implements fmt.Stringer.
func (s strain) String() string {
	return fmt.Sprintf("busy for %.0f %% (below %.0f %% counts), %d packets late by %v at p99 (%v at most count)", 100*s.busy, 100*busyMost, s.packets, s.late, lateMost)
}

// cpuTimes are of all processors since the system began, in its ticks.
type cpuTimes struct{ idle, all float64 }

func readBusy(t testing.TB) (c cpuTimes) {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	must(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first)[1:] {
		n, err := strconv.ParseFloat(field, 64)
		must(t, err)
		if i == 3 || i == 4 { // idle, and waiting for a disk
			c.idle += n
		}
		if i < 8 { // guests are counted under user, too
			c.all += n
		}
	}
	return c
}

// since is the share of the time since then that processors were busy.
func (c cpuTimes) since(then cpuTimes) float64 {
	return 1 - (c.idle-then.idle)/max(c.all-then.all, 1)
}
