package feedring

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Share says how much of an entry leaves its publisher's peer. It holds for
// what is published after it was said: signed entries do not change. Empty: not
// said, which is everything.
type Share string

// The shares. Each includes the one before.
const (
	ShareTitle   Share = "title"   // title, address, dates, authors, tags, language
	ShareSummary Share = "summary" // the beginning of the feed's own summary
	ShareFull    Share = "full"    // everything
)

// sharedSummary is how much of a summary is shared, in bytes.
const sharedSummary = 500

// ParseShare reads the --share flag. The empty string says nothing.
func ParseShare(s string) (Share, error) {
	switch share := Share(strings.ToLower(s)); share {
	case "", ShareTitle, ShareSummary, ShareFull:
		return share, nil
	}
	return "", fmt.Errorf("share %q is none of title, summary and full", clip(s))
}

// Cuts reports whether less than everything is shared.
func (s Share) Cuts() bool { return s == ShareTitle || s == ShareSummary }

// Cut takes from e what s does not share, and marks it where that was
// something. A feed without summaries shares none: they are not made of content.
func (s Share) Cut(e *Entry) {
	if !s.Cuts() {
		return
	}
	kept := ""
	if s == ShareSummary {
		kept = beginning(e.Summary)
	}
	e.Truncated = e.Truncated || kept != e.Summary || e.ContentHTML != "" || len(e.Attachments) > 0
	e.Summary, e.ContentHTML, e.Attachments = kept, "", nil
}

// beginning returns the first words of a text.
func beginning(s string) string {
	if len(s) <= sharedSummary {
		return s
	}
	const dots = " …"
	end := sharedSummary - len(dots)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if space := strings.LastIndexAny(s[:end], " \t\n"); space > end/2 {
		end = space
	}
	return strings.TrimRight(s[:end], " \t\n") + dots
}
