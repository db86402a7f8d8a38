package watch

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
)

const (
	hour = time.Hour
	day  = 24 * time.Hour
	aURL = "http://a.example/feed"
	bURL = "http://a.example/other"
)

// polite is one case: an origin, a reader that runs for a while, and what the
// score is beside the checks of every request.
type polite struct {
	urls    []string // nil: aURL
	hosts   HostPolicy
	policy  Policy // nil: an hour between fetches
	run     time.Duration
	takes   time.Duration // each answer; 0: a moment
	restart time.Duration // after which the process is another; 0: never
	between time.Duration // least time between requests, as the scorer sees it; 0: an hour, negative: any
	answer  func(path string, n int, now time.Time, r *http.Request) reply
	more    func(t *testing.T, s *scorer, h *recorder) // while it runs, in the end; nil: nothing
}

// versioned is a document of n items.
func versioned(n int, more string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>T</title>` + more)
	for i := n; i >= max(0, n-9); i-- {
		fmt.Fprintf(&b, "<item><guid isPermaLink=\"false\">g%d</guid><title>Item %d</title></item>", i, i)
	}
	return b.String() + "</channel></rss>"
}

func ok(etag, body string, more ...string) reply {
	h := http.Header{}
	if etag != "" {
		h["Etag"] = []string{etag}
	}
	for pair := range slices.Chunk(more, 2) {
		h.Set(pair[0], pair[1])
	}
	return reply{status: http.StatusOK, header: h, body: body}
}

func status(code int, more ...string) reply {
	a := ok("", "", more...)
	a.status = code
	return a
}

// unchanging answers 304 to all but the first.
func unchanging(n int, a reply) reply {
	if n == 0 {
		return a
	}
	quiet := a.quiet
	a = status(http.StatusNotModified)
	a.quiet = quiet
	return a
}

// says is an origin whose document says when it changes; quiet is when, of an
// answer.
func says(what string, quiet func(time.Time) time.Time) func(string, int, time.Time, *http.Request) reply {
	return func(_ string, n int, now time.Time, _ *http.Request) reply {
		a := ok(`"x"`, versioned(1, what))
		a.quiet = quiet(now)
		return unchanging(n, a)
	}
}

func after(d time.Duration) func(time.Time) time.Time {
	return func(now time.Time) time.Time { return now.Add(d) }
}

func never(time.Time) time.Time { return time.Time{} }

// asks fails where requests for an address are not so many.
func asks(from, to int) func(*testing.T, *scorer, *recorder) {
	return func(t *testing.T, s *scorer, _ *recorder) {
		t.Helper()
		if n := s.count(aURL); n < from || n > to {
			t.Errorf("%d requests, want %d to %d", n, from, to)
		}
	}
}

func odd(n int) string { return fmt.Sprintf("W/\"%d \xe9,\\ '\"", n) }

var politenessCases = map[string]polite{
	"nothing changes": {run: 3 * day, answer: func(_ string, n int, now time.Time, _ *http.Request) reply {
		return unchanging(n, ok(`"x"`, versioned(1, ""), "Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT"))
	}, more: func(t *testing.T, s *scorer, h *recorder) {
		asks(60, 73)(t, s, h)
		gaps := s.gaps(aURL)
		if slices.Min(gaps) == slices.Max(gaps) {
			t.Error("requests without jitter")
		}
	}},
	"strange validators": {run: day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return ok(odd(n), versioned(n, ""), "Last-Modified", fmt.Sprint("about noon, ", n))
	}},
	"a tag that cannot be sent": {run: day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		a := ok("\"\x01\"", versioned(n, ""))
		a.lost = true // as a tag
		return a
	}, more: asks(20, 25)},
	"304 with another tag": {run: day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		if n == 0 {
			return ok(`"x"`, versioned(1, ""))
		}
		return status(http.StatusNotModified, "Etag", `"y"`, "Last-Modified", "today")
	}},
	"a broken document keeps the tag": {run: 2 * day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		a := ok(odd(n), versioned(n, ""))
		if n%2 == 1 {
			a.body, a.lost = "<html><title>Oops</title>", true
		}
		return a
	}},
	"max-age":          {run: 2 * day, answer: cached("Cache-Control", "public, max-age=10800"), more: asks(12, 17)},
	"max-age of years": {run: 4 * day, answer: cached("Cache-Control", "max-age=999999999"), more: asks(4, 5)},
	"Expires": {run: 2 * day, answer: func(_ string, n int, now time.Time, _ *http.Request) reply {
		return ok(odd(n), versioned(n, ""), "Date", now.UTC().Format(http.TimeFormat), "Expires", now.UTC().Add(2*hour).Format(http.TimeFormat))
	}, more: asks(20, 25)},
	"max-age of the document holds after a 304": {run: 2 * day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return unchanging(n, ok(`"x"`, versioned(1, ""), "Cache-Control", "max-age=10800"))
	}, more: asks(12, 17)},
	"ttl":         {run: 2 * day, answer: says("<ttl>180</ttl>", after(3*hour)), more: asks(12, 17)},
	"ttl of ages": {run: 4 * day, answer: says("<ttl>99999</ttl>", never), more: asks(4, 5)},
	"updatePeriod": {run: 3 * day, answer: says("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>", after(6*hour)),
		more: asks(10, 13)},
	"updatePeriod yearly": {run: 4 * day, answer: says("<sy:updatePeriod>yearly</sy:updatePeriod>", never), more: asks(4, 5)},
	"updateBase": {run: 5 * day, answer: says("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateBase>1999-12-31T18:00+00:00</sy:updateBase>", func(now time.Time) time.Time {
		return now.Add(-18 * hour).UTC().Truncate(day).Add(day + 18*hour)
	}), more: func(t *testing.T, s *scorer, h *recorder) {
		asks(5, 6)(t, s, h)
		for _, a := range s.asked[1:] {
			if a.at.UTC().Hour() != 18 {
				t.Errorf("asked at %v", a.at)
			}
		}
	}},
	"skipHours": {run: 3 * day, answer: says("<skipHours><hour>1</hour><hour>2</hour><hour>22</hour></skipHours>", func(now time.Time) time.Time {
		for h := now.Truncate(hour).Add(hour); ; h = h.Add(hour) { // from the next hour that is open
			if next := h.UTC().Hour(); next != 1 && next != 2 && next != 22 {
				return now
			}
		}
	}), more: func(t *testing.T, s *scorer, h *recorder) {
		for _, a := range s.asked[1:] {
			if h := a.at.UTC().Hour(); h == 1 || h == 2 || h == 22 {
				t.Errorf("asked at %v", a.at)
			}
		}
		asks(50, 67)(t, s, h)
	}},
	"skipDays": {run: 14 * day, answer: says("<skipDays><day>Saturday</day><day>Sunday</day></skipDays>", never), more: func(t *testing.T, s *scorer, h *recorder) {
		for _, a := range s.asked[1:] {
			if d := a.at.UTC().Weekday(); d == time.Saturday || d == time.Sunday {
				t.Errorf("asked on %v", a.at)
			}
		}
		asks(200, 241)(t, s, h)
	}},
	"all hours and days are skipped": {run: 2 * day, answer: says("<skipHours>"+strings.Repeat("<hour>1</hour>", 3)+allHoursXML()+"</skipHours><skipDays>"+allDaysXML()+"</skipDays>", never), more: asks(40, 49)},
	"429 with seconds": {urls: []string{aURL, bURL}, run: 2 * day, answer: func(path string, n int, _ time.Time, _ *http.Request) reply {
		if path == "/feed" && n == 5 {
			return status(http.StatusTooManyRequests, "Retry-After", "14400")
		}
		return ok(odd(n), versioned(n, ""))
	}, more: asks(35, 46)},
	"503 with a date, over a restart": {urls: []string{aURL, bURL}, run: 2 * day, restart: 4*hour + hour/2, answer: func(path string, n int, now time.Time, _ *http.Request) reply {
		if path == "/feed" && n == 3 {
			return status(http.StatusServiceUnavailable, "Retry-After", now.Add(7*hour).UTC().Format(http.TimeFormat))
		}
		return ok(odd(n), versioned(n, ""))
	}, more: asks(30, 43)},
	"Retry-After of years": {run: 4 * day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return status(http.StatusServiceUnavailable, "Retry-After", "99999999999999999999")
	}, more: asks(4, 5)},
	"a restart of many": {urls: many(40), run: 3 * day, restart: day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return ok(odd(n), versioned(n, ""))
	}},
	"a slow host": {urls: many(9), run: 3 * hour, takes: 8 * time.Second, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return ok(odd(n), versioned(n, ""))
	}},
	"errors": {run: 8 * day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return status(http.StatusInternalServerError)
	}, more: func(t *testing.T, s *scorer, h *recorder) {
		asks(10, 14)(t, s, h)
		if longest := slices.Max(s.gaps(aURL)); longest > day+hour {
			t.Errorf("not looked at for %v", longest)
		}
	}},
	"404": {run: 8 * day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return status(http.StatusNotFound)
	}, more: asks(8, 11)},
	"410": {run: 8 * day, restart: day, answer: func(_ string, n int, _ time.Time, _ *http.Request) reply {
		if n == 3 {
			return status(http.StatusGone)
		}
		return ok(odd(n), versioned(n, ""))
	}, more: asks(4, 4)},
	"301":                               {run: 4 * day, answer: redirect(http.StatusMovedPermanently, 0), more: leaves(24, 28)},
	"308":                               {run: 4 * day, answer: redirect(http.StatusPermanentRedirect, 0), more: leaves(24, 28)},
	"302":                               {run: 4 * day, answer: redirect(http.StatusFound, 0), more: asks(80, 97)},
	"307":                               {run: 4 * day, answer: redirect(http.StatusTemporaryRedirect, 0), more: asks(80, 97)},
	"a redirect to a host that is held": {run: day, urls: []string{aURL, "http://b.example/own"}, answer: redirectHeld, more: asks(3, 12)},
	"a restart while it is held":        {run: day, restart: 2 * hour, urls: []string{aURL, "http://b.example/own"}, answer: redirectHeld},
	"301 for some hours":                {run: 4 * day, answer: redirect(http.StatusMovedPermanently, 5), more: asks(80, 97)},
	"301 to what fails later": {run: 6 * day, answer: redirectLost, more: func(t *testing.T, s *scorer, h *recorder) {
		asks(80, 97)(t, s, h)
		if state := h.kept[aURL]; state.Gone || state.Address != "" || state.Failures > 0 || s.count("http://b.example/new") < 70 {
			t.Errorf("%+v", state)
		}
	}},
	"a delta":                   {run: 2 * day, answer: delta("feed"), more: knows(30)},
	"a delta without its name":  {run: 2 * day, answer: delta(""), more: knows(30)},
	"a site that names us":      {run: hour, between: 59 * time.Second, hosts: friendly, policy: WithSites{byRule(Uniform), allVouched{}}, answer: says("<ttl>60</ttl>", never), more: asks(55, 61)},
	"one's own, at an interval": {run: hour, between: time.Minute, hosts: HostPolicy{Between: time.Minute}, policy: Fixed(time.Minute), answer: says("", never), more: asks(60, 61)},
}

func cached(name, value string) func(string, int, time.Time, *http.Request) reply {
	return func(_ string, n int, _ time.Time, _ *http.Request) reply {
		return ok(odd(n), versioned(n, ""), name, value)
	}
}

func allHoursXML() (s string) {
	for h := range 24 {
		s += fmt.Sprintf("<hour>%d</hour>", h)
	}
	return s
}

func allDaysXML() (s string) {
	for d := range 7 {
		s += "<day>" + time.Weekday(d).String() + "</day>"
	}
	return s
}

func many(n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprint("http://a.example/", i))
	}
	return urls
}

// redirect leads from one address to another, the first so many times; 0: always.
func redirect(code, times int) func(string, int, time.Time, *http.Request) reply {
	return func(path string, n int, _ time.Time, _ *http.Request) reply {
		if path == "/feed" && (times == 0 || n < times) {
			return status(code, "Location", "http://b.example/new")
		}
		return unchanging(0, ok(`"x"`, versioned(1, "")))
	}
}

// redirectHeld leads, but for the first time, to a host that wants to be left
// alone for five hours after each request: one for a feed of its own, or one that
// was led there.
func redirectHeld(path string, n int, _ time.Time, _ *http.Request) reply {
	switch {
	case path == "/feed" && n == 0:
		return ok(`"x"`, versioned(1, ""))
	case path == "/feed":
		return status(http.StatusFound, "Location", "http://b.example/new")
	}
	return status(http.StatusTooManyRequests, "Retry-After", "18000")
}

// redirectLost leads to an address that is there for three days.
func redirectLost(path string, _ int, now time.Time, _ *http.Request) reply {
	lost := now.After(time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC)) // the clock begins with the year
	switch {
	case path == "/feed" && !lost:
		return status(http.StatusMovedPermanently, "Location", "http://b.example/new")
	case path == "/new" && lost:
		return status(http.StatusGone)
	}
	return ok(`"x"`, versioned(1, ""))
}

// leaves fails where the old address was not asked so many times, or the new one
// not since.
func leaves(from, to int) func(*testing.T, *scorer, *recorder) {
	return func(t *testing.T, s *scorer, h *recorder) {
		asks(from, to)(t, s, h)
		if n := s.count("http://b.example/new"); n < 80 {
			t.Errorf("%d requests at the new address", n)
		}
		if state := h.kept[aURL]; state.URL != aURL || state.Address != "http://b.example/new" {
			t.Errorf("%+v", state)
		}
	}
}

// delta answers those that ask for it with what is new alone.
func delta(name string) func(string, int, time.Time, *http.Request) reply {
	return func(_ string, n int, _ time.Time, r *http.Request) reply {
		a := ok(fmt.Sprintf(`"%d"`, n), versioned(n, ""))
		if r.Header.Get("A-IM") == "feed" && n > 0 {
			a.status = http.StatusIMUsed
			if name != "" {
				a.header.Set("IM", name)
			}
			a.body = fmt.Sprintf(`<rss version="2.0"><channel><title>T</title><item><guid isPermaLink="false">g%d</guid><title>Item %d</title></item></channel></rss>`, n, n)
		}
		return a
	}
}

// knows fails where fewer entries are known.
func knows(least int) func(*testing.T, *scorer, *recorder) {
	return func(t *testing.T, _ *scorer, h *recorder) {
		if s := h.kept[aURL]; s.Known() < least {
			t.Errorf("%d entries are known: %+v", s.Known(), s)
		}
	}
}

// TestPoliteness plays all cases by the plainest rule, where it is known how
// many requests there are, and by the usual one.
func TestPoliteness(t *testing.T) {
	made := make(map[string]int)
	for name, c := range politenessCases {
		plain := c.policy == nil
		if plain {
			c.policy = byRule(Uniform)
		}
		c.play(t, name, made)
		if plain {
			c.policy, c.more = byRule(ExpectedLoss), nil
			c.play(t, name+", by expected loss", made)
		}
	}
	for _, check := range []string{
		checkFirst, checkOthers, checkETag, checkModified, checkBetween, checkMaxAge, checkDocument, checkHeld, checkOne,
		checkPause, checkGone, checkCookies, checkReferer, checkQuery, checkAccept, checkCoding, checkUserAgent, checkDelta,
	} {
		t.Logf("%7d times: %s", made[check], check)
		if made[check] == 0 {
			t.Errorf("never checked: %s", check)
		}
	}
	t.Logf("%d cases", len(politenessCases))
}

func byRule(rule Rule) *Budget { return NewBudget(rule, MeanInterval, rand.NewPCG(1, 2)) }

func (c polite) play(t *testing.T, name string, made map[string]int) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScorer(c.answer)
			s.takes = cmp.Or(c.takes, s.takes)
			if c.between != 0 {
				s.between = c.between
			}
			if c.hosts.Origins != nil || c.hosts.Between > 0 {
				s.pause = 0
			}
			h := &recorder{}
			_, stop := c.reader(t, s, h)
			if c.restart > 0 {
				time.Sleep(c.restart)
				stop()
				h = restored(t, h)
				c.reader(t, s, h)
			}
			time.Sleep(c.run - c.restart)
			synctest.Wait()
			if c.more != nil {
				c.more(t, s, h)
			}
			s.report(t)
			for check, n := range s.used {
				made[check] += n
			}
		})
	})
}

func (c *polite) addresses() []string {
	if c.urls == nil {
		return []string{aURL}
	}
	return c.urls
}

// reader runs a watcher over the scorer, from what h keeps on.
func (c *polite) reader(t *testing.T, s *scorer, h *recorder) (*Watcher, func()) {
	policy := c.policy
	if policy == nil {
		policy = byRule(Uniform)
	}
	client := &http.Client{Transport: s, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 10 {
			return errors.New("redirected for ever")
		}
		r.Header.Del("Referer") // as package guard does
		return safehttp.MayFollow(r)
	}}
	w, err := New(Config{Client: client, Policy: policy, HostPolicy: c.hosts, Handler: h, Preparer: preparer(func(_ string, h http.Header) {
		h.Set("User-Agent", fetch.UserAgent("1", "https://peer.example/", 12))
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range c.addresses() {
		w.Add(url, h.kept[url])
	}
	return w, runs(t, w)
}

// restored is what comes back from the disk.
func restored(t *testing.T, h *recorder) *recorder {
	back := &recorder{kept: make(map[string]fetch.State)}
	for url, s := range h.kept {
		raw, err := s.MarshalBinary()
		known, err2 := s.MarshalKnown()
		var again fetch.State
		if err := errors.Join(err, err2, again.UnmarshalBinary(raw), again.LoadKnown(known)); err != nil {
			t.Fatal(err)
		}
		back.kept[url] = again
	}
	return back
}
