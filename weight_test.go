package feedring

import (
	"math"
	"strings"
	"testing"
)

func TestWeightOutOfBoundsIsRefused(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "0.0625": 1.0 / 16, "16": 16, "2.5e0": 2.5} {
		if got, err := ParseWeight(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "17", "0.06", "NaN", "nan", "inf", "-Inf", "heavy", "1,5", "1/4", "1e999", strings.Repeat("9", 5000)} {
		if got, err := ParseWeight(text); err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "0.0625") {
			t.Errorf("%.20q: %v, %v", text, got, err)
		}
	}
	if _, err := CheckWeight(math.NaN()); err == nil {
		t.Error("NaN is a weight")
	}
}
