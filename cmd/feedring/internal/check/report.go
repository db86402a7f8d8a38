package check

import (
	"fmt"
	"net/http"
	"time"
)

// Answer is one answer of an origin.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // decompressed; nil: none
	Wire   int    // bytes that came over the network
}

// Hop is one redirect on the way.
type Hop struct {
	Status   int
	From, To string
}

// Seen is what two requests showed.
type Seen struct {
	URL      string // as it was named
	Location string // where redirects led
	Hops     []Hop
	First    Answer // to a request without conditions
	// Again is the answer to the same request a moment later, with the
	// validators of the first where it gave some.
	Again Answer
	Now   time.Time
}

// Level says how much a finding matters.
type Level uint8

// The levels.
const (
	OK   Level = iota
	Note       // worth knowing, and no fault
	Warn
	Fail
)

var levelNames = [...]string{OK: "ok", Note: "note", Warn: "warn", Fail: "fail"}

// String returns a word for people and programs.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is one line of a report.
type Finding struct {
	Name   string `json:"check"`
	Level  Level  `json:"level"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"`
}

// Report is what there is to say of a feed.
type Report struct {
	URL      string
	Location string // empty: no redirect led elsewhere
	Title    string
	Format   string // such as "RSS 2.0"
	Entries  int
	Bytes    int // of the document
	Findings []Finding
}

// What a finding costs of 100 points.
var cost = [...]int{Warn: 6, Fail: 15}

// Points are what is left of 100.
func (r *Report) Points() int {
	points := 100
	for _, f := range r.Findings {
		points -= cost[f.Level]
	}
	return max(0, points)
}

// Grade is a letter from A to F.
func (r *Report) Grade() string {
	points := r.Points()
	for i, least := range [...]int{90, 80, 65, 50, 35} {
		if points >= least {
			return string("ABCDE"[i])
		}
	}
	return "F"
}

func (r *Report) add(name string, level Level, advice, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{name, level, fmt.Sprintf(format, args...), advice})
}

func (r *Report) ok(name, format string, args ...any) { r.add(name, OK, "", format, args...) }
