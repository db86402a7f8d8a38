package support

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

const r = time.Second

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func prefix(n int) standing.Prefix { return standing.Prefix(fmt.Sprintf("192.0.%d.0/24", n)) }

func id(n int) feedring.PeerID { return feedring.PeerID(fmt.Sprintf("p%04d", n)) }

// What counts: the newest word of each peer, of two periods, by prefix.
func TestOf(t *testing.T) {
	l := New("a", r)
	for i := range 3 {
		l.Told(id(i), true, "", "a", start)
	}
	for i := 3; i < 9; i++ {
		l.Told(id(i), true, prefix(i%2), "b", start)
	}
	l.Told("a", true, "", "b", start)
	l.Told("b", true, prefix(9), "b", start)
	l.Told("stranger", false, prefix(7), "b", start)
	if a, b := l.Of("a", start), l.Of("b", start); a != 4 || b != 3 {
		t.Errorf("support of %d and %d", a, b)
	}
	l.Told(id(0), true, "", "b", start.Add(r))
	if a, b := l.Of("a", start.Add(r)), l.Of("b", start.Add(r)); a != 3 || b != 4 || !l.Yields("b", start.Add(r)) {
		t.Errorf("support of %d and %d after one went over", a, b)
	}
	if a, b := l.Of("a", start.Add(2*r)), l.Of("b", start.Add(2*r)); a != 1 || b != 2 {
		t.Errorf("support of %d and %d when the rest is old", a, b)
	}
	for i := range 1000 {
		l.Told(id(i), true, "", "a", start.Add(3*r))
	}
	if a := l.Of("a", start.Add(3*r)); a != most {
		t.Errorf("support of %d", a)
	}
}

// A stranger counts where it was asked.
func TestAsk(t *testing.T) {
	l, draw := New("a", r), rand.New(rand.NewPCG(1, 1)).IntN
	var all []feedring.PeerID
	for i := range 200 {
		all = append(all, id(i))
	}
	l.Told(id(0), true, "", "a", start)
	now := start.Add(r / 2)
	first := l.Ask(all, now, draw)
	if len(first) != ask || len(l.Ask(all, now, draw)) != 0 || len(l.Ask(all[100:], now.Add(r-1), draw)) != 0 {
		t.Errorf("%d were asked, and more within a period", len(first))
	}
	for _, p := range first {
		if p == id(0) {
			t.Error("one was asked that has just told")
		}
		l.Told(p, false, "", "b", now)
	}
	if b := l.Of("b", now); b != most {
		t.Errorf("support of %d", b)
	}
	if n := len(l.Ask(all, now.Add(r), draw)); n != ask {
		t.Errorf("%d were asked a period later", n)
	}
}

// A manager claims above a rival that has less support, when those asked had the time to
// answer, and once in a period.
func TestOutbid(t *testing.T) {
	own, rival := feedring.Term{Number: 3, Claimant: "a"}, feedring.Term{Number: 9, Claimant: "b"}
	l := New("a", r)
	outbids := func(at time.Duration, admission bool) bool {
		above, ok := l.Outbid(own, r/4, admission, start.Add(at))
		return ok && above == rival
	}
	l.Told("p", true, "", "a", start)
	if outbids(0, false) {
		t.Error("there is no rival")
	}
	l.Meet(rival, start)
	l.Ask([]feedring.PeerID{"p", "q"}, start, func(int) int { return 0 })
	if outbids(r/4-1, false) || outbids(r/4, true) || !outbids(r/4, false) {
		t.Error("it waits for the answer of q, and not longer")
	}
	l.Meet(rival, start.Add(r))
	if outbids(r, false) || !outbids(r+r/4, false) {
		t.Error("it claims once in a period")
	}
	l.Told("p", true, "", "b", start.Add(3*r))
	l.Meet(rival, start.Add(3*r))
	if outbids(4*r, false) {
		t.Error("the rival has more support")
	}
	own.Number = 10
	l.Told("p", true, "", "a", start.Add(4*r))
	if l.Meet(rival, start.Add(4*r)); outbids(5*r-1, false) {
		t.Error("the rival is below")
	}
}

