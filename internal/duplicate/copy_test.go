package duplicate

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// copyFrom is a copy of one entry by one of several publishers. That of the first is
// the site's.
func copyFrom(publisher, version, story byte) feedring.Entry {
	return feedring.Entry{
		ID: "00000000000000000000000000000001", Feed: "https://a.example/feed", Theme: "news", Title: string(rune('a' + story%4)),
		URL: "https://a.example/1", Publisher: feedring.PeerID(rune('A' + publisher%4)), Version: uint32(version) + 1,
		Published: time.Unix(1_700_000_000, 0), Seen: time.Unix(1_700_000_000+int64(version), 0), OfSite: publisher%4 == 0,
	}
}

// FuzzMerge adds copies in any order. If the site's copy is among them, it alone is
// shown, in its last version. Otherwise each story that a mirror's last version tells is
// shown once.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{1, 255, 1, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 1, 255, 1, 0, 1, 2})
	f.Add([]byte{1, 0, 0, 2, 0, 1, 3, 9, 1})
	f.Add([]byte{1, 0, 0, 2, 0, 1, 3, 0, 2, 1, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Merge
		last := make(map[feedring.PeerID]feedring.Entry)
		for ; len(b) >= 3; b = b[3:] {
			e := copyFrom(b[0], b[1], b[2])
			if old, ok := last[e.Publisher]; !ok || e.Version > old.Version {
				last[e.Publisher] = e
			}
			m.Add(e)
		}
		shown := m.Newest(100, time.Unix(1_800_000_000, 0))
		stories := make(map[string]bool)
		for _, e := range shown {
			if stories[e.Title] || last[e.Publisher].Version != e.Version || last[e.Publisher].Title != e.Title {
				t.Fatalf("%s is shown wrongly: %+v", e.Publisher, shown)
			}
			stories[e.Title] = true
		}
		if _, ok := last["A"]; ok {
			if len(shown) != 1 || shown[0].Publisher != "A" {
				t.Fatalf("beside the site's copy is shown: %+v", shown)
			}
			return
		}
		for _, e := range last {
			if !stories[e.Title] {
				t.Fatalf("%s of %s is not shown: %+v", e.Title, e.Publisher, shown)
			}
		}
	})
}

// Whoever signs the entry of a feed first, and in whatever version, neither replaces nor
// hides the site's copy, and hides no differing copy of a mirror.
func TestMergeOfSquatters(t *testing.T) {
	site, squat, mirror, agreeing := copyFrom(0, 0, 0), copyFrom(1, 254, 1), copyFrom(2, 0, 0), copyFrom(3, 0, 0)
	squat.Version = 1 << 20
	for name, tc := range map[string]struct {
		entries []feedring.Entry
		want    string
	}{
		"the site's after the squatter's": {[]feedring.Entry{squat, site}, "A"},
		"the squatter's after the site's": {[]feedring.Entry{site, squat}, "A"},
		"the site's after several":        {[]feedring.Entry{squat, mirror, site}, "A"},
		"mirrors that differ":             {[]feedring.Entry{squat, mirror}, "BC"},
		"mirrors that agree":              {[]feedring.Entry{mirror, agreeing}, "C"},
	} {
		var m Merge
		for _, e := range tc.entries {
			m.Add(e)
		}
		got := ""
		for _, e := range m.Newest(10, time.Unix(1_800_000_000, 0)) {
			got += string(e.Publisher)
		}
		if got != tc.want {
			t.Errorf("%s: %s is shown, want %s", name, got, tc.want)
		}
	}
}

// An entry that is dated ahead of the reader's clock counts as of now.
func TestMergeCountsDatesAheadAsNow(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ahead, news := copyFrom(1, 0, 0), copyFrom(1, 0, 1)
	ahead.ID, ahead.Published, ahead.Seen = "00000000000000000000000000000002", now.Add(23*time.Hour), now.Add(-time.Hour)
	news.Published, news.Seen = now, now
	var m Merge
	m.Add(ahead)
	m.Add(news)
	if got := m.Newest(1, now)[0].ID; got != news.ID {
		t.Errorf("%s is on top", got)
	}
}
