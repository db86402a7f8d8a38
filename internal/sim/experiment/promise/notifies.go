package promise

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// NotifiesConfig is groups in which notifies are dropped, and nothing else.
type NotifiesConfig struct {
	Seed    uint64        `json:"seed"`
	Seeds   int           `json:"seeds"`    // of groups up to ten; of larger ones a quarter
	Peers   []int         `json:"peers"`    // of a group
	Dropped []float64     `json:"dropped"`  // shares of the notifies
	Entries int           `json:"entries"`  // of a seed, in a group of ten; in larger ones as many deliveries
	Every   time.Duration `json:"every_ns"` // mean time between entries of one peer
	Refresh time.Duration `json:"refresh_ns"`
	Delay   time.Duration `json:"delay_ns"`
}

// DefaultNotifies drops none, half and all.
func DefaultNotifies() NotifiesConfig {
	return NotifiesConfig{Seed: 1, Seeds: 20, Peers: []int{10, 100}, Dropped: []float64{0, 0.5, 1}, Entries: 1000,
		Every: 30 * time.Second, Refresh: 10 * time.Second, Delay: 50 * time.Millisecond}
}

// NotifiesRow is measured on machines.
type NotifiesRow struct {
	Peers    int               `json:"peers"`
	Dropped  float64           `json:"dropped"`
	Entries  int               `json:"entries"`
	Notifies int               `json:"notifies"` // sent
	Lost     int               `json:"lost"`     // … of them dropped
	Complete experiment.Spread `json:"complete"` // refresh periods from the publisher's disk until every peer of the group has the entry
	Lacking  int               `json:"lacking"`  // entries that some peer lacked after four periods
}

// Kept reports what the protocol promises: half of all notifies may be dropped,
// and every peer has every entry within two refresh periods. Where none is dropped
// they bring an entry long before a beacon does.
func (r NotifiesRow) Kept() bool {
	switch {
	case r.Dropped > 0.5:
		return true
	case r.Lacking > 0 || r.Complete.Max > 2:
		return false
	default:
		return r.Dropped > 0 || r.Notifies > 0 && r.Complete.P50 <= atOnce
	}
}

// atOnce is how many periods half of all entries may take that are notified: a
// notify and a poll, on three levels of a tree.
const atOnce = 0.05

// Notifies plays each share in a group of each size.
func Notifies(cfg NotifiesConfig, progress Progress) ([]NotifiesRow, error) {
	if cfg.Seeds < 1 || cfg.Entries < 1 || cfg.Every <= 0 {
		return nil, fmt.Errorf("dropped notifies need a seed, an entry, and times above 0")
	}
	var rows []NotifiesRow
	for _, peers := range cfg.Peers {
		for _, dropped := range cfg.Dropped {
			row := NotifiesRow{Peers: peers, Dropped: dropped}
			var times []float64
			seeds := cfg.Seeds
			if peers > 10 {
				seeds = max(1, seeds/4)
			}
			for i := range seeds {
				progress.Tell(i, seeds, "%.0f %% of the notifies dropped among %d peers", 100*dropped, peers)
				n, err := newDeaf(cfg, peers, dropped, cfg.Seed+uint64(i))
				if err != nil {
					return nil, err
				}
				times = append(times, n.play(&row)...)
			}
			row.Complete = experiment.SpreadOf(times)
			rows = append(rows, row)
		}
	}
	progress.Tell(cfg.Seeds, cfg.Seeds, "done")
	return rows, nil
}

// deaf is one group, with what each peer holds of each feed.
type deaf struct {
	cfg    NotifiesConfig
	stage  *stage.Stage
	number map[feedring.PeerID]int
	feeds  []*series // by publisher
	times  []float64
	on     bool
}

// series is the entries of one feed, and how far each peer is.
type series struct {
	at      []time.Duration // by entry: when it was on its publisher's disk
	lacking []int           // … and how many others lack it
	next    []int           // by peer: its first entry that is not there
}

func newDeaf(cfg NotifiesConfig, peers int, dropped float64, seed uint64) (*deaf, error) {
	s := experiment.NewStage(seed, cfg.Refresh, 48*time.Hour, cfg.Delay)
	if err := experiment.Assemble(s, 1, peers, cfg.Refresh); err != nil {
		return nil, err
	}
	d := &deaf{cfg: cfg, stage: s, number: map[feedring.PeerID]int{}}
	for i, h := range s.Hosts() {
		d.number[h.ID] = i
		d.feeds = append(d.feeds, &series{next: make([]int, peers)})
	}
	s.Held = d.held
	s.Way = func(_, _ *stage.Host, message feedring.Message) (time.Duration, bool) {
		_, notify := message.(group.Notify)
		return cfg.Delay, !notify || s.Random().Float64() >= dropped
	}
	return d, nil
}

// play publishes what there is to publish, and waits for the last of it.
func (d *deaf) play(row *NotifiesRow) []float64 {
	experiment.Forget(d.stage)
	d.on = true
	peers := len(d.feeds)
	for i, h := range d.stage.Hosts() {
		d.post(h, i)
	}
	entries := d.cfg.Entries * 10 / max(10, peers)
	d.stage.RunUntil(1000*time.Hour, func() bool { return d.published() >= entries })
	d.on = false
	d.stage.Run(4 * d.cfg.Refresh)
	row.Entries += d.published()
	sent, received := 0, 0
	for _, h := range d.stage.Hosts() {
		sent, received = sent+h.Sent["notify"], received+h.Received["notify"]
	}
	row.Notifies, row.Lost = row.Notifies+sent, row.Lost+sent-received
	for _, f := range d.feeds {
		for _, n := range f.lacking {
			if n > 0 {
				row.Lacking++
			}
		}
	}
	return d.times
}

func (d *deaf) published() int {
	n := 0
	for _, f := range d.feeds {
		n += len(f.at)
	}
	return n
}

func (d *deaf) post(h *stage.Host, i int) {
	d.stage.After(experiment.Exponential(d.stage.Random(), d.cfg.Every), func() {
		if d.on {
			h.Publish(experiment.ThemeOf(0), experiment.URLOf(i))
			d.post(h, i)
		}
	})
}

// held notes that a peer has a feed up to a position.
func (d *deaf) held(h *stage.Host, head feedring.Head) {
	f, now := d.feeds[d.number[head.Feed.Publisher]], d.stage.Now()
	if h.ID == head.Feed.Publisher {
		f.at, f.lacking = append(f.at, now), append(f.lacking, len(d.feeds)-1)
		return
	}
	for i := d.number[h.ID]; f.next[i] < int(head.Position.Sequence); f.next[i]++ {
		e := f.next[i]
		if f.lacking[e]--; f.lacking[e] == 0 {
			d.times = append(d.times, (now-f.at[e]).Seconds()/d.cfg.Refresh.Seconds())
		}
	}
}
