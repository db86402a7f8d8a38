// Package plan reckons how many peers a number of feeds and interests needs, in
// closed form, and beside it what the provisioner of Cobra (Rose et al., NSDI 2007,
// section 3.5) asks for.
package plan

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of a plan.
const (
	Slots  = 16_384 // parts that interests are spread in: no more peers can share them
	Copies = 2      // peers that have each interest, one of them on its disk only
	Most   = 1e12   // feeds, interests, readers
)

// Load is what is to be served.
type Load struct {
	Feeds     int64         `json:"feeds"`
	Interests int64         `json:"interests"`
	Limit     int           `json:"limit"`   // entries of an interest's list
	Poll      time.Duration `json:"poll"`    // between two polls of an interest's document
	Readers   int64         `json:"readers"` // that follow a theme, spread evenly
	Themes    int64         `json:"themes"`  // 0: the least that hold the feeds
	Machine   Machine       `json:"machine"` // each peer's
	Spare     float64       `json:"spare"`   // share of each resource that stays free
}

// Machine is what one peer has.
type Machine struct {
	Memory    float64 `json:"memory"` // bytes
	Cores     float64 `json:"cores"`
	Bandwidth float64 `json:"bandwidth"` // bits a second, of each direction
}

// The resources that a peer needs, as Use orders them.
const (
	Memory = iota
	Processor
	Inbound
	Outbound
	Interests // a bound of the software, which nothing is spared of
	resources
)

// Names are those of the resources.
var Names = [resources]string{"memory", "processor", "inbound", "outbound", "interests"}

// A Use is how much of each resource something needs: bytes, cores, bits a second
// twice, and interests.
type Use [resources]float64

// Fill is how much of a resource is used, as a share of all there is.
type Fill struct {
	Resource string  `json:"resource"`
	Fixed    float64 `json:"fixed"`  // by a peer that does nothing
	Whole    float64 `json:"whole"`  // by what every peer takes
	Spread   float64 `json:"spread"` // by what is spread over peers
	Share    float64 `json:"share"`
	Lost     float64 `json:"lost"`  // the share once one peer is lost
	Peers    int     `json:"peers"` // that this resource alone asks for
}

// Result is a plan.
type Result struct {
	Load     Load    `json:"load"`
	Peers    int     `json:"peers"`
	Binds    string  `json:"binds"`   // a resource, or "copies"
	Divided  int64   `json:"divided"` // parts of themes, each with peers of its own; 1: every peer takes all
	Each     float64 `json:"interests_each"`
	Entries  float64 `json:"entries_a_second"`
	News     float64 `json:"polls_with_news"` // share of the polls
	Fills    []Fill  `json:"fills"`
	Refill   float64 `json:"refill_core_seconds"` // of each survivor, to fill the lost peer's lists
	Groups   int64   `json:"groups"`
	PerGroup int     `json:"peers_a_group"` // for the leases of its readers and of the planned peers
}

// Check refuses a load that has no meaning, by the name of what is wrong.
func (l Load) Check() error {
	for _, n := range []struct {
		name        string
		v, low, top int64
	}{
		{"feeds", l.Feeds, 1, Most}, {"interests", l.Interests, 1, Most}, {"limit", int64(l.Limit), 1, 1000},
		{"readers", l.Readers, 0, Most}, {"themes", l.Themes, 0, Most},
	} {
		if n.v < n.low || n.v > n.top {
			return fmt.Errorf("%s %d: give %d to %d", n.name, n.v, n.low, n.top)
		}
	}
	for _, f := range []struct {
		name         string
		v, low, most float64
	}{
		{"memory", l.Machine.Memory, 1, 1e15}, {"cores", l.Machine.Cores, 1e-3, 1e4}, {"bandwidth", l.Machine.Bandwidth, 1, 1e15},
		{"spare", l.Spare, 0, 0.99},
	} {
		if !(f.v >= f.low && f.v <= f.most) { // which is not a number, neither
			return fmt.Errorf("%s %v: give %g to %g", f.name, f.v, f.low, f.most)
		}
	}
	if longest := 366 * 24 * time.Hour; l.Poll < time.Second || l.Poll > longest {
		return fmt.Errorf("poll %v: give %v to %v", l.Poll, time.Second, longest)
	}
	return nil
}

// entries a second, of all feeds.
func (l Load) entries(c *Costs) float64 { return float64(l.Feeds) * c[EntryRate] }

// news is the share of polls that find an entry that the poll before did not.
func (l Load) news(c *Costs) float64 {
	return -math.Expm1(-l.entries(c) * c[MatchShare] * l.Poll.Seconds())
}

