package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// quantity is a flag of a number with a unit.
type quantity struct {
	value float64 // in the unit of scale 1
	text  string
	kind  quantityKind
}

// A quantityKind is what a quantity measures. Units that end like another come first.
type quantityKind struct {
	name, example string
	units         []unit
}

type unit struct {
	name  string
	scale float64
}

var (
	bytesOfMemory = quantityKind{"size", "1GiB or 512MB", []unit{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	}}
	bitsASecond = quantityKind{"rate", "100Mbit or 1Gbit", []unit{{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}}}
	timesAsMuch = quantityKind{"factor", "2x", []unit{{"x", 1}}}
	shareOfAll  = quantityKind{"share", "10%", []unit{{"%", 0.01}}}
)

func newQuantity(kind quantityKind, text string) *quantity {
	q := &quantity{kind: kind}
	if err := q.Set(text); err != nil {
		panic(err)
	}
	return q
}

// Set implements pflag.Value.
func (q *quantity) Set(text string) error {
	for _, u := range q.kind.units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		if strings.Trim(digits, "0123456789.") != "" || len(digits) > 18 { // no sign, exponent or infinity
			break
		}
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			break
		}
		q.value, q.text = n*u.scale, text
		return nil
	}
	return errors.New("give a number and a unit, such as " + q.kind.example)
}

// String implements pflag.Value.
func (q *quantity) String() string { return q.text }

// Type implements pflag.Value.
func (q *quantity) Type() string { return q.kind.name }

// inUnits shows an amount in the largest of some units in which it is 1 or more.
func inUnits(v float64, units ...unit) string {
	u := units[0]
	for _, larger := range units {
		if v >= larger.scale {
			u = larger
		}
	}
	return fmt.Sprintf("%s %s", num(v/u.scale), u.name)
}
