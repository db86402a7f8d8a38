package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func fresh() *Ledger { return New(rand.NewPCG(1, 2)) }

func put(t testing.TB, l *Ledger, topic, host string, n int) Key {
	t.Helper()
	callback := fmt.Sprintf("https://%s/%d", host, n)
	_, err := l.Put(&Subscription{Topic: topic, Resource: topic, Callback: callback, Host: host, Expires: start.Add(240 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return KeyOf(topic, callback)
}

// all takes every delivery that may begin.
func all(l *Ledger, now time.Time) (list []Delivery) {
	for {
		d, ok := l.Next(now)
		if !ok {
			return list
		}
		list = append(list, d)
	}
}

func TestOneChangeIsToldOnceToEach(t *testing.T) {
	l := fresh()
	put(t, l, "a", "x.example", 1)
	put(t, l, "a", "y.example", 1)
	put(t, l, "b", "x.example", 1)
	l.Changed(start, "a")
	l.Changed(start, "a")
	got := all(l, start)
	if len(got) != 2 {
		t.Fatalf("%d deliveries", len(got))
	}
	for i := range got {
		if l.Done(start, &got[i], Outcome{Verdict: Told, Version: 7}) {
			t.Error("dropped")
		}
		if s, _ := l.Get(got[i].Key); s.Sent != 7 {
			t.Errorf("sent %d", s.Sent)
		}
	}
	if more := all(l, start.Add(time.Hour)); len(more) > 0 || !l.Deadline().IsZero() {
		t.Errorf("told again: %v, deadline %v", more, l.Deadline())
	}
}

func TestChangesDuringADeliveryAreOneMore(t *testing.T) {
	l := fresh()
	put(t, l, "a", "x.example", 1)
	l.Changed(start, "a")
	d := all(l, start)
	for i := range 10 {
		l.Changed(start.Add(time.Duration(i)*time.Second/10), "a")
	}
	if more := all(l, start.Add(time.Second)); len(more) > 0 {
		t.Fatal("two at once to one subscriber")
	}
	now := start.Add(time.Second)
	l.Done(now, &d[0], Outcome{Verdict: Told})
	if more := all(l, now); len(more) > 0 {
		t.Error("no space between deliveries")
	}
	if at := l.Deadline(); !at.Equal(now.Add(Spacing)) {
		t.Errorf("deadline %v", at)
	}
	more := all(l, now.Add(Spacing))
	if len(more) != 1 {
		t.Fatalf("%d deliveries", len(more))
	}
}

func TestEntriesOneByOneAreSpaced(t *testing.T) {
	l := fresh()
	put(t, l, "a", "x.example", 1)
	told := 0
	for i := range 1000 {
		now := start.Add(time.Duration(i) * time.Millisecond)
		l.Changed(now, "a")
		for _, d := range all(l, now) {
			told++
			l.Done(now, &d, Outcome{Verdict: Told})
		}
	}
	if told < 4 || told > 5 {
		t.Errorf("%d deliveries in a second", told)
	}
}

func TestFailuresAreToldAgainEverLater(t *testing.T) {
	l := fresh()
	key := put(t, l, "a", "x.example", 1)
	l.Changed(start, "a")
	now, last := start, time.Duration(0)
	for attempt := 1; ; attempt++ {
		d := all(l, now)
		if len(d) != 1 {
			t.Fatalf("attempt %d: %d deliveries", attempt, len(d))
		}
		l.Changed(now, "a") // what is new does not hurry it
		if l.Done(now, &d[0], Outcome{Verdict: Failed}) {
			if since := now.Sub(start); since < GiveUp || since > GiveUp+2*longestRetry || attempt > 100 {
				t.Errorf("given up after %v, %d attempts", since, attempt)
			}
			break
		}
		wait := l.Deadline().Sub(now)
		if wait < last/2 || wait < 8*time.Second || wait > longestRetry*6/5 {
			t.Errorf("attempt %d: %v after %v", attempt, wait, last)
		}
		l.Changed(now.Add(time.Second), "a")
		if more := all(l, now.Add(wait/2)); len(more) > 0 {
			t.Fatal("told before its time")
		}
		last, now = wait, now.Add(wait)
	}
	if _, ok := l.Get(key); ok || l.Len() != 0 || len(l.hosts) != 0 {
		t.Error("it is still there")
	}
}

func TestWhatASubscriberAsksForIsWaited(t *testing.T) {
	l := fresh()
	put(t, l, "a", "x.example", 1)
	l.Changed(start, "a")
	d := all(l, start)
	l.Done(start, &d[0], Outcome{Verdict: Failed, RetryAfter: time.Hour * 3})
	if at := l.Deadline(); !at.Equal(start.Add(3 * time.Hour)) {
		t.Errorf("deadline %v", at)
	}
}

func TestGoneIsRemoved(t *testing.T) {
	l := fresh()
	key := put(t, l, "a", "x.example", 1)
	l.Changed(start, "a")
	d := all(l, start)
	if !l.Done(start, &d[0], Outcome{Verdict: Ended}) {
		t.Error("not dropped")
	}
	if _, ok := l.Get(key); ok || l.Has("a") || len(l.topics) != 0 || len(l.hosts) != 0 {
		t.Error("it is still there")
	}
}

func TestRemovedWhileUnderWay(t *testing.T) {
	l := fresh()
	key := put(t, l, "a", "x.example", 1)
	l.Changed(start, "a")
	d := all(l, start)
	l.Remove(key)
	put(t, l, "a", "x.example", 1) // it comes back meanwhile
	l.Changed(start.Add(time.Second), "a")
	if l.Done(start, &d[0], Outcome{Verdict: Ended}) || l.Len() != 1 {
		t.Error("an old delivery ended the new subscription")
	}
	if more := all(l, start.Add(time.Second)); len(more) != 1 {
		t.Errorf("%d deliveries", len(more))
	}
}

func TestLeasesEndAndAreRenewed(t *testing.T) {
	l := fresh()
	short := put(t, l, "a", "x.example", 1)
	put(t, l, "a", "x.example", 2)
	s, _ := l.Get(short)
	s.Expires = start.Add(time.Minute)
	if _, err := l.Put(&s); err != nil || l.Len() != 2 {
		t.Fatal(err, l.Len())
	}
	if ended := l.Expired(start.Add(59 * time.Second)); len(ended) > 0 {
		t.Error("too early")
	}
	if ended := l.Expired(start.Add(time.Minute)); len(ended) != 1 || ended[0].Callback != s.Callback || l.Len() != 1 {
		t.Errorf("%v", ended)
	}
}

func TestLimits(t *testing.T) {
	l := fresh()
	for i := range MaxAtHost {
		put(t, l, "a", "x.example", i)
	}
	if l.HasRoomFor("a", "https://x.example/new", "x.example") || !l.HasRoomFor("a", "https://y.example/new", "y.example") {
		t.Error("one host fills the ledger, or none may")
	}
	if !l.HasRoomFor("a", "https://x.example/0", "x.example") {
		t.Error("what is there may not be renewed")
	}
	if _, err := l.Put(&Subscription{Topic: "a", Callback: "new", Host: "x.example"}); err != ErrFull {
		t.Error(err)
	}
}

func TestGoneTopicEndsAll(t *testing.T) {
	l := fresh()
	put(t, l, "a", "x.example", 1)
	put(t, l, "a", "y.example", 2)
	put(t, l, "b", "y.example", 2)
	l.Changed(start, "a")
	if ended := l.Gone("a"); len(ended) != 2 || l.Len() != 1 {
		t.Errorf("%v", ended)
	}
	if more := all(l, start); len(more) > 0 {
		t.Error("what ended is told")
	}
}

// TestHangingHostsLeavePlacesToOthers has ten times as many hosts that hang as
// there are places. The first time one that answers waits its turn behind them,
// for they might answer; after that it waits for none of them.
func TestHangingHostsLeavePlacesToOthers(t *testing.T) {
	l := fresh()
	for i := range 10 * AtOnce {
		put(t, l, "a", fmt.Sprintf("slow%d.example", i), 1)
	}
	put(t, l, "b", "good.example", 1)
	now := start
	waited := func() time.Duration {
		l.Changed(now.Add(-time.Millisecond), "a") // it comes last
		l.Changed(now, "b")
		began := now
		var under []Delivery
		answered := time.Duration(-1)
		for len(under) > 0 || answered < 0 && now.Sub(began) < time.Hour {
			for _, d := range all(l, now) {
				if d.Host == "good.example" {
					answered = now.Sub(began)
					l.Done(now, &d, Outcome{Verdict: Told})
					continue
				}
				under = append(under, d)
			}
			if len(under) > allAtOnce {
				t.Fatalf("%d at once", len(under))
			}
			now = now.Add(Patience)
			for len(under) > 0 && now.Sub(under[0].run.began) >= 10*time.Second {
				l.Done(now, &under[0], Outcome{Verdict: Failed})
				under = under[1:]
			}
		}
		return answered
	}
	if first := waited(); first < 0 || first > 30*time.Second {
		t.Errorf("it waited %v behind hosts that hang", first)
	}
	if second := waited(); second != 0 {
		t.Errorf("it waited %v behind hosts that are known to hang", second)
	}
}

func TestOneHostHasFewAtOnce(t *testing.T) {
	l := fresh()
	for i := range 3 * atHost {
		put(t, l, "a", "x.example", i)
	}
	put(t, l, "a", "y.example", 0)
	l.Changed(start, "a")
	first := all(l, start)
	if len(first) != atHost+1 || first[1].Host != "y.example" {
		t.Fatalf("%d at once, second %s", len(first), first[1].Host)
	}
	for i := range first {
		l.Done(start, &first[i], Outcome{Verdict: Failed})
	}
	if second := all(l, start); len(second) != atDoubtful {
		t.Errorf("%d at once at a host that fails", len(second))
	}
}

func TestBehindAfterARestart(t *testing.T) {
	l := fresh()
	key := put(t, l, "a", "x.example", 1)
	put(t, l, "a", "x.example", 2)
	s := l.subs[key]
	s.sent = 5
	l.Behind(start, "a", 5)
	if list := all(l, start); len(list) != 1 || list[0].Key == key {
		t.Errorf("%v", list)
	}
}

// TestRandom holds the ledger against what it says of itself, whatever happens.
func TestRandom(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7))
		l := New(rand.NewPCG(seed, 8))
		now := start
		var under []Delivery
		busy := map[Key]int{}
		for range 2000 {
			now = now.Add(time.Duration(r.Int64N(int64(time.Second))))
			topic, host := fmt.Sprint("t", r.IntN(4)), fmt.Sprint("h", r.IntN(6))
			switch r.IntN(6) {
			case 0:
				put(t, l, topic, host, r.IntN(5))
			case 1:
				l.Remove(KeyOf(topic, fmt.Sprintf("https://%s/%d", host, r.IntN(5))))
			case 2:
				l.Changed(now, topic)
			case 3:
				for _, d := range all(l, now) {
					under = append(under, d)
					if busy[d.Key]++; busy[d.Key] > 1 && l.subs[d.Key] == under[len(under)-1].run.sub {
						for _, other := range under[:len(under)-1] {
							if other.run.sub == d.run.sub {
								t.Fatal("one subscription is told twice at once")
							}
						}
					}
				}
			default:
				if len(under) > 0 {
					i := r.IntN(len(under))
					l.Done(now, &under[i], Outcome{Verdict: Verdict(1 + r.IntN(3))})
					busy[under[i].Key]--
					under = append(under[:i], under[i+1:]...)
				}
			}
			check(t, l, under)
		}
	}
}

