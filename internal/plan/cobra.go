package plan

import (
	"errors"
	"fmt"
)

// Counts is a network of Cobra: its services, each on a host of its own. Filters
// stand in a grid: FilterRows divide the crawlers, Filters/FilterRows divide the
// subscriptions.
type Counts struct {
	Crawlers   int `json:"crawlers"`
	Filters    int `json:"filters"`
	FilterRows int `json:"filter_rows"`
	Reflectors int `json:"reflectors"`
}

// Hosts is how many hosts that takes.
func (n Counts) Hosts() int { return n.Crawlers + n.Filters + n.Reflectors }

// CobraResult is what Cobra's rule asks for, and the fewest hosts that would do.
type CobraResult struct {
	Load    Load   `json:"load"`
	Rule    Counts `json:"rule"`
	Optimum Counts `json:"optimum"` // of up to MostTried each; no hosts: none of these will do
	Steps   int    `json:"steps"`   // decompositions of the rule
}

// MostTried bounds each count while the optimum is searched for.
const MostTried = 64

// remedy is what figure 3 says to do about a violation.
type remedy int

const (
	fits remedy = iota
	moreCrawlers
	moreFilterRows
	moreFilterColumns
	moreReflectors
	noMemory    // for a reflector without subscriptions
	noBandwidth // for the articles of all feeds, which each reflector must have
)

// violated returns what resolves the first violation of a network. The order
// follows the paper: those first that seldom go away by themselves. The bytes that
// a service puts out shrink with those that it takes in, so they come last.
func (n Counts) violated(l Load, c *Costs) remedy {
	memory, cpu, net := (1-l.Spare)*l.Machine.Memory, (1-l.Spare)*l.Machine.Cores*c[CobraMatch], (1-l.Spare)*l.Machine.Bandwidth
	feeds, subs := float64(l.Feeds), float64(l.Interests)
	crawlers, rows, reflectors := float64(n.Crawlers), float64(n.FilterRows), float64(n.Reflectors)
	columns := float64(n.Filters) / rows
	articles := 8 * feeds * c[EntryRate] * c[CobraArticleBytes] // of all feeds, bits a second
	document := c[CobraFeedBytes] * float64(l.Limit) / 10
	switch {
	case c[CobraReflectorBase] >= memory:
		return noMemory
	case 8*feeds*c[CobraFeedBytes]*(1-c[CobraUnchanged])/c[CobraInterval]/crawlers > net:
		return moreCrawlers
	case articles*max(1, columns/reflectors) > net: // from each column that it listens to
		return noBandwidth
	case articles/rows > net:
		return moreFilterRows
	case subs/columns*c[CobraFilterMemory] > memory, feeds/rows*subs/columns > cpu*(1+1e-12):
		return moreFilterColumns
	case c[CobraReflectorBase]+subs/reflectors*c[CobraReflectorMemory] > memory, feeds*subs/reflectors > cpu*(1+1e-12),
		8*subs/reflectors*document/l.Poll.Seconds() > net:
		return moreReflectors
	case articles/crawlers*columns > net:
		return moreCrawlers
	case articles/rows*max(1, reflectors/columns) > net:
		return moreFilterRows
	}
	return fits
}

// Cobra provisions by the paper's rule: it begins with one service of each kind,
// and resolves one violation after the other by one more replica.
func Cobra(l Load, c Costs) (CobraResult, error) {
	if err := l.Check(); err != nil {
		return CobraResult{}, err
	}
	r := CobraResult{Load: l, Rule: Counts{1, 1, 1, 1}}
	columns := 1
	for wrong := r.Rule.violated(l, &c); wrong != fits; wrong = r.Rule.violated(l, &c) {
		switch wrong {
		case moreCrawlers:
			r.Rule.Crawlers++
		case moreFilterRows:
			r.Rule.FilterRows++
		case moreFilterColumns:
			columns++
		case moreReflectors:
			r.Rule.Reflectors++
		case noMemory:
			return r, fmt.Errorf("memory: a reflector of Cobra without subscriptions needs %.3g bytes, and %.3g are left", c[CobraReflectorBase], (1-l.Spare)*l.Machine.Memory)
		default:
			return r, errors.New("bandwidth: Cobra's reflectors must receive the articles of all feeds, and they are more than one can receive")
		}
		r.Rule.Filters = r.Rule.FilterRows * columns
		if r.Steps++; r.Rule.FilterRows > r.Rule.Crawlers {
			return r, errors.New("bandwidth: Cobra's filters divide the crawlers, and there are fewer crawlers than would be needed")
		}
		if r.Steps > 2*Slots {
			return r, fmt.Errorf("interests %d: Cobra's rule is not done after %d decompositions", l.Interests, r.Steps)
		}
	}
	r.Optimum = optimum(l, &c)
	return r, nil
}

// optimum tries all networks of up to MostTried services of each kind.
func optimum(l Load, c *Costs) Counts {
	var best Counts
	for crawlers := 1; crawlers <= MostTried; crawlers++ {
		for filters := 1; filters <= MostTried; filters++ {
			for reflectors := 1; reflectors <= MostTried; reflectors++ {
				n := Counts{crawlers, filters, 1, reflectors}
				for ; n.FilterRows <= min(crawlers, filters); n.FilterRows++ {
					if better := best.Hosts() == 0 || n.Hosts() < best.Hosts(); better && filters%n.FilterRows == 0 && n.violated(l, c) == fits {
						best = n
					}
				}
			}
		}
	}
	return best
}
