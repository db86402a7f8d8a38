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

// table collects the figures of all rounds: a line for what is done, with all its
// figures, and a column for each side.
type table struct {
	order   []string            // what is done
	figures map[string][]string // their names, by it
	values  map[[3]string][]float64
}

func (t *table) add(side, what, figure string, value float64) {
	if t.values == nil {
		t.figures, t.values = make(map[string][]string), make(map[[3]string][]float64)
	}
	if !slices.Contains(t.order, what) {
		t.order = append(t.order, what)
	}
	if !slices.Contains(t.figures[what], figure) {
		t.figures[what] = append(t.figures[what], figure)
	}
	key := [3]string{side, what, figure}
	t.values[key] = append(t.values[key], value)
}

func (t *table) print(w io.Writer) {
	sides := []string{feedring, jetStream, gossipSub, nginx}
	fmt.Fprintf(w, "| | %s |\n|%s\n", strings.Join(sides, " | "), strings.Repeat(" --- |", len(sides)+1))
	for _, what := range t.order {
		fmt.Fprintf(w, "| %s: %s |", what, strings.Join(t.figures[what], "; "))
		for _, side := range sides {
			var cells []string
			for _, figure := range t.figures[what] {
				if values := t.values[[3]string{side, what, figure}]; len(values) > 0 {
					cells = append(cells, cell(values))
				}
			}
			fmt.Fprintf(w, " %s |", strings.Join(cells, "; "))
		}
		fmt.Fprintln(w)
	}
}

// cell is the median of some values, with the least and the greatest. There must
// be one.
func cell(values []float64) string {
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
