package fetch

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/schedule"
)

// hourly is the document of a feed with an entry an hour, of which it holds six,
// at a time after start.
func hourly(hour int) *document.Document {
	doc := &document.Document{Title: "T"}
	for k := hour; k > hour-6; k-- {
		doc.Items = append(doc.Items, document.Item{
			Entry: feedring.Entry{ID: feedring.EntryID(fmt.Sprintf("%032x", k+1000)), Published: start.Add(time.Duration(k) * time.Hour)},
			Hash:  document.HashOf(fmt.Sprint(k)),
		})
	}
	return doc
}

// studied fetches the feed at these hours.
func studied(hours ...int) (s State) {
	for _, h := range hours {
		now := start.Add(time.Duration(h)*time.Hour + time.Minute)
		_, s = Diff(s, hourly(h), now)
		s.LastFetch, s.LastSuccess = now, now
	}
	return s
}

func TestRateIsLearned(t *testing.T) {
	perDay := func(s State) float64 { return s.learned.rhythm.PerDay() }
	if got := perDay(studied(0)); got < 3 || got > 6 { // five entries in five hours, and the prior's day
		t.Errorf("from the first document: %v a day", got)
	}
	var often, gaps []int
	for h := range 200 {
		often = append(often, 2*h)
		gaps = append(gaps, 20*h) // each document holds nothing but news
	}
	if got := perDay(studied(often...)); math.Abs(got-24) > 2 {
		t.Errorf("looked at every two hours: %v a day", got)
	}
	if got := perDay(studied(gaps...)); math.Abs(got-24) > 4 { // a quarter of the time tells something
		t.Errorf("where entries are missed: %v a day", got)
	}
	s := studied(often...)
	s.learned.quiet(s.LastSuccess, s.LastSuccess.Add(60*24*time.Hour))
	if got := perDay(s); got > 8 {
		t.Errorf("after two months of silence: %v a day", got)
	}
	if s.learned.window != 6 {
		t.Errorf("window %d", s.learned.window)
	}
}

func TestLivesAreLearned(t *testing.T) {
	var often []int
	for h := range 900 {
		often = append(often, h)
	}
	s := studied(often...)
	if !s.learned.lives.Known() {
		t.Fatal("no lives are known of 890 entries that went")
	}
	// An entry stays six hours: fetches further apart than that would miss some.
	price, bounds := schedule.Price{Fetch: 1, Loss: 100}, schedule.Bounds{Shortest: time.Hour, Longest: 24 * time.Hour}
	if at := price.Next(s.Rhythm(), s.Site(), s.LastFetch, bounds); at.Sub(s.LastFetch) > 6*time.Hour {
		t.Errorf("looked at again after %v", at.Sub(s.LastFetch))
	}
}

// TestLearnedOutlivesARestart: what was learned is saved, and what an earlier
// version saved is read.
func TestLearnedOutlivesARestart(t *testing.T) {
	var often []int
	for h := range 40 {
		often = append(often, h)
	}
	s := studied(often...)
	again := restarted(t, s)
	if !reflect.DeepEqual(s, again) || s.learned.lives == nil {
		t.Errorf("%+v came back as %+v", s.learned, again.learned)
	}
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		if again.UnmarshalBinary(b[:i]) == nil {
			t.Errorf("%d of %d bytes are read", i, len(b))
		}
	}
	head, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	old := append(binary.AppendUvarint([]byte{1}, uint64(len(head))), head...)
	known, err := s.MarshalKnown()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.UnmarshalBinary(append(old, known...)); err != nil || again.Known() != s.Known() || again.learned.since != 0 {
		t.Errorf("a state of an earlier version: %v, %+v", err, again.learned)
	}
	_, next := Diff(again, hourly(41), s.LastFetch.Add(2*time.Hour))
	if next.learned.since == 0 || next.learned.window != 6 {
		t.Errorf("learns nothing on: %+v", next.learned)
	}
}
