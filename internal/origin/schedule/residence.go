package schedule

import "time"

const (
	// lifeBins are of the hours that an entry stays in its document: bin i ends
	// at 2^(i/2-1) hours, from half an hour to eleven days; the last takes what
	// stays longer.
	lifeBins = 20

	// parts of the day: what is published at night is not taken out as soon as
	// what is published at noon.
	dayParts = 8

	priorLives  = 20                        // of the whole day, that each part is given beforehand
	enoughLives = 5 * priorLives * dayParts // known before each part says more of itself than it was given
	mostLives   = 16 * enoughLives
)

// Residence is how long the entries of a feed stay in its document, by when they
// were published. Editors take entries out before the window is full, which no
// window says. The zero Residence knows nothing. It takes 724 bytes, so that only
// feeds that publish much have one, and is not safe for concurrent use.
type Residence struct {
	all   [lifeBins]float32
	parts [dayParts][lifeBins]float32
	sum   float32
}

// Learn takes the life of an entry that is gone, or has stayed so long yet.
func (l *Residence) Learn(published time.Time, life time.Duration) {
	i := 0
	for i < lifeBins-1 && life.Hours() >= binEnds[i] {
		i++
	}
	l.all[i]++
	l.parts[published.UTC().Hour()*dayParts/24][i]++
	if l.sum++; l.sum < mostLives {
		return
	}
	l.sum /= 2 // what is old counts less
	for i := range l.all {
		l.all[i] /= 2
		for p := range l.parts {
			l.parts[p][i] /= 2
		}
	}
}

// Known reports whether enough lives were learned to go by.
func (l *Residence) Known() bool { return l != nil && l.sum >= enoughLives }

// binEnds are in hours: each is the square root of two times the one before.
var binEnds = [lifeBins - 1]float64{
	0.5, 0.707107, 1.0, 1.414214, 2.0, 2.828427, 4.0, 5.656854, 8.0, 11.313708,
	16.0, 22.62742, 32.0, 45.25483, 64.0, 90.50967, 128.0, 181.01934, 256.0,
}

// gone is which share of the entries of an hour of the day is gone so many hours
// after they were published.
func (l *Residence) gone(hour int, after float64) float64 {
	part := &l.parts[hour*dayParts/24]
	share, sum, begin := 0.0, 0.0, 0.0
	passed := false
	for i := range lifeBins {
		n := float64(part[i]) + priorLives*float64(l.all[i]/l.sum)
		sum += n
		if passed || i == lifeBins-1 {
			continue
		}
		end := binEnds[i]
		if after < end {
			share += n * (after - begin) / (end - begin)
			passed = true
			continue
		}
		share += n
		begin = end
	}
	return share / sum
}
