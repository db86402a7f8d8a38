package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// absurd is a row by which somebody puts a theme far above all numbers that
// were ever used.
func absurd(theme feedring.Theme, number uint64, gone bool) *ring.Row {
	return &ring.Row{
		Group: theme.Group(), Theme: theme, Term: feedring.Term{Number: number, Claimant: "evil"}, Version: 1,
		Acknowledged: true, Gone: gone, Manager: feedring.PeerInfo{ID: "evil"}, Seal: &feedring.Seal{Signer: "evil"},
	}
}

// led returns who all the named peers follow in a group, and what all maps
// show of it.
func (c *cluster) led(theme feedring.Theme, names ...feedring.PeerID) (feedring.Term, error) {
	term := c.peers[names[0]].View().Roles[theme].Term
	for _, name := range names {
		if got := c.peers[name].View().Roles[theme].Term; got != term || term.Number == 0 {
			return term, fmt.Errorf("%s follows %v, not %v", name, got, term)
		}
	}
	for _, name := range c.names {
		row, live, _ := c.peers[name].ring.Row(theme.Group())
		if !live || row.Term != term {
			return term, fmt.Errorf("the map of %s shows %v, live %v, not %v", name, row.Term, live, term)
		}
	}
	return term, nil
}

// A row with an absurd number, of a group that is dead or that nobody answers
// for, neither hides a group nor keeps its members or its founders apart.
func TestAbsurdNumberSplitsNobody(t *testing.T) {
	for _, tc := range []struct {
		name   string
		number uint64
		gone   bool
		early  bool // the row is there before the group
	}{
		{"a tombstone above a living group", 1 << 40, true, false},
		{"a silent claim above a living group", 1 << 40, false, false},
		{"a tombstone before the founders", 1 << 40, true, true},
		{"a silent claim before the founders", 1 << 40, false, true},
		{"the greatest that is outbid, above a living group", 1 << 47, true, false},
		{"the greatest that is outbid, before the founders", 1 << 47, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			c.start("m")
			c.publish("m", "sport=equipe.fr")
			c.run(5*time.Second, nil)
			attack := func() {
				for _, name := range c.names {
					c.step(name, Receive{From: "m", Message: ring.Rows{Rows: []*ring.Row{absurd("news", tc.number, tc.gone)}}})
				}
			}
			if tc.early {
				attack()
			}
			var news []feedring.PeerID
			for i := range 4 {
				news = append(news, peerName(i))
				c.start(peerName(i), "m")
				c.publish(peerName(i), fmt.Sprintf("news=p%d.org", i))
				if !tc.early {
					c.run(2*time.Second, nil)
				}
			}
			c.run(5*time.Second, nil)
			if !tc.early {
				attack()
			}
			c.run(15*time.Second, nil)
			term, err := c.led("news", news...)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.gone && term.Number <= tc.number:
				t.Errorf("it stays below, at %d", term.Number)
			case !tc.gone && term.Number != 1: // it waits for its claimant, on no map
				t.Errorf("a silent claim raises the term to %d", term.Number)
			}
			c.run(20*time.Second, nil)
			if again, err := c.led("news", news...); err != nil || again != term {
				t.Errorf("later it is %v, before %v: %v", again, term, err)
			}
		})
	}
}

// A row that is too high to be outbid does not make a manager claim for ever.
func TestNoRaceAgainstTheGreatest(t *testing.T) {
	c := newCluster(t)
	var news []feedring.PeerID
	for i := range 3 {
		news = append(news, peerName(i))
		c.start(peerName(i), news[:1]...)
		c.publish(peerName(i), fmt.Sprintf("news=p%d.org", i))
		c.run(3*time.Second, nil)
	}
	for _, name := range c.names {
		c.step(name, Receive{From: news[0], Message: ring.Rows{Rows: []*ring.Row{absurd("news", 1<<48, true)}}})
	}
	c.run(20*time.Second, nil)
	for _, name := range news {
		if term := c.peers[name].View().Roles["news"].Term; term.Number > 5 || term.Number == 0 {
			t.Errorf("%s follows %v", name, term)
		}
	}
}
