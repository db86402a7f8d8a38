package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
)

// notified is a member of a group at rest that holds the first entry of a feed, and the second as its publisher tells
// of it: with what a poll would be answered.
func notified(t *testing.T) (c *cluster, m *Machine, news Notify, other feedring.PeerID) {
	t.Helper()
	c, m, ref, h, other := unserved(t)
	h.Advertised, h.Tries, h.Failures = feedring.Position{}, 0, 0
	first, second := feedring.Position{Epoch: 7, Sequence: 1}, feedring.Position{Epoch: 7, Sequence: 2}
	m.Step(c.now, Holding{Heads: []feedring.Head{{Feed: ref, Position: first}}})
	m.timers.Set(timerKey{kind: timerPoll, ref: ref}, c.now) // not behind: it polls nobody
	m.Step(c.now, Tick{})
	news = notifyOf(ref, second).(Notify)
	news.After, news.Answer = first, []byte("the second entry")
	return c, m, news, other
}

// fetches lists what is polled, and what is taken, by a step and the timers that it sets.
func fetches(c *cluster, m *Machine, in Input) (polls, taken []Fetch) {
	for _, out := range append(m.Step(c.now, in), m.Step(c.now.Add(m.replicator.Spread()), Tick{})...) {
		if f, ok := out.(Fetch); ok && len(f.Answer) > 0 {
			taken = append(taken, f)
		} else if ok {
			polls = append(polls, f)
		}
	}
	return polls, taken
}

// What the publisher sends with its notify is stored, and nobody is polled. The peer then tells of the entry as of one
// that it polled.
func TestAnswerOfANotifyIsStored(t *testing.T) {
	c, m, news, _ := notified(t)
	ref := news.Head.Feed
	polls, taken := fetches(c, m, Receive{From: ref.Publisher, Message: news})
	if len(polls) > 0 || len(taken) != 1 || taken[0].Feed != ref || taken[0].After != news.After || string(taken[0].Answer) != string(news.Answer) {
		t.Fatalf("polls %v, takes %v", polls, taken)
	}
	outs := m.Step(c.now, Fetched{Feed: ref, From: ref.Publisher, Head: news.Head, Known: news.Head})
	if len(outs) != 1 || outs[0] != (Wake{Feed: ref, Through: news.Head.Position}) {
		t.Errorf("then %v", outs)
	}
	if h := m.replicator.Heads[ref]; h.Pos != news.Head.Position || h.InFlight || len(m.replicator.Polls.InFlight) > 0 {
		t.Errorf("it holds %v, and %d polls are under way", h.Pos, len(m.replicator.Polls.InFlight))
	}
	if polls, taken = fetches(c, m, Receive{From: ref.Publisher, Message: news}); len(polls)+len(taken) > 0 {
		t.Errorf("told again, it polls %v and takes %v", polls, taken)
	}
}

// An answer that a poll might not be given so is left alone, and the feed is polled as without it.
func TestAnswersThatAreNotTaken(t *testing.T) {
	for name, spoil := range map[string]func(news *Notify, from *feedring.PeerID, other feedring.PeerID){
		"another member's": func(_ *Notify, from *feedring.PeerID, other feedring.PeerID) { *from = other },
		"it continues further on": func(news *Notify, _ *feedring.PeerID, _ feedring.PeerID) {
			news.After.Sequence, news.Head.Position.Sequence = 2, 3
		},
		"it continues before":           func(news *Notify, _ *feedring.PeerID, _ feedring.PeerID) { news.After.Sequence = 0 },
		"it continues in another epoch": func(news *Notify, _ *feedring.PeerID, _ feedring.PeerID) { news.After.Epoch = 6 },
		"it is too long":                func(news *Notify, _ *feedring.PeerID, _ feedring.PeerID) { news.Answer = make([]byte, MaxAnswer+1) },
		"it is empty":                   func(news *Notify, _ *feedring.PeerID, _ feedring.PeerID) { news.Answer = nil },
	} {
		c, m, news, other := notified(t)
		from := news.Head.Feed.Publisher
		spoil(&news, &from, other)
		if polls, taken := fetches(c, m, Receive{From: from, Message: news}); len(polls) != 1 || len(taken) > 0 {
			t.Errorf("%s: it polls %v and takes %v", name, polls, taken)
		}
	}
}

// An answer is neither stored beside a poll or another answer, nor instead of one that waits for room.
func TestNoAnswerIsTakenWhileTheFeedIsPolled(t *testing.T) {
	c, m, news, other := notified(t)
	from := news.Head.Feed.Publisher
	plain := news
	plain.Answer = nil
	if polls, _ := fetches(c, m, Receive{From: other, Message: plain}); len(polls) != 1 {
		t.Fatalf("it polls %v", polls)
	}
	if polls, taken := fetches(c, m, Receive{From: from, Message: news}); len(polls)+len(taken) > 0 {
		t.Errorf("meanwhile it polls %v and takes %v", polls, taken)
	}
	c, m, news, _ = notified(t)
	fetches(c, m, Receive{From: from, Message: news})
	if polls, taken := fetches(c, m, Receive{From: from, Message: news}); len(polls)+len(taken) > 0 {
		t.Errorf("beside an answer it polls %v and takes %v", polls, taken)
	}
	c, m, news, _ = notified(t)
	for range replication.MaxInFlightOf {
		m.replicator.Polls.Begin(from)
	}
	if polls, taken := fetches(c, m, Receive{From: from, Message: news}); len(polls)+len(taken) > 0 || len(m.replicator.Polls.Waiting) != 1 {
		t.Errorf("without room it polls %v and takes %v, and %v wait", polls, taken, m.replicator.Polls.Waiting)
	}
}

