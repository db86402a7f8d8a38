package match

import (
	"slices"
	"testing"
)

func TestSlips(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []Slip
	}{
		{"", nil},
		{"europe energie", nil},
		{"europe AND NOT sport OR gaz", nil},
		{"climate and energy", []Slip{{SlipOperator, "and"}}},
		{"climate Or energy not sport", []Slip{{SlipOperator, "Or"}}},
		{"or", nil}, // the metal
		{`"climate and energy"`, nil},
		{"elect*", []Slip{{SlipWildcard, "elect*"}}},
		{"a * b **", nil},
		{"title:x", []Slip{{SlipField, "title:x"}}},
		{"-site:lemonde.fr", []Slip{{SlipField, "-site:lemonde.fr"}}},
		{`title:"le monde"`, []Slip{{SlipField, "title:"}}},
		{"https://lemonde.fr/a 21:00 Europe: the end", nil},
		{"a && b || !c", []Slip{{SlipSymbol, "&&"}}},
		{"title:elect* and b", []Slip{{SlipOperator, "and"}, {SlipWildcard, "title:elect*"}}},
	} {
		if got := Slips(test.in); !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.in, got, test.want)
		}
	}
}

func TestHints(t *testing.T) {
	for in, want := range map[string]string{
		"climate and energy": `AND, OR and NOT are written in capitals: "and" was looked for as a word`,
		"elect*":             `there are no wildcards: "elect*" was looked for as elect; --stem finds other endings`,
		"title:x":            `there are no fields: "title:x" was looked for as these words`,
		"-site:lemonde.fr":   `there are no fields: "-site:lemonde.fr" was looked for as these words; --provider asks for one provider`,
		"a && b":             `operators are written AND, OR, NOT and -word: "&&" means nothing`,
	} {
		if got := Slips(in)[0].Hint("--"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