// needs splits the load: what a peer that does nothing uses, what each peer takes
// whole, and what is spread over all.
func (l Load) needs(c *Costs) (fixed, whole, spread Use) {
	rate, interests, items := l.entries(c), float64(l.Interests), float64(l.Limit)
	polls, news := interests/l.Poll.Seconds(), l.news(c)
	fixed = Use{Memory: c[PeerMemory], Processor: c[PeerProcessor]}
	whole = Use{Processor: rate * c[EntryProcessor], Inbound: 8 * rate * c[EntryBytes]}
	spread = Use{
		Memory:    interests * c[Collector] * (c[InterestMemory] + items*c[ItemMemory]),
		Processor: interests*rate*c[GiveProcessor] + polls*(c[UnchangedProcessor]+news*items*c[ItemProcessor]),
		Inbound:   8 * polls * c[RequestBytes],
		Outbound:  8 * polls * (c[AnswerBytes] + news*items*c[ItemBytes]),
		Interests: interests,
	}
	return fixed, whole, spread
}

// Reckon is the least number of peers p with fixed + whole + spread/p ≤ (1 - spare)
// of each resource. Where fixed + whole alone is more, no number helps: themes are
// divided into the least number of parts that fits, each with p peers for its part
// of the interests.
func Reckon(l Load, c Costs) (Result, error) { return ReckonBy(l, c, unscaled()) }

// ReckonBy is Reckon where each resource costs so many times as much as the costs
// say.
func ReckonBy(l Load, c Costs, by Use) (Result, error) {
	if err := l.Check(); err != nil {
		return Result{}, err
	}
	least := int64(ceil(float64(l.Feeds) / c[MostFeeds]))
	switch {
	case l.Themes == 0:
		l.Themes = least
	case l.Themes < least:
		return Result{}, fmt.Errorf("themes %d: %d feeds need %d at least, since a follower keeps its place in %.0f feeds of a theme", l.Themes, l.Feeds, least, c[MostFeeds])
	case l.Themes > l.Feeds:
		return Result{}, fmt.Errorf("themes %d: give no more than there are feeds (%d)", l.Themes, l.Feeds)
	}
	all := l.all(&c)
	fixed, whole, spread := l.needs(&c)
	usable, divided := all, 1.0
	for i := range all {
		fixed[i], whole[i], spread[i] = fixed[i]*by[i], whole[i]*by[i], spread[i]*by[i]
		usable[i] = l.usable(i, all[i])
		if free := usable[i] - fixed[i]; free <= 0 {
			return Result{}, fmt.Errorf("%s: a peer that does nothing needs %.3g, and %.3g are left of %.3g", Names[i], fixed[i], usable[i], all[i])
		} else if whole[i] >= free { // just as much leaves no room for what is spread
			divided = max(divided, math.Floor(whole[i]/free)+1)
		}
	}
	if divided > float64(l.Themes) {
		return Result{}, fmt.Errorf("themes %d: no peer can take all entries, or those of one theme; %.0f themes are needed at least", l.Themes, divided)
	}
	r := Result{Load: l, Divided: int64(divided), Binds: "copies", Entries: l.entries(&c), News: l.news(&c), Groups: l.Themes}
	peers := float64(Copies) // of each part
	for i := range all {
		alone, room := math.Inf(1), usable[i]-fixed[i]-whole[i]/divided
		if room > 0 {
			alone = max(1, ceil(spread[i]/divided/room))
		}
		if alone*divided > Slots {
			return Result{}, fmt.Errorf("interests %d: %s asks for %.4g peers, and interests are spread in %d slots", l.Interests, Names[i], alone*divided, Slots)
		}
		if alone > peers {
			peers, r.Binds = alone, Names[i]
		}
		r.Fills = append(r.Fills, Fill{Resource: Names[i], Peers: int(alone * divided)})
	}
	for i := range r.Fills {
		f, each := &r.Fills[i], spread[i]/divided
		f.Fixed, f.Whole, f.Spread = fixed[i]/all[i], whole[i]/divided/all[i], each/peers/all[i]
		f.Share = f.Fixed + f.Whole + f.Spread
		f.Lost = f.Fixed + f.Whole + each/(peers-1)/all[i]
	}
	r.Peers = int(peers * divided)
	r.Each = float64(l.Interests) / float64(r.Peers)
	r.Refill = r.Each / (peers - 1) * c[FillProcessor]
	group := ceil((float64(l.Readers)/float64(l.Themes) + peers) / c[MostLeases])
	if group > math.MaxInt32 {
		return Result{}, errors.New("readers: more peers for their leases than can be counted")
	}
	r.PerGroup = int(group)
	return r, nil
}
