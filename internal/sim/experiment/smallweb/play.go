package smallweb

import (
	"container/heap"
	"math/rand/v2"
	"sort"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// Config is what is played.
type Config struct {
	Seed        uint64   `json:"seed"`
	Sites       []string `json:"-"`
	Sizes       []Size   `json:"-"`
	Rhythm      Rhythm   `json:"-"`
	Conditional float64  `json:"conditional"` // share of the sites that answer 304
	Compressed  float64  `json:"compressed"`  // of a document's bytes
}

// Default returns what is not read from files.
func Default() Config {
	return Config{
		Conditional: 0.8,
		Compressed:  7187.0 / 32477, // a captured front page
	}
}

// bytes of an answer's header, and of a whole answer without a body.
const headerBytes = 300

// A reader knows all sites from the first day on; the second day counts, and
// looks go on for a third, so that what is published last can still be seen.
const days = 3

var begin = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) // a Monday

// Score is what a reader asked in the day that counts, and how late it learned.
type Score struct {
	Rule      string  `json:"rule"`
	Requests  int     `json:"requests"`
	Documents int     `json:"documents"` // answers with one
	Bytes     int     `json:"bytes"`     // of answers, compressed
	Entries   int     `json:"entries"`   // published in that day
	Missed    int     `json:"missed"`    // gone from the document, or not seen by the end
	DelayH    float64 `json:"delay_h"`   // mean, of those seen
}

// Result is how all rules came off.
type Result struct {
	Config Config  `json:"config"`
	Sites  int     `json:"sites"`
	Scores []Score `json:"scores"`
}

// rule is a reader at work.
type rule interface {
	// first returns when a site is looked at first.
	first(site int) time.Time

	// next takes in a look, at which so many of the site's entries were published,
	// and returns when to look again.
	next(site, published int, now time.Time) time.Time
}

// Day returns the day that counts.
func Day() (from, to time.Time) {
	from = begin.Add(24 * time.Hour)
	return from, from.Add(24 * time.Hour)
}

// Publish returns what all sites publish, and which of them answer each look with
// the whole document.
func Publish(cfg Config) (sites []Site, whole []bool) {
	random := rand.New(rand.NewPCG(cfg.Seed, 1))
	end := begin.Add(days * 24 * time.Hour)
	sites, whole = make([]Site, len(cfg.Sites)), make([]bool, len(cfg.Sites))
	for i, url := range cfg.Sites {
		sites[i] = publish(url, cfg.Sizes[random.IntN(len(cfg.Sizes))], &cfg.Rhythm, random, begin, end)
		whole[i] = random.Float64() >= cfg.Conditional
	}
	return sites, whole
}

// Play plays all rules on one trace.
func Play(cfg Config, progress experiment.Progress) Result {
	sites, whole := Publish(cfg)
	r := Result{Config: cfg, Sites: len(sites)}
	all := rules(sites, cfg.Seed)
	for i, named := range all {
		progress.Tell(i, len(all), "%s", named.name)
		p := player{cfg: cfg, sites: sites, whole: whole, score: Score{Rule: named.name}}
		r.Scores = append(r.Scores, p.play(named.rule()))
	}
	return r
}

// player counts what a rule does.
type player struct {
	cfg   Config
	sites []Site
	whole []bool
	score Score
	delay time.Duration
}

func counted(at time.Time) bool {
	from, to := Day()
	return !at.Before(from) && at.Before(to)
}

func (p *player) play(r rule) Score {
	due := make(experiment.DueHeap, len(p.sites))
	seen := make([]int, len(p.sites)) // entries published at the last look; 0: none was
	for i := range p.sites {
		due[i] = experiment.Due{At: r.first(i), Index: i}
		for _, at := range p.sites[i].Published {
			if counted(at) {
				p.score.Entries++
			}
		}
	}
	heap.Init(&due)
	for end := begin.Add(days * 24 * time.Hour); due[0].At.Before(end); heap.Fix(&due, 0) {
		now, i := due[0].At, due[0].Index
		published := sort.Search(len(p.sites[i].Published), func(k int) bool { return p.sites[i].Published[k].After(now) })
		p.look(i, seen[i], published, now)
		seen[i] = published
		due[0].At = r.next(i, published, now)
	}
	found := p.score.Entries - p.score.Missed
	for i, s := range p.sites {
		for _, at := range s.Published[seen[i]:] {
			if counted(at) {
				p.score.Missed++
				found--
			}
		}
	}
	p.score.DelayH = p.delay.Hours() / float64(max(found, 1))
	return p.score
}

// look counts one look, before which so many entries were seen, and now are
// published.
func (p *player) look(i, seen, published int, now time.Time) {
	s := &p.sites[i]
	if counted(now) {
		p.score.Requests++
		p.score.Bytes += headerBytes
		if p.whole[i] || published > seen {
			p.score.Documents++
			p.score.Bytes += int(float64(s.Size.Bytes) * p.cfg.Compressed)
		}
	}
	for k := seen; k < published; k++ {
		switch {
		case !counted(s.Published[k]):
		case k < published-s.Size.Entries: // no longer in the document
			p.score.Missed++
		default:
			p.delay += now.Sub(s.Published[k])
		}
	}
}
