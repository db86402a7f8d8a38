package check

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// validators looks at what readers can ask "has it changed?" with, and at the
// answer to that question.
func (p *page) validators() {
	h := p.First.Header
	var have []string
	for _, name := range [...]string{"ETag", "Last-Modified"} {
		if h.Get(name) != "" {
			have = append(have, name)
		}
	}
	told := strings.Join(have, " and ")
	switch {
	case len(have) == 0:
		p.add("validators", Fail, "send ETag or Last-Modified, and 304 to who has it already: most polls find nothing new",
			"neither ETag nor Last-Modified: every poll costs the whole document")
		return
	case p.Again.Status == http.StatusNotModified && len(p.Again.Body) > 0:
		p.add("validators", Warn, "send no body with 304", "%s, honoured, but 304 came with %s", told, amount(len(p.Again.Body)))
	case p.Again.Status == http.StatusNotModified:
		p.ok("validators", "%s, honoured: 304", told)
	case p.Again.Status == http.StatusTooManyRequests || p.Again.Status == http.StatusServiceUnavailable:
		p.add("validators", Warn, "check again later, and let a reader ask twice within a minute: who follows a redirect or checks its settings does",
			"%s, and not known whether honoured: the second request was answered %d, come back later", told, p.Again.Status)
	case p.Again.Status != http.StatusOK:
		p.add("validators", Fail, "answer who asks with If-None-Match or If-Modified-Since as anybody else, with 304 where nothing changed",
			"%s, and who asks with them is answered %d", told, p.Again.Status)
	case slices.Equal(p.First.Body, p.Again.Body):
		p.add("validators", Fail, "answer 304 where If-None-Match or If-Modified-Since is what was sent: often a script or a cache before it drops them",
			"%s, and not honoured: the same document came again", told)
	default:
		p.add("validators", Fail, "make the document only when an entry changes: times of the request, counters or random ids in it make every poll new",
			"%s, and no use: the document differs with every request", told)
	}
	if at, err := http.ParseTime(h.Get("Last-Modified")); h.Get("Last-Modified") != "" {
		switch {
		case err != nil:
			p.add("last-modified", Warn, "write it as Sun, 06 Nov 1994 08:49:37 GMT", "%s is no date of HTTP", short(h.Get("Last-Modified")))
		case at.After(p.Now.Add(5 * time.Minute)):
			p.add("last-modified", Warn, "send when the feed changed last: with a time to come, caches miss changes", "in the future: %s", h.Get("Last-Modified"))
		}
	}
}

// age looks at how long caches and readers may keep the feed.
func (p *page) age() {
	directives, age := p.cacheControl()
	expires, isDate := http.ParseTime(p.First.Header.Get("Expires"))
	const advice = "send Cache-Control: max-age=SECONDS, the time in which nothing new is likely to come: 300 to 1800 for news"
	switch {
	case slices.Contains(directives, "no-store"):
		p.add("max-age", Warn, advice, "no-store: nobody may keep it, so every poll reaches the origin")
	case age > 24*time.Hour:
		p.add("max-age", Warn, advice, "%s: readers may be that late", span(age))
	case age > 0:
		p.ok("max-age", "%s", span(age))
	case age == 0 || slices.Contains(directives, "no-cache"):
		p.add("max-age", Note, advice, "0: caches ask the origin about every poll")
	case isDate == nil && expires.After(p.Now):
		p.ok("max-age", "by Expires: %s", span(expires.Sub(p.Now)))
	case p.First.Header.Get("Expires") != "":
		p.add("max-age", Note, advice, "by Expires it was old before it came")
	case p.doc.TTL > 0:
		p.add("max-age", Note, advice+": caches do not read the ttl in the document", "none, only ttl: %s", span(p.doc.TTL))
	default:
		p.add("max-age", Warn, advice, "none: each reader guesses when to come back")
	}
}

// cacheControl returns the directives, and max-age; -1: none.
func (p *page) cacheControl() (directives []string, age time.Duration) {
	age = -1
	for item := range strings.SplitSeq(strings.Join(p.First.Header.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(item)), "=")
		directives = append(directives, name)
		if seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); name == "max-age" && err == nil {
			age = time.Duration(seconds) * time.Second
		}
	}
	return directives, age
}

func (p *page) hints() {
	var hours []string
	for hour, skip := range p.doc.SkipHours {
		if skip {
			hours = append(hours, strconv.Itoa(hour))
		}
	}
	switch {
	case len(hours) == len(p.doc.SkipHours):
		p.add("hints", Fail, "take skipHours out, or name the hours in which you publish nothing", "skipHours names all hours: who obeys never comes")
	case len(hours) > 0:
		p.add("hints", Note, "see that nothing is published in these hours: readers that obey do not come", "skipHours (UTC): %s", strings.Join(hours, " "))
	case p.doc.TTL > 24*time.Hour:
		p.add("hints", Warn, "write minutes: <ttl>60</ttl> is an hour", "ttl asks to be left alone for %s", span(p.doc.TTL))
	case p.doc.TTL > 0:
		p.ok("hints", "ttl: %s", span(p.doc.TTL))
	}
}

// span is a duration for people: no parts that are nothing.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