func check(t *testing.T, l *Ledger, under []Delivery) {
	t.Helper()
	slow := 0
	for _, r := range l.running.all {
		if r.slow {
			slow++
		}
	}
	if len(l.running.all) != len(under) || slow != l.running.slow {
		t.Fatalf("%d running, %d counted; %d slow, %d counted", len(under), len(l.running.all), slow, l.running.slow)
	}
	subs := map[*host]int{}
	for _, s := range l.subs {
		subs[s.host]++
		if (s.index >= 0) != (s.state == waits) {
			t.Fatalf("state %d at %d", s.state, s.index)
		}
		if s.state == queued && !s.host.listed && s.host.running == 0 {
			t.Fatal("what is due waits for nobody")
		}
	}
	for _, h := range l.hosts {
		if h.subs != subs[h] || h.running < 0 {
			t.Fatalf("host %s: %d subscriptions counted, %d there, %d running", h.name, h.subs, subs[h], h.running)
		}
	}
}

func BenchmarkChanged(b *testing.B) {
	l := fresh()
	for i := range 100_000 {
		put(b, l, "a", fmt.Sprintf("h%d.example", i%1000), i)
	}
	for b.Loop() {
		l.Changed(start, "a")
		for d, ok := l.Next(start); ok; d, ok = l.Next(start) {
			l.Done(start, &d, Outcome{Verdict: Told})
		}
		start = start.Add(time.Second)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/delivery")
}

// TestACallbackIsToldOnce: whoever subscribes under many addresses of one resource is
// told of it under the last one.
func TestACallbackIsToldOnce(t *testing.T) {
	l := fresh()
	var last Subscription
	for n := range 90 {
		s := Subscription{Topic: fmt.Sprintf("https://a.example/feed?%d", n), Resource: "a", Callback: "https://x.example/cb", Host: "x.example", Expires: start.Add(time.Hour)}
		replaced, err := l.Put(&s)
		if err != nil || (replaced != nil) != (n > 0) || n > 0 && replaced.Topic != last.Topic {
			t.Fatalf("subscription %d replaced %+v: %v", n, replaced, err)
		}
		last = s
	}
	if again, err := l.Put(&last); again != nil || err != nil {
		t.Errorf("a renewal replaced %+v: %v", again, err)
	}
	other := last
	other.Callback = "https://x.example/other"
	if again, err := l.Put(&other); again != nil || err != nil {
		t.Errorf("another callback replaced %+v: %v", again, err)
	}
	l.Changed(start, "a")
	if got := all(l, start); len(got) != 2 || l.Len() != 2 || len(l.Topics("a")) != 1 {
		t.Errorf("%d deliveries to %d subscriptions under %v", len(got), l.Len(), l.Topics("a"))
	}
	l.Remove(KeyOf(last.Topic, last.Callback))
	l.Remove(KeyOf(other.Topic, other.Callback))
	if l.Has("a") || len(l.told) != 0 {
		t.Errorf("%d callbacks are remembered", len(l.told))
	}
}
