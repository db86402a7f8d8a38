// Package support judges between managers of one group by who follows them. A manager counts
// what each peer told it on its own connection; what a rival says of itself counts nothing.
package support

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/internal/times"
)

// Bounds of what is asked and counted.
const (
	most = 32      // more support counts as much: of a rival's peers only a sample is asked
	ask  = 64      // peers, in a period
	room = 1 << 14 // words of peers
)

// Ledger is what one manager heard of whom others follow. Use New.
type Ledger struct {
	self    feedring.PeerID
	refresh time.Duration
	told    map[feedring.PeerID]word
	purged  time.Time                     // when old words were last dropped from a full table
	asked   map[feedring.PeerID]time.Time // who is no member, and may answer
	inquiry time.Time                     // when peers were last asked
	rival   feedring.Term                 // the highest claim above this manager's that was met
	met     time.Time                     // when such were met first
	last    time.Time                     // and last
	listed  time.Time                     // when the rival told who its peers are
	outbid  time.Time                     // when this manager last claimed above another one
	below   feedring.PeerID               // and above which
}

// word is what a peer told.
type word struct {
	follows feedring.PeerID
	prefix  standing.Prefix
	at      time.Time
}

// New returns an empty ledger of a peer.
func New(self feedring.PeerID, refresh time.Duration) Ledger {
	return Ledger{self: self, refresh: refresh, told: map[feedring.PeerID]word{}, asked: map[feedring.PeerID]time.Time{}}
}

// Clone returns an independent copy.
func (l *Ledger) Clone() Ledger {
	c := *l
	c.told, c.asked = maps.Clone(l.told), maps.Clone(l.asked)
	return c
}

// Forget forgets all that was heard: this peer follows another one.
func (l *Ledger) Forget() {
	outbid, below := l.outbid, l.below
	*l = New(l.self, l.refresh)
	l.outbid, l.below = outbid, below
}

// Rebase lets by pass unseen.
func (l *Ledger) Rebase(now time.Time, by time.Duration) {
	for p, w := range l.told {
		if w.at = times.Within(now, w.at, by, 2*l.refresh); w.at.IsZero() {
			delete(l.told, p)
		} else {
			l.told[p] = w
		}
	}
	for p, at := range l.asked {
		if at = times.Within(now, at, by, 2*l.refresh); at.IsZero() {
			delete(l.asked, p)
		} else {
			l.asked[p] = at
		}
	}
	l.inquiry, l.outbid = times.Within(now, l.inquiry, by, l.refresh), times.Within(now, l.outbid, by, l.refresh)
	l.purged, l.met = times.Within(now, l.purged, by, l.refresh), times.Ago(now, l.met, by, l.refresh)
	l.listed = times.Ago(now, l.listed, by, l.refresh)
	if l.last = times.Within(now, l.last, by, 2*l.refresh); l.last.IsZero() {
		l.rival, l.met, l.listed = feedring.Term{}, time.Time{}, time.Time{}
	}
}

// Told notes whom a peer follows, as it says itself. Of those that are no members only who was
// asked counts.
func (l *Ledger) Told(by feedring.PeerID, member bool, prefix standing.Prefix, follows feedring.PeerID, now time.Time) {
	if at, ok := l.asked[by]; by == l.self || !member && (!ok || now.Sub(at) >= 2*l.refresh) {
		return
	}
	if len(l.told) >= room && now.Sub(l.purged) >= l.refresh {
		l.purged = now
		maps.DeleteFunc(l.told, func(_ feedring.PeerID, w word) bool { return now.Sub(w.at) >= 2*l.refresh })
	}
	if _, known := l.told[by]; !known && len(l.told) >= room {
		return
	}
	l.told[by] = word{follows, prefix, now}
}

// Of is the support of a manager: itself, and the prefixes of those that said within two periods
// that they follow it. Who has no prefix counts by itself.
func (l *Ledger) Of(manager feedring.PeerID, now time.Time) int {
	n, prefixes := 1, map[standing.Prefix]bool{}
	for p, w := range l.told {
		if w.follows != manager || p == manager || now.Sub(w.at) >= 2*l.refresh {
			continue
		}
		if w.prefix == "" {
			n++
		} else {
			prefixes[w.prefix] = true
		}
		if n+len(prefixes) >= most {
			break
		}
	}
	return n + len(prefixes)
}

