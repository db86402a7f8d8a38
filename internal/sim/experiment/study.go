package experiment

import (
	"fmt"
	"time"
)

// StudyConfig is section 5 as a whole: both figures, and how much they hang on
// what the paper does not say.
type StudyConfig struct {
	Figure3    PaperConfig     `json:"figure3"`
	Figure4    PaperConfig     `json:"figure4,omitzero"` // zero: it is not played, and Rates, which vary it, must be empty
	Rates      []Rate          `json:"rates"`            // beyond figure 4
	Capacities []int           `json:"capacities"`
	Groups     []int           `json:"groups"`
	Cycles     []time.Duration `json:"cycles_ns"`
	Exponents  []float64       `json:"exponents"`
}

// Rate is a point of the way to where it breaks.
type Rate struct {
	Each     int `json:"each"`
	Capacity int `json:"capacity"`
}

// rateCycles are enough: from the first cycle on a queue that grows, grows.
const rateCycles = 5

// DefaultStudy calibrates one thing: the capacity of figure 3 is such that
// central polling answers 90 % of the requests, as in the paper.
func DefaultStudy() StudyConfig {
	three, four := DefaultPaper(), DefaultPaper()
	four.Each, four.Cycles, four.Capacity = 40, 29, 100
	c := StudyConfig{Figure3: three, Figure4: four,
		Capacities: []int{4, 5, 6, 8, 10, 20, 40, 80, 160},
		Groups:     []int{1, 2, 4, 8, 16, 80},
		Cycles:     []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, time.Minute},
		Exponents:  []float64{0.5, 0.8, 1, 1.2, 1.4},
	}
	for _, each := range []int{4, 10, 20, 30, 40} {
		c.Rates = append(c.Rates, Rate{Each: each, Capacity: three.Capacity})
	}
	for _, each := range []int{4, 20, 40, 50, 60} {
		c.Rates = append(c.Rates, Rate{Each: each, Capacity: four.Capacity})
	}
	return c
}

// StudyResult is all of it.
type StudyResult struct {
	Config      StudyConfig `json:"config"`
	Figure3     PaperResult `json:"figure3"`
	Figure4     PaperResult `json:"figure4,omitzero"`
	Rates       []StudyRow  `json:"rates"`
	Sensitivity []StudyRow  `json:"sensitivity"` // of figure 3, one thing changed at a time
}

// StudyRow is one run in short.
type StudyRow struct {
	Changed  string     `json:"changed"` // what is not as in the figure
	Each     int        `json:"each"`
	Capacity int        `json:"capacity"`
	Used     float64    `json:"used"`    // requests, as a share of what all servers together can answer
	Hottest  float64    `json:"hottest"` // … those of the hottest theme, of what its group can answer
	Ours     StudyShare `json:"ours"`
	Central  StudyShare `json:"central"`
}

// StudyShare is how one system came off.
type StudyShare struct {
	Answered float64 `json:"answered"`
	Pending  int     `json:"pending"`
	P50      float64 `json:"p50_s"`
	P99      float64 `json:"p99_s"`
}

// Study runs all of it.
func Study(cfg StudyConfig, progress Progress) (StudyResult, error) {
	result := StudyResult{Config: cfg}
	runs := cfg.sensitivity()
	steps := 2 + len(cfg.Rates) + len(runs)
	var err error
	progress.Tell(0, steps, "figure 3")
	if result.Figure3, err = Paper(cfg.Figure3, nil); err != nil {
		return result, err
	}
	if cfg.Figure4 != (PaperConfig{}) {
		progress.Tell(1, steps, "figure 4")
		if result.Figure4, err = Paper(cfg.Figure4, nil); err != nil {
			return result, err
		}
	}
	for i, r := range cfg.Rates {
		p := cfg.Figure4
		p.Each, p.Capacity, p.Cycles = r.Each, r.Capacity, min(rateCycles, p.Cycles)
		progress.Tell(2+i, steps, "%d requests each, a capacity of %d", r.Each, r.Capacity)
		row, err := studyRow("", p)
		if err != nil {
			return result, err
		}
		result.Rates = append(result.Rates, row)
	}
	for i, r := range runs {
		progress.Tell(2+len(cfg.Rates)+i, steps, "figure 3 with %s", r.changed)
		row, err := studyRow(r.changed, r.config)
		if err != nil {
			return result, err
		}
		result.Sensitivity = append(result.Sensitivity, row)
	}
	progress.Tell(steps, steps, "done")
	return result, nil
}

// variant is figure 3 with one thing changed.
type variant struct {
	changed string
	config  PaperConfig
}

func (c StudyConfig) sensitivity() []variant {
	var all []variant
	add := func(change func(*PaperConfig), format string, args ...any) {
		p := c.Figure3
		change(&p)
		all = append(all, variant{changed: fmt.Sprintf(format, args...), config: p})
	}
	for _, v := range c.Capacities {
		add(func(p *PaperConfig) { p.Capacity = v }, "capacity %d", v)
	}
	for _, v := range c.Cycles {
		add(func(p *PaperConfig) { p.Cycle = v }, "a cycle of %v", v)
	}
	for _, v := range c.Groups {
		add(func(p *PaperConfig) { p.Groups = v }, "%d groups", v)
	}
	for _, v := range c.Exponents {
		add(func(p *PaperConfig) { p.Exponent = v }, "exponent %v", v)
	}
	return all
}

func studyRow(changed string, p PaperConfig) (StudyRow, error) {
	r, err := Paper(p, nil)
	if err != nil {
		return StudyRow{}, err
	}
	a := float64(p.Clients * p.Each)
	row := StudyRow{Changed: changed, Each: p.Each, Capacity: p.Capacity, Used: a / float64(p.Servers*p.Capacity),
		Ours: shareOf(r.Ours), Central: shareOf(r.Central)}
	row.Hottest = r.Ours.Hottest * a / float64(p.Servers*p.Capacity/p.Groups)
	return row, nil
}

func shareOf(r RequestsRun) StudyShare {
	return StudyShare{Answered: r.Answered, Pending: r.Pending[len(r.Pending)-1], P50: r.Seconds.P50, P99: r.Seconds.P99}
}
