package pages

import (
	"cmp"
	"time"

	"github.com/feedring/feedring"
)

// Feed is one of the peer's own feeds.
type Feed struct {
	URL, Title string
	Theme      feedring.Theme // empty: private
	Provider   feedring.Provider
	Entries    int
	LastFetch  time.Time // zero: never yet
	LastOK     time.Time
	NextFetch  time.Time
	Rests      bool // LookedAt looks, and not this peer
	LookedAt   feedring.PeerID
	Error      string // of the last look; empty: none
	VouchedBy  string
	Join       string          // its site runs a peer of its own: what --join takes
	SitePeer   feedring.PeerID // the same, named by the feed alone
}

func feeds(m *markup, f *Frame, all []Feed) {
	m.html("<section id=\"feeds\" aria-labelledby=\"feeds-title\">\n<h2 id=\"feeds-title\">This peer’s feeds</h2>\n")
	if len(all) == 0 {
		m.html("<p>It publishes none.</p>\n</section>\n")
		return
	}
	m.html("<ul class=\"cards\">\n")
	for i := range all[:min(len(all), maxRows)] {
		all[i].write(m, f)
	}
	m.html("</ul>\n")
	more(m, len(all)-maxRows, "feeds", f.Root+"api/v1/status")
	m.html("</section>\n")
}

func (f *Feed) write(m *markup, frame *Frame) {
	m.html("<li><h3>")
	m.link(f.URL, cmp.Or(f.Title, f.URL))
	m.html("</h3>\n<p class=\"meta\">")
	m.between("<span>", string(f.Provider), "</span> ")
	if f.Theme == "" {
		m.html("<span class=\"private\">private</span> ")
	} else {
		m.html("<span>")
		groupLink(m, frame.Root, f.Theme)
		m.html("</span> ")
	}
	m.html("<span>")
	m.counted(f.Entries, "entry", "entries")
	m.html("</span>")
	if f.VouchedBy != "" {
		m.between(" <span>vouched for by ", f.VouchedBy, "</span>")
	}
	m.html("</p>\n")
	f.looks(m, frame.Now)
	switch {
	case f.Join != "":
		m.between("<p class=\"meta\">Its site runs a peer of its own: join it with <code>feedring join ", f.Join, "</code></p>\n")
	case f.SitePeer != "":
		m.between("<p class=\"meta\">Its site runs a peer of its own: ", f.SitePeer.Short(), "</p>\n")
	}
	m.html("</li>\n")
}

// looks says how the origin is read, and what went wrong.
func (f *Feed) looks(m *markup, now time.Time) {
	if f.Error != "" {
		m.between("<p class=\"problem\">Went wrong: ", f.Error, "</p>\n")
	}
	if f.Rests {
		m.between("<p class=\"meta\">Looked at by ", cmp.Or(f.LookedAt.Short(), "nobody yet"), " for the group</p>\n")
		return
	}
	m.html("<p class=\"meta\"><span>")
	if f.LastFetch.IsZero() {
		m.html("never checked")
	} else {
		m.html("checked ")
		m.ago(f.LastFetch, now)
	}
	m.html("</span>")
	if f.Error != "" {
		m.html(" <span>last read well ")
		m.time(f.LastOK)
		m.html("</span>")
	}
	if !f.NextFetch.IsZero() {
		m.html(" <span>next check ")
		m.time(f.NextFetch)
		m.html("</span>")
	}
	m.html("</p>\n")
}
