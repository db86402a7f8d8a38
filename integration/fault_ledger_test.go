package integration

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ledger is a feed that knows which of its entries its publisher acknowledged:
// a peer that asks for what is newer than one version of the document says so
// that it keeps all of that version, and will not be shown it again. Entries
// are numbered, and leave the document when twenty newer ones are there.
type ledger struct {
	*feed
	theme string

	mu      sync.Mutex
	numbers int
	acked   map[int]bool
}

const inDocument = 20 // see feed.render

func newLedger(theme, name string) *ledger {
	return &ledger{feed: newFeed(name, 0), theme: theme, acked: make(map[int]bool)}
}

// spec is a --feed value, served at o.
func (l *ledger) spec(o *origin) string {
	return l.theme + "=" + l.name + "@" + o.serve(l.name, l.answer)
}

// publish adds the next entry and returns its title.
func (l *ledger) publish(body string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	title := fmt.Sprintf("%s #%d", l.name, l.numbers)
	l.numbers++
	l.add(title, body, time.Now())
	return title
}

// publishUntil publishes every 20 ms until a condition holds, and returns how
// many entries there are.
func (l *ledger) publishUntil(t testing.TB, ok func() bool) int {
	t.Helper()
	until(t, 30*time.Second, "publishing", func() bool {
		l.publish("a few at a time")
		return ok()
	})
	return l.count()
}

func (l *ledger) answer(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tag := fmt.Sprintf(`"v%d"`, l.numbers)
	known := r.Header.Get("If-None-Match")
	l.acknowledge(known)
	w.Header().Set("ETag", tag)
	if known == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = w.Write(l.render())
}

func (l *ledger) acknowledge(tag string) {
	count, err := strconv.Atoi(strings.Trim(tag, `"v`))
	if err != nil {
		return
	}
	for k := max(0, count-inDocument); k < count; k++ {
		l.acked[k] = true
	}
}

// acknowledged is which entries the publisher must have by now.
func (l *ledger) acknowledged() map[int]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[int]bool, len(l.acked))
	for k := range l.acked {
		all[k] = true
	}
	return all
}

// count is how many entries there were.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers
}

// settled reports whether everything in the document is acknowledged.
func (l *ledger) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked[l.numbers-1]
}
