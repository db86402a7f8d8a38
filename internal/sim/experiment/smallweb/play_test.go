//go:build !race

package smallweb

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func small(sites int) Config {
	cfg := Default()
	cfg.Seed = 1
	for i := range sites {
		cfg.Sites = append(cfg.Sites, fmt.Sprintf("https://site-%d.example/feed", i))
	}
	cfg.Sizes = []Size{{24_000, 10}, {9_000, 20}}
	for h := range cfg.Rhythm {
		cfg.Rhythm[h] = 1
	}
	return cfg
}

// TestHalfTheRequests: our rule asks half as often as Miniflux's default, and
// learns sooner than its other rule; with the same seed it does so again.
func TestHalfTheRequests(t *testing.T) {
	r := Play(small(250), nil)
	of := make(map[string]Score)
	for _, s := range r.Scores {
		of[s.Rule] = s
		if s.Entries != r.Scores[0].Entries || s.Entries == 0 || s.Documents > s.Requests {
			t.Errorf("%+v", s)
		}
	}
	round, frequency, ours := of["Miniflux, round robin"], of["Miniflux, entry frequency"], of["expected loss, 1h"]
	if round.Requests != 250*24 || ours.Requests*2 > round.Requests || ours.DelayH > 2 || frequency.DelayH < 2*ours.DelayH {
		t.Errorf("%+v", r.Scores)
	}
	if again := Play(small(250), nil); !reflect.DeepEqual(r.Scores, again.Scores) {
		t.Errorf("another time: %+v", again.Scores)
	}
}

// TestScoreIsTheDumbOne: looks each hour see each entry at the next hour.
func TestScoreIsTheDumbOne(t *testing.T) {
	cfg := small(1)
	begins := begin.Add(24 * time.Hour)
	p := player{cfg: cfg, whole: []bool{false}, sites: []Site{{Size: Size{1000, 2}, Published: []time.Time{
		begin.Add(time.Minute), begins.Add(10 * time.Minute), begins.Add(90 * time.Minute), begins.Add(91 * time.Minute), begins.Add(92 * time.Minute),
	}}}}
	got := p.play(roundRobin{})
	delay := (50 + 29 + 28) * time.Minute / 3 // the third is gone: two are in a document
	want := Score{Requests: 24, Documents: 2, Entries: 4, Missed: 1, DelayH: delay.Hours()}
	want.Bytes = 24*headerBytes + 2*int(1000*cfg.Compressed)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestFilesAreRead(t *testing.T) {
	urls, err := Sites(strings.NewReader("http://a.example/\n\n# no\nhttp://b.example/\n"))
	if err != nil || len(urls) != 2 {
		t.Errorf("%v, %v", urls, err)
	}
	sizes, err := Sizes(strings.NewReader("file,entries,bytes\na,3,500\nb,0,100\n"))
	if err != nil || len(sizes) != 1 || sizes[0] != (Size{500, 3}) {
		t.Errorf("%v, %v", sizes, err)
	}
	rhythm, err := Captured(strings.NewReader("feed,first_seen\na,2026-01-05T03:00:00Z\nb,2026-01-05T04:00:00Z\n"), "a")
	if err != nil || rhythm[27] != 7*24 || rhythm[28] != 0 {
		t.Errorf("%v, %v", rhythm, err)
	}
	for _, bad := range []string{"", "x\n", "file,entries,bytes\na,x,y\n", "feed,first_seen\na,today\n", "feed,first_seen\nb,2026-01-05T03:00:00Z\n"} {
		if _, err := Sizes(strings.NewReader(bad)); err == nil {
			t.Errorf("sizes: %q was read", bad)
		}
		if _, err := Captured(strings.NewReader(bad), "a"); err == nil {
			t.Errorf("captures: %q was read", bad)
		}
	}
}
