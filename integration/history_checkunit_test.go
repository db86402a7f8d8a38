package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func shownEntry(name string, number int, theme string) object {
	title := fmt.Sprintf("%s #%d", name, number)
	return object{"id": "id of " + title, "title": title, "provider": name, "theme": theme}
}

func goodHistory() *history {
	final := object{"event": "answered"}
	n, s := func(k int) object { return shownEntry("n", k, "news") }, func(k int) object { return shownEntry("s", k, "sport") }
	return &history{
		feeds: map[string]published{
			"n": {"news", 4, map[int]bool{0: true, 1: true, 3: true}}, // 2 was never acknowledged
			"s": {"sport", 1, map[int]bool{0: true}},
		},
		readers: []readResult{
			{"of news", "news", []object{n(1), n(0), final, n(2), n(3)}},
			{"of all", "", []object{final, n(0), s(0), n(1), n(3)}},
		},
		queries: []asking{
			{what: "news?", theme: "news", result: result{objects: []object{n(1), n(0), final}}},
			{what: "all?", result: result{code: 4, objects: []object{{"event": "incomplete"}}}},
			{what: "anybody?", result: result{code: 1, stderr: "feedring: no peer could be reached: …"}},
		},
	}
}

// TestHistoryChecker plants each wrong in a good history.
func TestHistoryChecker(t *testing.T) {
	t.Parallel()
	if wrongs := goodHistory().wrongs(); len(wrongs) != 0 {
		t.Fatalf("a good history: %q", wrongs)
	}
	n := func(k int) object { return shownEntry("n", k, "news") }
	for i, objects := range [][]object{{n(0), n(1), n(3), {"event": "answered"}}, {n(0), n(3), {"event": "answered"}}, {n(0), n(1), n(3), {"event": "incomplete"}}, {n(0), n(1), n(3)}} {
		if whole := goodHistory().whole(asking{theme: "news", result: result{objects: objects}}); whole != (i == 0) {
			t.Errorf("%v is whole: %v", objects, whole)
		}
	}
	shows := func(more ...object) func(*history) {
		return func(h *history) { h.readers[0].printed = append(h.readers[0].printed, more...) }
	}
	asks := func(code int, objects ...object) func(*history) {
		return func(h *history) { h.queries[0].code, h.queries[0].objects = code, objects }
	}
	answered := object{"event": "answered"}
	bad := map[string]struct {
		spoil func(*history)
		word  string
	}{
		"twice":           {shows(n(3)), "shown twice"},
		"a second id":     {shows(object{"id": "other", "title": "n #3", "provider": "n", "theme": "news"}), "shown twice"},
		"out of order":    {func(h *history) { p := h.readers[0].printed; p[3], p[4] = p[4], p[3] }, "after #3"},
		"other theme":     {shows(shownEntry("s", 0, "sport")), "another theme"},
		"false theme":     {shows(shownEntry("s", 0, "news")), "another theme"},
		"never published": {shows(n(4)), "never published"},
		"not ours":        {shows(object{"id": "x", "title": "x"}), "never published"},
		"gap":             {shows(object{"event": "gap", "feed": "n"}), "given up"},
		"lost":            {func(h *history) { h.readers[0].printed = h.readers[0].printed[1:] }, `"n #1" was acknowledged and is lost`},
		"lost to all":     {func(h *history) { h.readers[1].printed = h.readers[1].printed[:2] }, `"s #0" was acknowledged and is lost`},
		"no final":        {asks(1), "0 finals"},
		"late":            {func(h *history) { h.queries[0].took = time.Minute }, "ended only after"},
		"two finals":      {asks(0, answered, answered), "2 finals"},
		"after the final": {asks(0, answered, n(0)), "exit 0"},
		"false code":      {asks(4, answered), "exit 4"},
		"false no":        {asks(3, object{"event": "unsatisfied"}), "nowhere"},
		"answer twice":    {asks(0, n(0), n(0), answered), "came twice"},
		"wrong answer":    {asks(0, shownEntry("s", 0, "sport"), answered), "not asked for"},
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		h := goodHistory()
		bad[name].spoil(h)
		if wrongs := strings.Join(h.wrongs(), "\n"); !strings.Contains(wrongs, bad[name].word) {
			t.Errorf("%s: found %q", name, wrongs)
		}
	}
}
