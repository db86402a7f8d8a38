package experiment

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// deliveries follows every entry to every peer of its group.
type deliveries struct {
	churn   *restless
	number  map[*stage.Host]int
	ups     []time.Duration // by peer: since when it is up; below 0: it is away
	logs    []*journal      // by publisher; each has one feed
	delay   []float64
	catchUp []float64
}

// journal is one feed.
type journal struct {
	entries []entry
	next    []int // by peer: the first entry that did not arrive
}

// entry is one that its publisher has on disk.
type entry struct {
	position feedring.Position
	at       time.Duration
}

func newDeliveries(c *restless) *deliveries {
	hosts := c.stage.Hosts()
	d := &deliveries{churn: c, number: map[*stage.Host]int{}}
	for i, h := range hosts {
		d.number[h] = i
		d.ups = append(d.ups, 0)
		d.logs = append(d.logs, &journal{next: make([]int, len(hosts))})
	}
	return d
}

func (d *deliveries) gone(h *stage.Host) { d.ups[d.number[h]] = -1 }
func (d *deliveries) back(h *stage.Host) { d.ups[d.number[h]] = d.churn.stage.Now() }

// held notes that a peer has a feed up to a position.
func (d *deliveries) held(h *stage.Host, head feedring.Head) {
	i, now := d.number[h], d.churn.stage.Now()
	l := d.logs[d.number[d.churn.stage.Host(head.Feed.Publisher)]]
	if h.ID == head.Feed.Publisher {
		l.entries = append(l.entries, entry{head.Position, now})
		l.next[i] = len(l.entries)
		return
	}
	for ; l.next[i] < len(l.entries) && l.entries[l.next[i]].position.Compare(head.Position) <= 0; l.next[i]++ {
		if at := l.entries[l.next[i]].at; at >= d.ups[i] {
			d.delay = append(d.delay, (now - at).Seconds())
		} else {
			d.catchUp = append(d.catchUp, (now - d.ups[i]).Seconds())
		}
	}
}

// account counts what never arrived, and makes the rest a distribution.
func (d *deliveries) account(row *ChurnRow) {
	row.Delay, row.CatchUp = SpreadOf(d.delay), SpreadOf(d.catchUp)
	now, two := d.churn.stage.Now(), 2*d.churn.cfg.Refresh
	long := func(i int) bool { return d.ups[i] >= 0 && now-d.ups[i] > two }
	for publisher, l := range d.logs {
		row.Entries += len(l.entries)
		for i, next := range l.next {
			if i%d.churn.cfg.Groups != publisher%d.churn.cfg.Groups || !long(i) {
				continue
			}
			for _, e := range l.entries[next:] {
				switch {
				case now-e.at <= two:
				case long(publisher):
					row.Missing++
				default:
					row.Late++
				}
			}
		}
	}
}
