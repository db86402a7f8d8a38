package api

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// ignoring is a Follower that takes everything.
type ignoring struct{}

func (ignoring) Opened()                                     {}
func (ignoring) First(client.Answer, string) error           { return nil }
func (ignoring) Entry(feedring.Entry, string) error          { return nil }
func (ignoring) Retracted(feedring.Retraction, string) error { return nil }
func (ignoring) Gap(client.Gap)                              {}
func (ignoring) Older(client.Older)                          {}
func (ignoring) Unserved([]feedring.Theme)                   {}
func (ignoring) SetCursor(string)                            {}

func TestReadEvents(t *testing.T) {
	const text = ": hello\nretry: 3000\n\n" +
		"event: entry\nid: 1\ndata: {\ndata: }\n\n" +
		"data:bare\n\n" +
		"event: answered\n\n" +
		"event: cut off\ndata: x"
	var got []string
	err := readEvents(strings.NewReader(text), func(e event) error {
		got = append(got, e.name+"|"+e.id+"|"+string(e.data))
		return nil
	})
	if want := []string{"entry|1|{\n}", "message|1|bare", "answered|1|"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestReadEventsEnds(t *testing.T) {
	enough := errors.New("enough")
	calls := 0
	err := readEvents(strings.NewReader("data: a\n\ndata: b\n\n"), func(event) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	endless := strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 3*maxLine/1000))
	if err := readEvents(endless, func(event) error { return nil }); err == nil {
		t.Error("an event without end was read to the end")
	}
}

// TestStreamProblem reads an error that a peer tells within a stream.
func TestStreamProblem(t *testing.T) {
	s := &Stream{Follower: ignoring{}}
	var p *Problem
	err := readEvents(strings.NewReader("event: problem\ndata: {\"status\":503,\"detail\":\"too busy\"}\n\n"), s.event)
	if !errors.As(err, &p) || p.Status != 503 || p.Error() != "too busy" {
		t.Errorf("got %v", err)
	}
}

// script answers requests with bodies of its own.
type script func(*http.Request) (*http.Response, error)

func (s script) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// TestFollowOfASilentPeer ends where no header comes in time, and where a stream
// is silent for longer than between two signs of life. Time that the follower
// takes does not count.
func TestFollowOfASilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		never := &Client{base: "http://feedring", http: http.Client{Transport: script(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}}
		heard, err := never.Follow(t.Context(), &Stream{Within: 2 * time.Second, Follower: ignoring{}})
		if heard || !errors.Is(err, ErrSilent) || time.Since(begun) != 2*time.Second {
			t.Errorf("without a header: heard %v, %v after %s", heard, err, time.Since(begun))
		}
		begun = time.Now()
		falls := &Client{base: "http://feedring", http: http.Client{Transport: script(func(r *http.Request) (*http.Response, error) {
			body, w := io.Pipe()
			go func() {
				for range 10 {
					time.Sleep(15 * time.Second)
					_, _ = io.WriteString(w, ": alive\n\nevent: gap\ndata: {}\n\n")
				}
				<-r.Context().Done()
				w.CloseWithError(r.Context().Err())
			}()
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		})}}
		heard, err = falls.Follow(t.Context(), &Stream{Within: 2 * time.Second, Follower: slow{}})
		if took := time.Since(begun); !heard || !errors.Is(err, ErrSilent) || took != 15*time.Second+10*time.Minute+maxSilence {
			t.Errorf("a stream that falls silent: heard %v, %v after %s", heard, err, took)
		}
	})
}

// slow takes a minute for each gap.
type slow struct{ ignoring }

func (slow) Gap(client.Gap) { time.Sleep(time.Minute) }

func TestAnswerLine(t *testing.T) {
	for line, wrong := range map[string]bool{
		"": false, " ": false, `{"id":"x"}`: false, `{"event":"answered","via":["A","B"],"hops":1,"messages":2,"entries":0}`: false,
		"<html>": true, `{"event":7}`: true, `{"id":7}`: true, `{"event":"answered","hops":"x"}`: true,
	} {
		var a client.Answer
		if _, err := answerLine(&a, []byte(line)); (err != nil) != wrong {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add("event: entry\nid: 1\ndata: {\"id\":\"x\"}\n\n")
	f.Add("event: answered\ndata: {\"event\":\"answered\",\"via\":\"P\"}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := &Stream{Follower: ignoring{}}
		_ = readEvents(strings.NewReader(text), s.event)
	})
}

func FuzzAnswerLine(f *testing.F) {
	f.Add(`{"event":"incomplete","missing":["news"]}`)
	f.Add(`{"id":"x","published":"2026-01-02T03:04:05Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var a client.Answer
		_, _ = answerLine(&a, []byte(text))
	})
}
