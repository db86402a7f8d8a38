package optout

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWordsMeanTheirFeeds(t *testing.T) {
	var ws Words
	ws.Refuse("a.example", nil, nil, start)
	ws.Refuse("b.example", []string{"https://b.example/one"}, nil, start)
	ws.Refuse(FeedKey("http://c.example/rss"), nil, nil, start)
	for url, want := range map[string]string{
		"https://a.example/x": "a.example", "https://www.a.example/x": "a.example", "https://b.example/one": "b.example",
		"https://b.example/two": "", "https://c.example/rss": "//c.example/rss", "https://c.example/other": "", "https://d.example/": "",
	} {
		w, ok := ws.Against(url, sitesOf(url))
		if w.Of != want || ok != (want != "") {
			t.Errorf("%s: %q speaks against mirrors, want %q", url, w.Of, want)
		}
		if ok && !ws.Speaks(url) {
			t.Errorf("%s is passed over", url)
		}
	}
	if ws.Speaks("https://d.example/a.example") || ws.Speaks("https://nota.example/") {
		t.Error("a word speaks for another host")
	}
	if !ws.Withdraw("a.example") || ws.Withdraw("a.example") || ws.Len() != 2 {
		t.Error("a word is not withdrawn once")
	}
}

// sitesOf is vouch.SitesOf of these addresses.
func sitesOf(url string) []string {
	for _, host := range []string{"www.a.example", "a.example", "b.example", "c.example", "d.example"} {
		if len(url) > len(host)+8 && url[8:8+len(host)] == host {
			return []string{host, host[max(0, len(host)-len("a.example")):]}
		}
	}
	return nil
}

// TestLooksBecomeRare: a word that is found again and again is looked for after a day,
// then after two, and once a week in the end; one that means others than before begins anew.
func TestLooksBecomeRare(t *testing.T) {
	var ws Words
	now := start
	var gaps []time.Duration
	w, changed := ws.Refuse("a.example", nil, nil, now)
	if !changed {
		t.Error("the first word changes nothing")
	}
	for range 6 {
		gaps = append(gaps, w.Next.Sub(now))
		if due := ws.Due(w.Next.Add(-time.Second)); len(due) != 0 {
			t.Errorf("due before its time: %v", due)
		}
		now = w.Next
		if due := ws.Due(now); len(due) != 1 {
			t.Errorf("%d words are due", len(due))
		}
		if w, changed = ws.Refuse("a.example", nil, nil, now); changed {
			t.Error("the same word changes something")
		}
	}
	day := 24 * time.Hour
	if want := []time.Duration{day, 2 * day, 4 * day, 7 * day, 7 * day, 7 * day}; !slices.Equal(gaps, want) {
		t.Errorf("looks after %v", gaps)
	}
	if !w.Since.Equal(start) || !w.Seen.Equal(now) {
		t.Errorf("it holds since %v, and was seen at %v", w.Since, w.Seen)
	}
	if w, changed = ws.Refuse("a.example", nil, []feedring.PeerID{"own"}, now); !changed || !w.Next.Equal(now.Add(day)) || !w.Since.Equal(start) {
		t.Errorf("a word that names a peer now: %+v", w)
	}
}

func TestWordsGoWhereNobodyMirrors(t *testing.T) {
	var ws Words
	ws.Refuse("a.example", nil, nil, start)
	if _, kept := ws.Postpone("a.example", false, start.Add(forgetAfter)); !kept {
		t.Error("forgotten too soon")
	}
	if _, kept := ws.Postpone("a.example", true, start.Add(forgetAfter+time.Hour)); !kept {
		t.Error("forgotten though somebody mirrors it")
	}
	if _, kept := ws.Postpone("a.example", false, start.Add(forgetAfter+time.Hour)); kept || ws.Len() != 0 {
		t.Error("not forgotten")
	}
}

func TestWordsAreBounded(t *testing.T) {
	var ws Words
	long := slices.Repeat([]string{"https://a.example/" + string(make([]byte, 1000))}, 1000)
	for i := range MaxWords + 10 {
		ws.Refuse(fmt.Sprintf("%d.example", i), nil, nil, start.Add(time.Duration(i)))
	}
	if _, ok := ws.Of("9.example"); ok || ws.Len() != MaxWords {
		t.Errorf("%d words, and the oldest is among them: %v", ws.Len(), ok)
	}
	for i := range 10 {
		ws.Refuse(fmt.Sprintf("long%d.example", i), long, nil, start.Add(time.Hour))
	}
	if ws.bytes > maxBytes {
		t.Errorf("%d bytes", ws.bytes)
	}
}