// Yields reports whether a rival has at least as much support as this manager.
func (l *Ledger) Yields(rival feedring.PeerID, now time.Time) bool {
	return l.Of(rival, now) >= l.Of(l.self, now)
}

// Meet notes a claim above this manager's that is said to be acknowledged, and that has less support as
// far as is known. The first result reports whether others are to be asked, once in a period. The second
// is true where this manager claimed above the rival and the rival claims again: it may have followers
// of which this manager does not know, and is to be asked who they are.
func (l *Ledger) Meet(t feedring.Term, now time.Time) (ask, again bool) {
	again = t.Claimant == l.below && t.Compare(l.rival) > 0 && now.Sub(l.outbid) < 3*l.refresh
	if again || l.rival.IsZero() || now.Sub(l.last) >= 2*l.refresh {
		l.rival, l.met, l.listed = t, now, time.Time{}
	}
	if t.Compare(l.rival) > 0 {
		l.rival = t
	}
	l.last = now
	if again {
		l.below = "" // once for each claim above it
	}
	return now.Sub(l.inquiry) >= l.refresh, again
}

// Ask chooses whom to ask of those that may follow a rival: at random, those that told nothing in
// this period, and in a period no more than 64 in all.
func (l *Ledger) Ask(of []feedring.PeerID, now time.Time, draw func(n int) int) []feedring.PeerID {
	if now.Sub(l.inquiry) >= l.refresh {
		l.inquiry = now
		maps.DeleteFunc(l.asked, func(_ feedring.PeerID, at time.Time) bool { return now.Sub(at) >= 2*l.refresh })
	}
	left := ask
	for _, at := range l.asked {
		if !at.Before(l.inquiry) {
			left--
		}
	}
	of = slices.DeleteFunc(slices.Clone(of), func(p feedring.PeerID) bool {
		at, was := l.asked[p]
		w, did := l.told[p]
		return p == l.self || was && now.Sub(at) < l.refresh || did && now.Sub(w.at) < l.refresh
	})
	slices.SortFunc(of, cmp.Compare)
	of = slices.Compact(of)
	for i := range min(left, len(of)) {
		k := i + draw(len(of)-i)
		of[i], of[k] = of[k], of[i]
		l.asked[of[i]] = now
	}
	return of[:max(0, min(left, len(of)))]
}

// Listed notes that the rival told who its peers are. It reports whether that was news.
func (l *Ledger) Listed(now time.Time) bool {
	if !l.listed.IsZero() {
		return false
	}
	l.listed = now
	return true
}

// Rival is the manager that was met last, within two periods.
func (l *Ledger) Rival(now time.Time) (feedring.PeerID, bool) {
	return l.rival.Claimant, !l.rival.IsZero() && now.Sub(l.last) < 2*l.refresh
}

// Outbid returns the claim above which this manager, whose term is own, is to claim now: one with less
// support, where all that were asked answered, or had the time to. At most once in a period there is one.
// A rival that is to admit this manager, and to tell who its peers are, is waited for, for a period at most.
func (l *Ledger) Outbid(own feedring.Term, answers time.Duration, admission bool, now time.Time) (feedring.Term, bool) {
	asked := times.Later(l.met, l.listed)
	waits := now.Sub(asked) < answers && !l.answered()
	if admission && l.listed.IsZero() {
		waits = now.Sub(l.met) < l.refresh
	}
	if _, met := l.Rival(now); !met || waits || l.rival.Compare(own) <= 0 || l.Yields(l.rival.Claimant, now) {
		return feedring.Term{}, false
	}
	may := l.MayOutbid(now)
	if may {
		l.below = l.rival.Claimant
	}
	return l.rival, may
}

// answered reports whether everybody that was asked because of the rival told something since.
func (l *Ledger) answered() bool {
	for p, at := range l.asked {
		if w, did := l.told[p]; !at.Before(l.met) && (!did || w.at.Before(at)) {
			return false
		}
	}
	return true
}

// MayOutbid reports whether this manager may claim above another one, once in a period.
func (l *Ledger) MayOutbid(now time.Time) bool {
	if now.Sub(l.outbid) < l.refresh {
		return false
	}
	l.outbid = now
	return true
}
