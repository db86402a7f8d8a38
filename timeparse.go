package feedring

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// units of durations; "ms" stands before "m", which it begins with.
var units = []struct {
	name string
	unit time.Duration
}{
	{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", day}, {"w", 7 * day},
}

// ParseDuration reads durations as people write them: "90s", "1h30m", "7d",
// "1.5w". It knows no sign.
func ParseDuration(s string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is no duration, which is a number and a unit of s, m, h, d or w, such as 36h or 7d", clip(s))
	if s == "0" {
		return 0, nil
	}
	if len(s) > 64 {
		return 0, wrong
	}
	var total float64
	for rest := s; rest != "" || s == ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		number, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, wrong
		}
		unit, after, ok := cutUnit(rest[digits:])
		if !ok {
			return 0, wrong
		}
		total, rest = total+number*float64(unit), after
	}
	if total >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is longer than a duration can be, 292 years", clip(s))
	}
	return time.Duration(total), nil
}

func cutUnit(s string) (unit time.Duration, rest string, ok bool) {
	for _, u := range units {
		if rest, ok := strings.CutPrefix(s, u.name); ok {
			return u.unit, rest, true
		}
	}
	return 0, s, false
}
