// Package survey holds what papers print of real feeds against captured feeds and
// documents: FeedEx's figure 2 (Jun and Ahamad, WWW 2006), figures 5 and 8 of Cobra (Rose
// et al., NSDI 2007), and figures 10 to 12 of the minimum-missing paper. Documents are read by the
// product's reader, with its limits. It plays no peers and no network.
package survey

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
)

// Config is what is surveyed.
type Config struct {
	Captured  []Captured
	Documents []Document
	Refused   []Refusal        // of the documents
	Snapshots io.Reader        // a tar stream; nil: none
	Sites     *smallweb.Config // without sizes; nil: none. They take those of documents with entries
}

// Line is one figure: as a paper prints it, and as it is here. What is not known is nil.
type Line struct {
	Paper     string `json:"paper"`
	What      string `json:"what"`
	Share     bool   `json:"share,omitempty"` // of one, shown in per cent
	Printed   number `json:"printed,omitempty"`
	Captured  number `json:"captured,omitempty"`
	Documents number `json:"documents,omitempty"`
	Snapshots number `json:"snapshots,omitempty"`
}

// Result is the survey, and the ladders of the stream and of the personal sites.
type Result struct {
	Lines        []Line    `json:"lines"`
	Rungs        []string  `json:"rungs"` // of Ladder.Bytes
	Ladders      []Ladder  `json:"ladders"`
	RefusedCount int       `json:"refused_count"`
	Refused      []Refusal `json:"refused,omitempty"` // the first of them
	Notes        []string  `json:"notes"`
	Rates        Rates     `json:"rates"`
}

// Rates are entries a day, the highest first.
type Rates struct {
	Captured  []float64 `json:"captured"`
	Documents []float64 `json:"documents"`
}

// Printed in Cobra's figure 8: the share of bytes that is saved.
const (
	PrintedNotChanged = 0.57
	PrintedChanged    = 0.998
)

// Notes say what is not had, and how the figures are meant.
var Notes = []string{
	"FeedEx's own captures, 10 days of 245 feeds every 2 minutes, are not had: its column stands beside other feeds of other years.",
	"Captured: a feed's rate is of all its captures, however short; lifetimes, days and hours are of feeds captured for 14 days or more, times in UTC.",
	"Documents: a rate is by the dates of the entries in one document, so it says nothing of the time before its oldest and after its newest; documents without two different dates have none.",
	"Ladder: bytes of bodies after the first document of each feed, not compressed, without headers of HTTP. 304 in a stream is at best: each document that has the bytes of the one before.",
}

// Study makes the survey.
func Study(cfg Config, progress experiment.Progress) (*Result, error) {
	r := &Result{Notes: Notes, Rungs: RungNames[:], Ladders: []Ladder{}}
	refused := slices.Clone(cfg.Refused)
	var stream []*series
	if cfg.Snapshots != nil {
		var more []Refusal
		var err error
		if stream, more, err = snapshots(cfg.Snapshots, progress); err != nil {
			return nil, err
		}
		refused = append(refused, more...)
	}
	for _, s := range stream {
		r.Ladders = append(r.Ladders, s.Ladder)
	}
	if cfg.Sites != nil {
		if l := personalSites(*cfg.Sites, cfg.Documents); l != nil {
			r.Ladders = append(r.Ladders, *l)
		}
	}
	r.RefusedCount, r.Refused = len(refused), refused[:min(mostRefused, len(refused))]
	r.feedEx(cfg, stream)
	r.cobra(cfg, stream)
	r.minimumMissing(cfg)
	return r, nil
}

func (r *Result) add(paper string, l Line) {
	l.Paper = paper
	r.Lines = append(r.Lines, l)
}

