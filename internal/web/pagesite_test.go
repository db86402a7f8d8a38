package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// People are told in a page what is not there, programs in a document.
func TestUnknownPathsAreAPage(t *testing.T) {
	for target, status := range map[string]int{"/nothing": 404, "/a/b/c": 404, "/api/v1/nothing": 404, "/subscribe/x": 404, "/feeds/nobody.atom": 404, "/feeds/nobody": 404} {
		s, _ := personalSite()
		page := pageOf(t, s, target, status)
		if root := strings.Repeat("../", strings.Count(target, "/")-1); !strings.Contains(page, `href="`+root+`style.css"`) || !strings.Contains(page, "nothing is at") && !strings.Contains(page, "no such feed") {
			t.Errorf("%s: %s", target, page)
		}
		if strings.Contains(page, "the API is") || !strings.Contains(page, "To the first page") {
			t.Errorf("%s is told to a reader so: %s", target, page)
		}
		w := call(t, s, "GET", target, "")
		if w.Code != status || w.Header().Get("Content-Type") != "application/problem+json" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s for a program: %d %v", target, w.Code, w.Header())
		}
	}
}

// The address of a form can be opened again: it leads to the form.
func TestAddressesOfForms(t *testing.T) {
	s, _ := personalSite()
	for _, target := range []string{"/signin", "/signout", "/subscribe", "/revoke"} {
		if w := call(t, s, "GET", target, "", browser); w.Code != 303 || w.Header().Get("Location") != "./#personal" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

// A form that is wrong comes back as it was typed, with what is wrong in it.
func TestFormsKeepWhatWasTyped(t *testing.T) {
	s, _ := personalSite()
	cookie := session(t, s)
	for _, test := range []struct {
		form  url.Values
		wants []string
	}{
		{url.Values{"q": {"(gaz"}, "theme": {"news"}, "stem": {"true"}}, []string{
			`id="personal-problem"`, "Words: ", `value="(gaz"`, `id="personal-theme" name="theme" list="themes" placeholder="every theme" autocapitalize="none" value="news"`,
			`id="personal-stem" name="stem" value="true" checked`, `tabindex="-1"`,
		}},
		{url.Values{"since": {"someday"}}, []string{`aria-describedby="personal-problem" value="someday"`}},
	} {
		w := submit(t, s, "/subscribe", test.form, sameOrigin, cookie)
		page := strings.ReplaceAll(w.Body.String(), "&#34;", `"`)
		_, form, _ := strings.Cut(page, `action="subscribe#personal-problem"`)
		form, _, _ = strings.Cut(form, "</form>")
		for _, want := range test.wants {
			if w.Code != 400 || !strings.Contains(form, want) {
				t.Errorf("%v: %d, the form lacks %s: %s", test.form, w.Code, want, form)
			}
		}
		if strings.Contains(page, `id="query-problem"`) {
			t.Errorf("%v: the search is called wrong", test.form)
		}
	}
	w := submit(t, s, "/signin", url.Values{"token": {"no"}}, sameOrigin)
	_, form, _ := strings.Cut(w.Body.String(), `action="signin#personal-problem"`)
	form, _, _ = strings.Cut(form, "</form>")
	if !strings.Contains(form, `role="alert" tabindex="-1"`) || !strings.Contains(form, `aria-invalid="true"`) {
		t.Errorf("a wrong token: %s", form)
	}
}

// With the choice made on the page, a personal feed takes other forms of words.
func TestStemOnThePage(t *testing.T) {
	s, p := personalSite()
	cookie := session(t, s)
	if w := submit(t, s, "/subscribe", url.Values{"q": {"gaz"}, "stem": {"true"}}, sameOrigin, cookie); w.Code != 303 || len(p.subs) != 1 || !p.subs[0].Stem {
		t.Fatalf("%d %+v", w.Code, p.subs)
	}
	page := pageOf(t, s, "/", 200, cookie)
	for _, want := range []string{"other forms of the words, too</span>", "newest 50", "<summary aria-label=\"Revoke gaz\">Revoke</summary>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list lacks %s", want)
		}
	}
}

// What of an address means nothing is told.
func TestUnknownParametersAreTold(t *testing.T) {
	page := pageOf(t, testSite(newFake(), false), "/?teme=news", 200)
	if !strings.Contains(page, `The parameter "teme" in this page’s address means nothing here, and was left out: did you mean theme?`) {
		t.Error(page)
	}
}

func TestIcon(t *testing.T) {
	s := testSite(newFake(), false)
	if page := pageOf(t, s, "/group/news", 200); !strings.Contains(page, `<link rel="icon" type="image/svg+xml" href="../favicon.svg">`) {
		t.Error(page)
	}
	for _, target := range []string{"/favicon.svg", "/favicon.ico"} {
		if w := call(t, s, "GET", target, ""); w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestTitles(t *testing.T) {
	for target, want := range map[string]string{
		"/": "ooWSelf · feedring", "/?theme=news": "news · feedring", "/?theme=news&q=gaz": "gaz · news · feedring", "/group/news": "news · feedring",
	} {
		if page := pageOf(t, testSite(newFake(), false), target, 200); !strings.Contains(page, want+"</title>") {
			t.Errorf("%s: no %q", target, want)
		}
	}
}

// A peer that is cut off says so, and shows what it holds.
func TestCutOff(t *testing.T) {
	f := newFake()
	f.reach = Reach{CutOff: true}
	f.final = feedring.Final{Status: feedring.Incomplete}
	f.entries, f.held = []feedring.Entry{entryAt(1, 0)}, []feedring.Entry{entryAt(1, 0), entryAt(2, 0)}
	page := pageOf(t, testSite(f, false), "/", 200)
	if !strings.Contains(page, "reaches no other peer of its network") || strings.Count(page, "<li data-id=") != 2 {
		t.Error(page)
	}
	f = newFake()
	f.reach = Reach{Groups: []feedring.Theme{"news"}}
	for target, want := range map[string]bool{"/?theme=news": true, "/?theme=sport": false, "/": false} {
		if page := pageOf(t, testSite(f, false), target, 200); strings.Contains(page, "has no manager that this peer hears") != want {
			t.Errorf("%s: %s", target, page)
		}
	}
}

// A story that two feeds tell is shown once, and its keys go to the script.
func TestHomeShowsAStoryOnce(t *testing.T) {
	f := newFake()
	one, two := entryAt(1, 0), entryAt(2, 0)
	one.URL, two.URL = "https://a.example/story", "https://a.example/story?utm_source=x"
	two.Feed = "https://b.example/feed"
	f.entries = []feedring.Entry{one, two}
	page := pageOf(t, testSite(f, false), "/", 200)
	if strings.Count(page, "<li data-id=") != 1 || strings.Contains(page, `data-story=""`) {
		t.Error(page)
	}
}

// Where nothing is found, a page says what may have been meant.
func TestPageHints(t *testing.T) {
	page := pageOf(t, testSite(newFake(), false), "/?q=title:gaz", 200)
	if !strings.Contains(page, "there are no fields") || !strings.Contains(page, "Nothing matches.") {
		t.Error(page)
	}
}
