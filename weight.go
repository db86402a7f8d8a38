package feedring

import (
	"fmt"
	"strconv"
)

// Bounds of FeedSpec.Weight. Intervals between fetches go by its square root, so that no
// weight makes one more than four times as short or as long.
const (
	LeastWeight = 1.0 / 16
	MostWeight  = 16
)

// ParseWeight reads the --weight flag.
func ParseWeight(s string) (float64, error) {
	w, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number: write one from 1/16 (0.0625) to 16", clip(s))
	}
	return CheckWeight(w)
}

// CheckWeight returns a weight, or why it is none.
func CheckWeight(w float64) (float64, error) {
	if !(w >= LeastWeight && w <= MostWeight) { // which no NaN is
		return 0, fmt.Errorf("weight %v: write a number from 1/16 (0.0625) to 16; 1 is a feed like the others", w)
	}
	return w, nil
}