func (r *Result) feedEx(cfg Config, stream []*series) {
	const rates, entries, hours, lives = "FeedEx, figure 2a", "FeedEx, figure 2b", "FeedEx, figure 2c", "FeedEx, figure 2d"
	var days []float64
	for i := range cfg.Captured {
		r.Rates.Captured = append(r.Rates.Captured, cfg.Captured[i].rate())
		days = append(days, cfg.Captured[i].days())
	}
	var sizes, dated [2][]float64 // entries of a document and its rate, of those that have one
	var windows, captured []float64
	for i := range cfg.Documents {
		d := &cfg.Documents[i]
		windows = append(windows, float64(len(d.Articles)))
		if rate := d.rate(); rate > 0 {
			r.Rates.Documents = append(r.Rates.Documents, rate)
			sizes[1], dated[1] = append(sizes[1], float64(len(d.Articles))), append(dated[1], rate)
		}
	}
	fixed := 0
	for i := range cfg.Captured {
		least, most, mean := cfg.Captured[i].counts()
		captured = append(captured, mean)
		sizes[0], dated[0] = append(sizes[0], mean), append(dated[0], cfg.Captured[i].rate())
		if least == most {
			fixed++
		}
	}
	compared := slices.DeleteFunc(slices.Clone(stream), func(s *series) bool { return s.Looks == 0 })
	kept := share(compared, func(s *series) bool { return s.least == s.most })
	fit := func(k int) number { _, fit := line(sizes[k], dated[k]); return have(fit) }
	falling := func(rates []float64) { slices.SortFunc(rates, func(a, b float64) int { return cmp.Compare(b, a) }) }
	falling(r.Rates.Captured)
	falling(r.Rates.Documents)

	r.add(rates, Line{What: "feeds", Printed: have(245), Captured: have(float64(len(cfg.Captured))), Documents: have(float64(len(cfg.Documents))), Snapshots: count(len(stream))})
	r.add(rates, Line{What: "days of a feed, median", Printed: have(10), Captured: quantile(days, 0.5)})
	r.add(rates, Line{What: "feeds silent throughout", Share: true, Captured: share(r.Rates.Captured, func(v float64) bool { return v == 0 })})
	r.add(rates, Line{What: "feeds with a rate", Captured: have(float64(len(r.Rates.Captured))), Documents: have(float64(len(r.Rates.Documents)))})
	r.add(rates, Line{What: "exponent, ranks 30 to 200 (drawn as a line)", Captured: exponent(r.Rates.Captured, 30, 200), Documents: exponent(r.Rates.Documents, 30, 200)})
	r.add(rates, Line{What: "exponent, all ranks", Captured: exponent(r.Rates.Captured, 1, mostDocuments), Documents: exponent(r.Rates.Documents, 1, mostDocuments)})

	near := func(n float64) func(float64) bool { return func(v float64) bool { return v >= n-0.5 && v < n+0.5 } }
	r.add(entries, Line{What: "10 entries a document", Share: true, Printed: have(30.0 / 245), Captured: share(captured, near(10)), Documents: share(windows, near(10))})
	r.add(entries, Line{What: "15 entries a document", Share: true, Printed: have(79.0 / 245), Captured: share(captured, near(15)), Documents: share(windows, near(15))})
	r.add(entries, Line{What: "most entries a document", Printed: have(126), Captured: largest(captured), Documents: largest(windows)})
	r.add(entries, Line{What: "feeds with the same number always", Share: true, Printed: have(0.65), Captured: ratio(float64(fixed), float64(len(cfg.Captured))), Snapshots: kept})
	r.add(entries, Line{What: "R² of entries a document and rate", Printed: have(0.063), Captured: fit(0), Documents: fit(1)})

	var byHour [2][24]float64
	var lifetimes []float64
	for i := range cfg.Captured {
		f := &cfg.Captured[i]
		if !f.long() {
			continue
		}
		for _, l := range f.published() {
			byHour[0][l.First.UTC().Hour()]++
			if l.Last.Before(f.End) {
				lifetimes = append(lifetimes, l.Last.Sub(l.First).Hours())
			}
		}
	}
	for _, at := range cfg.published() {
		byHour[1][at.UTC().Hour()]++
	}
	r.add(hours, Line{What: "entries in the busiest 8 hours (drawn)", Share: true, Captured: busiest(byHour[0]), Documents: busiest(byHour[1])})
	r.add(lives, Line{What: "lifetime in hours, median (drawn)", Captured: quantile(lifetimes, 0.5)})
	r.add(lives, Line{What: "lifetime in hours, 90th percentile (drawn)", Captured: quantile(lifetimes, 0.9)})
}

