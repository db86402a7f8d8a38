package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// history is what was published and what readers were shown meanwhile.
type history struct {
	feeds   map[string]published // by name
	readers []readResult
	queries []asking
}

// published is a feed at the end: entries 0 to count-1, some acknowledged.
type published struct {
	theme string
	count int
	acked map[int]bool
}

// readResult is what a follower printed. An empty theme is all.
type readResult struct {
	who, theme string
	printed    []object
}

// asking is one query. An empty theme is all.
type asking struct {
	what, theme string
	result
}

func (h *history) take(l *ledger) {
	if h.feeds == nil {
		h.feeds = make(map[string]published)
	}
	h.feeds[l.name] = published{l.theme, l.count(), l.acknowledged()}
}

// wrongs is everything in the history that must not be, a line each.
func (h *history) wrongs() []string {
	var all []string
	for _, r := range h.readers {
		all = append(all, h.shown(r)...)
		all = append(all, h.lost(r)...)
	}
	for _, q := range h.queries {
		all = append(all, h.asked(q)...)
	}
	return all
}

// shown: each entry is one that was published, of a theme that was asked for,
// shown once, and after the first answer in the order of its feed.
func (h *history) shown(r readResult) (wrong []string) {
	seen, last, live := make(map[string]bool), make(map[string]int), false
	say := func(o object, what string) {
		wrong = append(wrong, fmt.Sprintf("%s: %q %s", r.who, o.str("title"), what))
	}
	for _, o := range r.printed {
		if o.str("event") == "gap" {
			wrong = append(wrong, fmt.Sprintf("%s: entries of %s were given up", r.who, o.str("feed")))
		}
		if o["event"] != nil {
			live = true
			continue
		}
		name, number, ok := entryOf(o)
		f := h.feeds[name]
		switch {
		case !ok || number >= f.count || o.str("provider") != name:
			say(o, "was never published")
			continue
		case o.str("theme") != f.theme || r.theme != "" && f.theme != r.theme:
			say(o, "is of another theme")
		case seen[o.str("id")] || seen[o.str("title")]:
			say(o, "was shown twice")
		case live && last[name] > number:
			say(o, fmt.Sprintf("was shown after #%d", last[name]))
		}
		seen[o.str("id")], seen[o.str("title")] = true, true
		last[name] = max(last[name], number)
	}
	return wrong
}

// lost: what publishers acknowledged is shown to everybody who follows.
func (h *history) lost(r readResult) (wrong []string) {
	seen := make(map[string]bool)
	for _, o := range r.printed {
		seen[o.str("title")] = true
	}
	for name, f := range h.feeds {
		if r.theme != "" && f.theme != r.theme {
			continue
		}
		for number := range f.acked {
			if title := fmt.Sprintf("%s #%d", name, number); !seen[title] {
				wrong = append(wrong, fmt.Sprintf("%s: %q was acknowledged and is lost", r.who, title))
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// asked: a query ends with exactly one final, which fits its exit code, and
// shows only what was asked for, once. A theme that has a group all along is
// never said to have none.
func (h *history) asked(q asking) (wrong []string) {
	say := func(what string) { wrong = append(wrong, q.what+": "+what) }
	if q.took > 15*time.Second {
		say(fmt.Sprintf("ended only after %s, with 5 s to answer", q.took))
	}
	finals := q.finals()
	if q.code == 1 && len(q.objects) == 0 && strings.Contains(q.stderr, "no peer could be reached") {
		return wrong // nobody heard the question: it has no final
	}
	if len(finals) != 1 {
		return []string{fmt.Sprintf("%s: %d finals: %v", q.what, len(finals), q.result)}
	}
	codes := map[string]int{"answered": 0, "unsatisfied": 3, "incomplete": 4}
	event := finals[0].str("event")
	if q.code != codes[event] || q.objects[len(q.objects)-1].str("event") != event {
		say(fmt.Sprintf("%s, exit %d", event, q.code))
	}
	if event == "unsatisfied" {
		say("a theme that is there was said to be nowhere")
	}
	seen := make(map[string]bool)
	for _, o := range q.entries() {
		name, number, ok := entryOf(o)
		if f := h.feeds[name]; !ok || number >= f.count || f.theme != o.str("theme") || q.theme != "" && q.theme != f.theme {
			say(fmt.Sprintf("%q was not asked for", o.str("title")))
		}
		if seen[o.str("id")] {
			say(fmt.Sprintf("%q came twice", o.str("title")))
		}
		seen[o.str("id")] = true
	}
	return wrong
}

// whole reports whether a query was answered, with all that publishers
// acknowledged of its theme, or of all.
func (h *history) whole(q asking) bool {
	finals := q.finals()
	if len(finals) != 1 || finals[0].str("event") != "answered" {
		return false
	}
	return len(h.lost(readResult{theme: q.theme, printed: q.objects})) == 0
}

// entryOf reads the title that a ledger gave.
func entryOf(o object) (name string, number int, ok bool) {
	name, text, ok := strings.Cut(o.str("title"), " #")
	number, err := strconv.Atoi(text)
	return name, number, ok && err == nil
}