// A wrong answer counts as a failed poll of its publisher, which is then polled at once. After as many as make a feed
// unobtainable no answer is taken before a poll brought something.
func TestWrongAnswersAreCountedAndPolled(t *testing.T) {
	c, m, news, _ := notified(t)
	ref, h := news.Head.Feed, m.replicator.Heads[news.Head.Feed]
	held := h.Pos
	for i := range replication.MaxFailures {
		_, taken := fetches(c, m, Receive{From: ref.Publisher, Message: news})
		if len(taken) != 1 {
			t.Fatalf("after %d wrong answers it takes %v", i, taken)
		}
		polls, _ := fetches(c, m, Fetched{Feed: ref, From: ref.Publisher, Head: feedring.Head{Feed: ref, Position: held}, Known: feedring.Head{Feed: ref}, Failed: true})
		if h.Failures != i+1 || h.Pos != held || len(polls) != 1 || polls[0].From != ref.Publisher || polls[0].After != held {
			t.Fatalf("after %d wrong answers %d failures count, it holds %v and polls %v", i+1, h.Failures, h.Pos, polls)
		}
		failures := h.Failures
		m.Step(c.now, Fetched{Feed: ref, From: ref.Publisher, Head: feedring.Head{Feed: ref, Position: held}, Known: feedring.Head{Feed: ref}, Failed: true})
		h.Failures = failures // a poll that fails counts for itself: TestUnobtainableFeedHasNoAltSource
		news.Head.Position.Sequence++
		c.now = c.now.Add(2 * time.Second)
	}
	if _, taken := fetches(c, m, Receive{From: ref.Publisher, Message: news}); len(taken) > 0 || !h.Unobtainable() {
		t.Errorf("unobtainable %v, it takes %v", h.Unobtainable(), taken)
	}
}

// An answer that brings only a part, or nothing, is no reason to believe that there is no more.
func TestAnswersThatBringTooLittleArePolled(t *testing.T) {
	for _, brought := range []uint64{1, 2} {
		c, m, news, _ := notified(t)
		ref := news.Head.Feed
		news.Head.Position.Sequence = 3
		fetches(c, m, Receive{From: ref.Publisher, Message: news})
		head := feedring.Head{Feed: ref, Position: feedring.Position{Epoch: 7, Sequence: brought}}
		polls, _ := fetches(c, m, Fetched{Feed: ref, From: ref.Publisher, Head: head, Known: head})
		if len(polls) != 1 || polls[0].After != head.Position {
			t.Errorf("through %d: it polls %v", brought, polls)
		}
	}
}

// The publisher sends the answer along unless it is too long or the group is large.
func TestWhichAnswersTravel(t *testing.T) {
	for _, tt := range []struct {
		members int
		answer  int
		travels bool
	}{{4, 1, true}, {4, MaxAnswer, true}, {4, MaxAnswer + 1, false}, {4, 0, false}, {66, 1, false}} {
		c := newCluster(1)
		ids := c.group(tt.members)
		publisher := c.nodes[ids[1]]
		m, ref := publisher.m, feedring.FeedRef{URL: publisher.feeds[0].URL, Publisher: ids[1]}
		head := feedring.Head{Feed: ref, Position: feedring.Position{Epoch: 7, Sequence: 2}}
		sent := 0
		for _, out := range m.Step(c.now, Appended{Head: head, After: feedring.Position{Epoch: 7, Sequence: 1}, Answer: make([]byte, tt.answer)}) {
			s, ok := out.(*Send)
			if !ok {
				continue
			}
			sent++
			if n := s.Message.(Notify); tt.travels != (len(n.Answer) == tt.answer && n.After.Sequence == 1) || !tt.travels && len(n.Answer) > 0 {
				t.Errorf("%+v: %d bytes after %v", tt, len(n.Answer), n.After)
			}
		}
		if sent == 0 {
			t.Errorf("%+v: nobody is told", tt)
		}
	}
}

// A peer that holds the beginning of a log, the rest of which is fresh nowhere any more, does not go on polling for it:
// what is published next would wait for the next try.
func TestEntriesThatAreNotFreshCountAsHeld(t *testing.T) {
	c, m, news, other := notified(t)
	ref := news.Head.Feed
	plain := news
	plain.Answer = nil
	if polls, _ := fetches(c, m, Receive{From: other, Message: plain}); len(polls) != 1 {
		t.Fatalf("it polls %v", polls)
	}
	held := feedring.Head{Feed: ref, Position: news.After}
	if polls, _ := fetches(c, m, Fetched{Feed: ref, From: other, Head: held, Known: news.Head}); len(polls) > 0 {
		t.Errorf("it polls %v", polls)
	}
	if h := m.replicator.Heads[ref]; h.Pos != news.Head.Position || h.Tries > 0 {
		t.Errorf("it is at %v after %d tries", h.Pos, h.Tries)
	}
	news.Head.Position.Sequence, news.After.Sequence = 3, 2
	if polls, taken := fetches(c, m, Receive{From: ref.Publisher, Message: news}); len(polls) > 0 || len(taken) != 1 {
		t.Errorf("of the next entry it polls %v and takes %v", polls, taken)
	}
}
