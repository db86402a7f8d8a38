package schedule

import (
	"math"
	"time"
)

// What is believed of a feed before anything was seen of it: an entry in ten
// days, held as firmly as a day's fetching would.
const (
	priorEntries = 0.1
	priorDays    = 1.0

	// What each day of the week is given beforehand, in entries: who has shown little
	// has no rhythm yet.
	priorWeek = 8.0

	// memory is after how long what was seen counts half: feeds change their
	// habits, but a rhythm of weeks takes weeks to see.
	memory = 21 * 24 * time.Hour
)

// Rhythm is what was learned of when a feed publishes: its rate, and how that
// goes over the hours of a day and the days of a week (UTC). The zero Rhythm
// knows nothing. It takes 144 bytes, and is not safe for concurrent use.
type Rhythm struct {
	at      int64   // Unix seconds of the newest that was learned
	entries float32 // seen, each worth half after memory
	days    float32 // fetched, likewise
	hours   [24]float32
	week    [7]float32
}

// Learn takes the entries published in (from, to], a stretch of which none can
// have been missed. Stretches come in order and do not overlap.
func (r *Rhythm) Learn(published []time.Time, from, to time.Time) {
	if !to.After(from) {
		return
	}
	if r.at != 0 {
		fade := float32(math.Exp2(-float64(to.Unix()-r.at) / memory.Seconds()))
		r.entries *= fade
		r.days *= fade
		for i := range r.hours {
			r.hours[i] *= fade
		}
		for i := range r.week {
			r.week[i] *= fade
		}
	}
	r.at = to.Unix()
	r.days += float32(to.Sub(from).Hours() / 24)
	for _, t := range published {
		t = t.UTC()
		r.entries++
		r.hours[t.Hour()]++
		r.week[t.Weekday()]++
	}
}

// newest is when something was learned last.
func (r *Rhythm) newest() time.Time { return time.Unix(r.at, 0) }

// PerDay is the mean rate, in entries a day, of a feed alone: Prior.PerDay goes
// by others too.
func (r *Rhythm) PerDay() float64 { return PerDay(r.Seen()) }

// PerDay is Rhythm.PerDay of what Rhythm.Seen returned.
func PerDay(entries, days float64) float64 { return (entries + priorEntries) / (days + priorDays) }

// Seen is what was learned from: so many entries in so many days, each worth half
// after memory.
func (r *Rhythm) Seen() (entries, days float64) { return float64(r.entries), float64(r.days) }