// A rival that claims again above the claim that outbid it is asked who its peers are: once for each
// such claim, for a period at most, and only soon after.
func TestRivalClaimsAgain(t *testing.T) {
	claim := func(number uint64, by feedring.PeerID) feedring.Term {
		return feedring.Term{Number: number, Claimant: by}
	}
	l := New("a", r)
	meets := func(number uint64, by feedring.PeerID, at time.Duration) bool {
		_, again := l.Meet(claim(number, by), start.Add(at))
		return again
	}
	outbids := func(number uint64, at time.Duration) bool {
		l.Told("p", true, "", "a", start.Add(at))
		_, ok := l.Outbid(claim(number, "a"), r/4, true, start.Add(at))
		return ok
	}
	if meets(9, "b", 0) || !outbids(3, r) {
		t.Fatal("nobody was outbid yet")
	}
	if meets(9, "b", r+1) || meets(11, "c", r+1) {
		t.Error("the same claim, or another's, is none anew")
	}
	if !meets(12, "b", r+2) || meets(13, "b", r+3) {
		t.Error("it is asked once")
	}
	if outbids(10, 2*r) || !outbids(10, 2*r+2) {
		t.Error("its peers are waited for, for a period")
	}
	if meets(15, "b", 5*r+2) {
		t.Error("that was long ago")
	}
}

// Once everybody that was asked has answered, it waits no longer. For a rival that is to tell who its
// peers are it waits a period, and for their answers when it did.
func TestOutbidsWhenAllAnswered(t *testing.T) {
	own, rival := feedring.Term{Number: 3, Claimant: "a"}, feedring.Term{Number: 9, Claimant: "b"}
	for _, admission := range []bool{false, true} {
		l := New("a", r)
		ask := func(p feedring.PeerID) { l.Ask([]feedring.PeerID{p}, start, func(int) int { return 0 }) }
		outbids := func(at time.Duration) bool {
			_, ok := l.Outbid(own, r/4, admission, start.Add(at))
			return ok
		}
		l.Told("p", true, "", "a", start.Add(-1))
		l.Meet(rival, start)
		ask("q")
		if outbids(0) {
			t.Error("q did not answer")
		}
		l.Told("q", true, "", "a", start.Add(1))
		if admission {
			if outbids(1) {
				t.Error("the rival did not tell of its peers")
			}
			if !l.Listed(start.Add(1)) || l.Listed(start.Add(2)) {
				t.Error("it told twice")
			}
			ask("s")
			if outbids(2) {
				t.Error("s did not answer")
			}
			l.Told("s", false, "", "b", start.Add(2))
		}
		if !outbids(2) {
			t.Error("all answered")
		}
	}
}

// Two managers that heard the same of the same peers never both keep their places: one at least
// yields, whatever the peers are and say, and with more support none yields to less.
func TestOneYields(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := New("a", r), New("b", r)
		for range random.IntN(80) {
			from := prefix(random.IntN(40))
			if random.IntN(3) == 0 {
				from = ""
			}
			p, follows := id(random.IntN(60)), []feedring.PeerID{"a", "b", "c"}[random.IntN(3)]
			a.Told(p, true, from, follows, start)
			b.Told(p, true, from, follows, start)
		}
		a.Told("b", true, prefix(99), "b", start)
		b.Told("a", true, prefix(98), "a", start)
		if a.Of("a", start) != b.Of("a", start) || a.Of("b", start) != b.Of("b", start) {
			t.Fatalf("%d and %d, %d and %d", a.Of("a", start), b.Of("a", start), a.Of("b", start), b.Of("b", start))
		}
		if !a.Yields("b", start) && !b.Yields("a", start) {
			t.Fatal("none yields")
		}
	}
}

// What is kept is bounded.
func TestBounds(t *testing.T) {
	l := New("a", r)
	for i := range 2 * room {
		l.Told(id(i), true, "", "b", start)
	}
	if len(l.told) != room {
		t.Errorf("%d words are kept", len(l.told))
	}
	if l.Told("late", true, "", "a", start.Add(2*r)); len(l.told) != 1 {
		t.Errorf("%d words are kept of old ones", len(l.told))
	}
	if c := l.Clone(); c.Of("a", start.Add(2*r)) != 2 {
		t.Error("a clone lacks a word")
	}
}

// Time that passes unseen makes words old.
func TestRebase(t *testing.T) {
	l := New("a", r)
	l.Told("p", true, "", "b", start)
	l.Ask([]feedring.PeerID{"q"}, start, func(int) int { return 0 })
	l.Meet(feedring.Term{Number: 9, Claimant: "b"}, start)
	l.MayOutbid(start)
	if l.Rebase(start, r-1); l.MayOutbid(start) || l.Of("b", start) != 2 {
		t.Error("less than a period is as more")
	}
	if l.Rebase(start, r+1); l.Of("b", start) != 1 || len(l.told)+len(l.asked) != 0 || !l.rival.IsZero() {
		t.Errorf("after two periods there is %+v", l)
	}
	if l.Forget(); !l.MayOutbid(start) || l.MayOutbid(start) {
		t.Error("a claim of before is forgotten with the rest")
	}
}
