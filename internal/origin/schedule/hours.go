package schedule

import "time"

// harmonics of a day are what is believed of the hours of a feed that has shown
// little: more would be of single entries.
const harmonics = 4

// priorHour is what each hour is given beforehand, in entries.
const priorHour = 4.0

// cosines are of the hours of a day.
var cosines = [24]float64{
	1, 0.9659258, 0.8660254, 0.7071068, 0.5, 0.2588190, 0, -0.2588190, -0.5, -0.7071068, -0.8660254, -0.9659258,
	-1, -0.9659258, -0.8660254, -0.7071068, -0.5, -0.2588190, 0, 0.2588190, 0.5, 0.7071068, 0.8660254, 0.9659258,
}

// wave is how much of what was seen goes up and down with k times the hour.
func (r *Rhythm) wave(k int) (cos, sin float64) {
	for h, n := range r.hours {
		cos += float64(n) * cosines[k*h%24]
		sin += float64(n) * cosines[(k*h+18)%24]
	}
	return cos, sin
}

// Gathered is how far a population's entries gather at hours of the day, each feed's at
// hours of its own: the square of the mean resultant of the times of day, without
// what chance gives. 0 is of even days, 1 of entries that all come at one hour. The
// zero value knows nothing.
type Gathered struct{ sum, entries, feeds float64 }

// Add takes a feed, which may have been added before.
func (g *Gathered) Add(r *Rhythm) {
	if n := float64(r.entries); n > 1 {
		cos, sin := r.wave(1)
		g.sum += (cos*cos + sin*sin - n) / (n - 1)
		g.entries += n
		g.feeds++
	}
}

// Fade lets what was added count half, if that is more than so many feeds.
func (g *Gathered) Fade(feeds int) {
	if g.feeds > float64(feeds) {
		*g = Gathered{g.sum / 2, g.entries / 2, g.feeds / 2}
	}
}

func (g Gathered) square() float64 {
	if g.entries == 0 {
		return 0
	}
	return min(max(0, g.sum/g.entries), 1)
}

// hours is when a feed publishes: so many times the mean.
type hours struct {
	day  [24]float64
	week [7]float64
}

// hours is what was seen of the feed, and before that what the population lets expect:
// the feed's own waves, each as far as such waves are more than chance. The k-th
// wave of a population is taken to be the k-th power of its first.
func (p *Prior) hours(r *Rhythm) *hours {
	var f hours
	seen := float64(r.entries)
	for d, n := range r.week {
		f.week[d] = (float64(n) + priorWeek) * 7 / (seen + 7*priorWeek)
	}
	for h := range f.day {
		f.day[h] = 1
	}
	if p != nil && seen > 0 {
		f.wave(r, p.gathered)
	}
	for h, n := range r.hours {
		f.day[h] = (float64(n) + priorHour*max(0.1, f.day[h])) * 24 / (seen + 24*priorHour)
	}
	return &f
}

// wave adds the feed's own waves, in a population that gathers so far.
func (f *hours) wave(r *Rhythm, gathered float64) {
	seen, square := float64(r.entries), 1.0
	for k := 1; k <= harmonics; k++ {
		square *= gathered
		sure := square * seen / (square*seen + 1 - square)
		cos, sin := r.wave(k)
		for h := range f.day {
			f.day[h] += 2 * sure / seen * (cos*cosines[k*h%24] + sin*cosines[(k*h+18)%24])
		}
	}
}

// over is how much more than in the mean is published between two times that
// are at most a day apart.
func (f *hours) over(from, to time.Time) float64 {
	from = from.UTC()
	day := f.week[from.Weekday()]
	if to.Sub(from) > 12*time.Hour {
		return day
	}
	sum, n := 0.0, 0.0
	for h := from.Truncate(time.Hour); h.Before(to); h = h.Add(time.Hour) {
		sum += f.day[h.Hour()]
		n++
	}
	return day * sum / n
}
