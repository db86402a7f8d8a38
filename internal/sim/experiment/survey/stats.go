package survey

import (
	"math"
	"slices"
)

// number is a figure that there may not be.
type number = *float64

func have(v float64) number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func ratio(a, b float64) number { return have(a / b) }

// share of values that pass.
func share[T any](values []T, pass func(T) bool) number {
	n := 0
	for _, v := range values {
		if pass(v) {
			n++
		}
	}
	return ratio(float64(n), float64(len(values)))
}

// quantile of values, by nearest rank; values are sorted.
func quantile(values []float64, q float64) number {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return have(values[max(0, int(math.Ceil(q*float64(len(values))))-1)])
}

func largest(values []float64) number { return quantile(values, 1) }

// exponent is the b of rate = a / rank^b, by least squares over logarithms, for the
// ranks from one to another. rates fall. It takes five rates above 0 at least.
func exponent(rates []float64, from, to int) number {
	var x, y []float64
	for rank := from; rank <= min(to, len(rates)); rank++ {
		if rates[rank-1] > 0 {
			x, y = append(x, math.Log(float64(rank))), append(y, math.Log(rates[rank-1]))
		}
	}
	if len(x) < 5 {
		return nil
	}
	slope, _ := line(x, y)
	return have(-slope)
}

// line is the slope of the line of least squares, and how well it fits (R squared).
func line(x, y []float64) (slope, fit float64) {
	var mx, my, xx, xy, yy float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	for i := range x {
		xx, xy, yy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my), yy+(y[i]-my)*(y[i]-my)
	}
	return xy / xx, xy * xy / (xx * yy)
}

// busiest is the share of the hours of a day that the busiest eight in a row have.
func busiest(hours [24]float64) number {
	most, sum := 0.0, 0.0
	for h := range hours {
		eight := 0.0
		for k := range 8 {
			eight += hours[(h+k)%24]
		}
		most, sum = max(most, eight), sum+hours[h]
	}
	return ratio(most, sum)
}
