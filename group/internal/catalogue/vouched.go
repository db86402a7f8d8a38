package catalogue

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// VouchAge is how long a vouch counts: a day between looks, and half of one.
const VouchAge = 36 * time.Hour

// claim is a vouch and whose row it is in.
type claim struct {
	by feedring.PeerID
	v  *Vouch
}

// Vouched finds the feeds of x whose site names the publisher, as seen by two of
// the peers whose turn it is to look, one of them not the publisher. The result
// holds before until; zero: for ever.
func (x *Index) Vouched(now time.Time) (vouched map[feedring.FeedRef]string, until time.Time) {
	vouched = map[feedring.FeedRef]string{}
	claims, until := x.claims(now)
	if len(claims) == 0 {
		return vouched, until
	}
	peers := make([]feedring.PeerID, 0, len(x.Rows))
	for _, r := range x.Rows {
		peers = append(peers, r.Peer)
	}
	circle := LayCircle(peers)
	for i := range x.Feeds {
		ref := x.Feeds[i].Ref
		if site := circle.site(ref, about(claims, ref.Publisher)); site != "" {
			vouched[ref] = site
		}
	}
	return vouched, until
}

// claims lists the vouches that count, by publisher, those of one publisher in
// the order of the rows. From until on, if it is not zero, others count.
func (x *Index) claims(now time.Time) (all []claim, until time.Time) {
	n := 0
	for _, r := range x.Rows {
		n += len(r.Vouches)
	}
	all = make([]claim, 0, n)
	for _, r := range x.Rows {
		for i := range r.Vouches {
			v := &r.Vouches[i]
			counts := now.Sub(v.At) < VouchAge && v.At.Sub(now) < VouchAge
			if counts {
				all = append(all, claim{r.Peer, v})
			}
			change := v.At.Add(VouchAge)
			if v.At.After(now) && !counts {
				change = v.At.Add(1 - VouchAge)
			}
			if change.After(now) && (until.IsZero() || change.Before(until)) {
				until = change
			}
		}
	}
	slices.SortStableFunc(all, func(a, b claim) int { return cmp.Compare(a.v.Publisher, b.v.Publisher) })
	return all, until
}

// about returns the claims of one publisher among all.
func about(all []claim, publisher feedring.PeerID) []claim {
	first, _ := slices.BinarySearchFunc(all, publisher, func(c claim, p feedring.PeerID) int { return cmp.Compare(c.v.Publisher, p) })
	n := first
	for n < len(all) && all[n].v.Publisher == publisher {
		n++
	}
	return all[first:n]
}

// site returns the first site by which two peers claim that it names ref's
// publisher; since two differ, one of them is not the publisher.
func (c Circle) site(ref feedring.FeedRef, claims []claim) string {
	if len(claims) < 2 {
		return ""
	}
	h := feedring.HostOf(ref.URL)
	var good []claim
	for _, one := range claims {
		said := func(o claim) bool { return o.v.Site == one.v.Site && o.by == one.by }
		if !h.Below(one.v.Site) || len(one.v.Feeds) > 0 && !slices.Contains(one.v.Feeds, ref.URL) ||
			slices.ContainsFunc(good, said) || !c.Looks(ref, one.by, 2*Checkers) {
			continue
		}
		if slices.ContainsFunc(good, func(o claim) bool { return o.v.Site == one.v.Site }) {
			return one.v.Site
		}
		good = append(good, one)
	}
	return ""
}
