package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// beats counts what a large group sends in some periods in which a part of it is lost,
// and some peers pass no beacon on or are gone.
func beats(t *testing.T, loss float64, silent, gone int) (perBeacon float64, intentions int) {
	t.Helper()
	const size, periods = 80, 8
	c := newCluster(5)
	ids := c.group(size)
	c.run(3 * time.Second)
	lead, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	rider := map[feedring.PeerID]bool{}
	for i := range gone {
		c.crash(ids[30+i])
	}
	for i := range silent {
		rider[ids[40+2*i]] = true
	}
	beacons, claims, first := 0, 0, c.nodes[lead].m.managing.beacon
	tellers := map[feedring.PeerID]bool{}
	c.loss = func(from, to feedring.PeerID, m Message) bool {
		switch m.(type) {
		case Beacon:
			if beacons++; to == ids[size-1] {
				tellers[from] = true
			}
			if rider[from] {
				return true
			}
		case Intention:
			intentions++
		case Confirmation:
			claims++
		}
		return c.rng.Float64() < loss
	}
	c.run(periods * time.Second)
	if now, err := c.leader(); err != nil || now != lead || claims > 0 {
		t.Errorf("%s is deposed by %s (%d claims, %v)", lead, now, claims, err)
	}
	if len(tellers) < 7 {
		t.Errorf("a member hears of beacons from %d others, always the same ones", len(tellers))
	}
	return float64(beacons) / float64(c.nodes[lead].m.managing.beacon-first) / size, intentions
}

// Beacons come to each member of a large group from three others, and a few that are
// lost, or pass nothing on, make nobody doubt the manager.
func TestBeaconsInLargeGroup(t *testing.T) {
	for _, test := range []struct {
		loss         float64
		silent, gone int
	}{{}, {loss: 0.05, gone: 10}, {loss: 0.1, silent: 5}, {loss: 0.15}} {
		per, intentions := beats(t, test.loss, test.silent, test.gone)
		t.Logf("%+v: %.2f messages for each member", test, per)
		if per > 3.2 || intentions > 0 {
			t.Errorf("%+v: %.2f messages for each member, %d intentions", test, per, intentions)
		}
	}
}

// Where so much is lost that members doubt the manager, it stays all the same.
func TestBeaconsMostlyLost(t *testing.T) {
	if _, intentions := beats(t, 0.3, 20, 10); intentions == 0 {
		t.Error("nobody doubts: the test shows nothing")
	}
}