func (r *Result) cobra(cfg Config, stream []*series) {
	const paper = "Cobra, figure 5"
	var documents, captured sizes
	for i := range cfg.Documents {
		d := &cfg.Documents[i]
		documents.document(d.Bytes, len(d.Articles))
		for _, a := range d.Articles {
			documents.article(a)
		}
	}
	for _, s := range stream {
		captured.add(&s.sizes)
	}
	for _, x := range []struct {
		what     string
		of       func(*sizes) []float64
		half, at float64
	}{
		{"bytes of a document", func(s *sizes) []float64 { return s.bytes }, 7606, 22890},
		{"articles of a document", func(s *sizes) []float64 { return s.entries }, 10, 17},
		{"bytes of an article", func(s *sizes) []float64 { return s.articleBytes }, 768, 2426},
		{"words of an article", func(s *sizes) []float64 { return s.words }, 61, 637},
	} {
		r.add(paper, Line{What: x.what + ", median", Printed: have(x.half), Documents: quantile(x.of(&documents), 0.5), Snapshots: quantile(x.of(&captured), 0.5)})
		r.add(paper, Line{What: x.what + ", 90th percentile", Printed: have(x.at), Documents: quantile(x.of(&documents), 0.9), Snapshots: quantile(x.of(&captured), 0.9)})
	}
}

// sizes are those of documents and of their articles.
type sizes struct{ bytes, entries, articleBytes, words []float64 }

func (s *sizes) document(bytes, entries int) {
	s.bytes, s.entries = append(s.bytes, float64(bytes)), append(s.entries, float64(entries))
}

func (s *sizes) article(a Article) {
	s.articleBytes, s.words = append(s.articleBytes, float64(a.Bytes)), append(s.words, float64(a.Words))
}

func (s *sizes) add(other *sizes) {
	s.bytes, s.entries = append(s.bytes, other.bytes...), append(s.entries, other.entries...)
	s.articleBytes, s.words = append(s.articleBytes, other.articleBytes...), append(s.words, other.words...)
}

func (r *Result) minimumMissing(cfg Config) {
	const days, rates, windows = "minimum missing, figure 10", "minimum missing, figure 11", "minimum missing, figure 12"
	mean := func(rates []float64) number {
		sum := 0.0
		for _, v := range rates {
			sum += v
		}
		return ratio(sum, float64(len(rates)))
	}
	var weekdays [2][7]float64
	var captured, documents []float64
	for i := range cfg.Captured {
		f := &cfg.Captured[i]
		_, _, entries := f.counts()
		captured = append(captured, entries)
		for _, l := range f.published() {
			if f.long() {
				weekdays[0][l.First.UTC().Weekday()]++
			}
		}
	}
	for i := range cfg.Documents {
		documents = append(documents, float64(len(cfg.Documents[i].Articles)))
	}
	for _, at := range cfg.published() {
		weekdays[1][at.UTC().Weekday()]++
	}
	weekend := func(n [7]float64) number {
		return ratio((n[time.Saturday]+n[time.Sunday])/2, (n[time.Monday]+n[time.Tuesday]+n[time.Wednesday]+n[time.Thursday]+n[time.Friday])/5)
	}
	few := func(v float64) bool { return v < 10 }
	usual := func(v float64) bool { return v >= 9.5 && v < 15.5 }
	r.add(days, Line{What: "entries a feed and day, median", Captured: quantile(slices.Clone(r.Rates.Captured), 0.5), Documents: quantile(slices.Clone(r.Rates.Documents), 0.5)})
	r.add(days, Line{What: "entries a feed and day, mean", Printed: have(1.083), Captured: mean(r.Rates.Captured), Documents: mean(r.Rates.Documents)})
	r.add(days, Line{What: "day of the weekend ÷ weekday", Printed: have(892.0 / 1160), Captured: weekend(weekdays[0]), Documents: weekend(weekdays[1])})
	r.add(rates, Line{What: "feeds below 10 entries a day", Share: true, Printed: have(0.94), Captured: share(r.Rates.Captured, few), Documents: share(r.Rates.Documents, few)})
	r.add(windows, Line{What: "windows of 10 to 15 entries", Share: true, Printed: have(0.83), Captured: share(captured, usual), Documents: share(documents, usual)})
	r.add(windows, Line{What: "smallest window", Printed: have(1), Captured: quantile(captured, 0), Documents: quantile(documents, 0)})
	r.add(windows, Line{What: "largest window", Printed: have(60), Captured: largest(captured), Documents: largest(documents)})
}

// published are the dates of the documents' entries.
func (cfg *Config) published() (all []time.Time) {
	for i := range cfg.Documents {
		all = append(all, cfg.Documents[i].Published...)
	}
	return all
}

func count(n int) number {
	if n == 0 {
		return nil
	}
	return have(float64(n))
}
