package feedring_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

func TestShareCuts(t *testing.T) {
	long := strings.Repeat("Ein Wörtchen ", 100)
	for _, test := range []struct {
		share            feedring.Share
		summary, content string
		want             string
		truncated        bool
	}{
		{feedring.ShareFull, long, "<p>text</p>", long, false},
		{"", long, "<p>text</p>", long, false},
		{feedring.ShareSummary, "short", "<p>text</p>", "short", true},
		{feedring.ShareSummary, "short", "", "short", false},
		{feedring.ShareSummary, "", "<p>text</p>", "", true},
		{feedring.ShareTitle, "short", "<p>text</p>", "", true},
		{feedring.ShareTitle, "", "", "", false},
	} {
		e := feedring.Entry{Title: "T", URL: "https://a.example/", Authors: []string{"A"}, Tags: []string{"B"}, Summary: test.summary, ContentHTML: test.content}
		test.share.Cut(&e)
		if e.Summary != test.want || e.Truncated != test.truncated || (e.ContentHTML == "") != (test.content == "" || test.share.Cuts()) {
			t.Errorf("%q: %+v", test.share, e)
		}
		if e.Title != "T" || e.URL == "" || len(e.Authors) != 1 || len(e.Tags) != 1 {
			t.Errorf("%q took too much: %+v", test.share, e)
		}
	}
	e := feedring.Entry{Summary: long, Attachments: []feedring.Attachment{{URL: "https://a.example/1.mp3"}}}
	feedring.ShareSummary.Cut(&e)
	if n := len(e.Summary); n > 500 || n < 400 || !strings.HasSuffix(e.Summary, "Wörtchen …") && !strings.HasSuffix(e.Summary, "Ein …") || len(e.Attachments) > 0 {
		t.Errorf("%d bytes: %q", len(e.Summary), e.Summary)
	}
	e.Summary = strings.Repeat("漢", 400)
	if feedring.ShareSummary.Cut(&e); !utf8.ValidString(e.Summary) || len(e.Summary) > 500 || len(e.Summary) < 480 {
		t.Errorf("%q", e.Summary)
	}
}

func TestParseShare(t *testing.T) {
	if s, err := feedring.ParseShare("Summary"); s != feedring.ShareSummary || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if _, err := feedring.ParseShare("half"); err == nil || !strings.Contains(err.Error(), "title, summary and full") {
		t.Errorf("%v", err)
	}
}
