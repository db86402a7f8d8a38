package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// The sides, in the order of the table's columns.
const (
	feedring  = "feedring"
	jetStream = "NATS JetStream"
	gossipSub = "GossipSub"
	nginx     = "nginx"
)

// table collects the figures of all rounds: a line for each figure, a column for
// each side.
type table struct {
	order  [][2]string // group and figure
	values map[[3]string][]float64
}

func (t *table) add(side, group, figure string, value float64) {
	if line := [2]string{group, figure}; !slices.Contains(t.order, line) {
		t.order = append(t.order, line)
	}
	if t.values == nil {
		t.values = make(map[[3]string][]float64)
	}
	key := [3]string{side, group, figure}
	t.values[key] = append(t.values[key], value)
}

func (t *table) print(w io.Writer) {
	sides := []string{feedring, jetStream, gossipSub, nginx}
	fmt.Fprintf(w, "| | %s |\n|%s\n", strings.Join(sides, " | "), strings.Repeat(" --- |", len(sides)+1))
	for i, line := range t.order {
		if i == 0 || t.order[i-1][0] != line[0] {
			fmt.Fprintf(w, "| **%s** |%s\n", line[0], strings.Repeat(" |", len(sides)))
		}
		fmt.Fprintf(w, "| %s |", line[1])
		for _, side := range sides {
			fmt.Fprintf(w, " %s |", cell(t.values[[3]string{side, line[0], line[1]}]))
		}
		fmt.Fprintln(w)
	}
}

// cell is the median of some values, with the least and the greatest.
func cell(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s)", figure(median(values)), figure(slices.Min(values)), figure(slices.Max(values)))
}

// figure prints two digits that count, and all of those before the point.
func figure(v float64) string {
	digits := 0
	if v != 0 && math.Abs(v) < 10 {
		digits = min(1-int(math.Floor(math.Log10(math.Abs(v)))), 3)
	}
	return message.NewPrinter(language.English).Sprintf("%.*f", digits, v)
}

// median of an even number of values is the mean of the middle two. There must
// be one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
