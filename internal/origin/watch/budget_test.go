package watch

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

func TestBudgetWaitsAfterFailures(t *testing.T) {
	b := NewBudget(Uniform, MeanInterval, rand.NewPCG(1, 2))
	near := func(got, want time.Duration) bool { return got >= want*9/10 && got <= want*11/10 }
	state := fetch.State{URL: "http://a.example/"}
	wait := func(o fetch.Outcome) time.Duration {
		next, _ := b.Next(&state, o, start)
		return next.Sub(start)
	}
	if got := wait(fetch.Outcome{New: 1}); !near(got, MeanInterval) {
		t.Errorf("one feed: %v", got)
	}
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		state.Failures = i + 1
		if got := wait(fetch.Outcome{Err: failure.New(failure.KindSlow, "x")}); !near(got, want) {
			t.Errorf("failure %d: %v", i+1, got)
		}
	}
	state.Failures = 1000
	if got := wait(fetch.Outcome{Err: failure.New(failure.KindSlow, "x")}); !near(got, lastRetry) {
		t.Errorf("many failures: %v", got)
	}
	if got := b.Resume(&fetch.State{NextFetch: start.Add(-time.Hour)}, start).Sub(start); got < 0 || got > resumeSpread {
		t.Errorf("resume: %v", got)
	}
}

// evenOrigins is origins that publish evenly, each as often as its number says, with
// windows of six entries.
type evenOrigins struct {
	began  time.Time
	looks  map[int]int
	seen   map[string]bool
	waited time.Duration
}

// everies are the hours between two entries of a feed.
var everies = []int{1, 3, 8, 24, 60, 150, 400}

func (c *evenOrigins) answer(w http.ResponseWriter, r *http.Request) {
	i, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(r.URL.Host, ".example"), "h"))
	c.looks[i]++
	every := time.Duration(everies[i%len(everies)]) * time.Hour
	phase := time.Duration(i) * 7 * time.Minute
	n := int(time.Since(c.began.Add(-1000*time.Hour-phase)) / every)
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>T</title>`)
	for k := n; k > n-6; k-- {
		at := c.began.Add(-1000*time.Hour - phase + time.Duration(k)*every)
		id := fmt.Sprint(i, "/", k)
		if !c.seen[id] {
			c.seen[id] = true
			if at.After(c.began) {
				c.waited += time.Since(at)
			}
		}
		fmt.Fprintf(&b, "<item><guid>%s</guid><title>%s</title><pubDate>%s</pubDate></item>", id, id, at.UTC().Format(time.RFC1123Z))
	}
	b.WriteString(`</channel></rss>`)
	_, _ = w.Write([]byte(b.String()))
}

// lives plays a rule in virtual time for some days.
func lives(t *testing.T, rule Rule, mean time.Duration, feeds, days int) (c *evenOrigins) {
	synctest.Test(t, func(t *testing.T) {
		c = &evenOrigins{began: time.Now(), looks: make(map[int]int), seen: make(map[string]bool)}
		f := &fakeOrigins{answer: c.answer}
		h := &recorder{}
		w, err := New(Config{Client: f, Policy: NewBudget(rule, mean, rand.NewPCG(1, 2)), Handler: h, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		stop := runs(t, w)
		for i := range feeds {
			w.Add(fmt.Sprintf("http://h%d.example/", i), fetch.State{})
		}
		time.Sleep(time.Duration(days) * 24 * time.Hour)
		synctest.Wait()
		stop()
	})
	return c
}
