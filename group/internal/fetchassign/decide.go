package fetchassign

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/times"
)

// decide adds the decision about an own feed to out, if it changed. It reports
// whether the manager has to be asked, and when to decide again; zero: not before
// something happens.
func (s *memberFeed) decide(h *Snapshot, group feedring.GroupID, url string, out *[]Output) (shared bool, again time.Time) {
	t, shared, again := s.choose(h, url)
	if h.Settled && t.Slot > 0 && !t.Own {
		t.Part = h.part(url, t.Slot, t.Slots)
	}
	if t != s.announced {
		s.announced = t
		s.announce(h, group, out)
	}
	s.verify(h, group, url, out)
	return shared, again
}

// announce adds the decision to out, with what is known of the last fetch.
func (s *memberFeed) announce(h *Snapshot, group feedring.GroupID, out *[]Output) {
	t := s.announced
	t.Group = group
	if _, avoided := s.avoidedUntil(h); (t.Slot > 0 && !t.Own || s.last.concernsAll(h.Now)) && !avoided {
		t.Last = s.last.asOf(h.Now)
	}
	*out = append(*out, t)
}

func (s *memberFeed) choose(h *Snapshot, url string) (t FetchAssignment, shared bool, again time.Time) {
	offers := h.offers(url)
	if s.announced != (FetchAssignment{}) || h.Settled {
		if h.own(url, offers) {
			s.forget()
			s.last = nil
			t = h.decisionFor(url, []feedring.PeerID{h.Self})
			t.Own = true
			return t, false, time.Time{}
		}
	}
	if !h.Settled {
		if s.announced != (FetchAssignment{}) {
			return s.announced, false, time.Time{}
		}
		t, again = s.selfAfter(h, url, s.since.Add(min(h.Refresh, soloAfter)))
		return t, false, again
	}
	switch site, away := h.sitePeer(offers); {
	case site != "":
		s.forget()
		if away {
			again = h.Members.AwaySince(site).Add(siteAwayPeriods * h.Refresh)
		}
		return h.decisionFor(url, []feedring.PeerID{site}), false, again
	case !slices.ContainsFunc(offers, func(f catalogue.Publication) bool { return !f.Away && f.Ref.Publisher != h.Self }):
		s.forget()
		return h.decisionFor(url, []feedring.PeerID{h.Self}), false, time.Time{}
	}
	t, again = s.chooseShared(h, url, offers)
	t.Mirrors = t != FetchAssignment{}
	return t, true, again
}

// chooseShared decides about a feed that several peers mirror. While no manager assigns it,
// its fetcher goes on. If that one is gone too, the others take over one after another.
func (s *memberFeed) chooseShared(h *Snapshot, url string, offers []catalogue.Publication) (t FetchAssignment, again time.Time) {
	until, avoided := s.avoidedUntil(h)
	switch {
	case h.Now.Before(s.validUntil) && avoided:
		return h.decisionFor(url, []feedring.PeerID{h.Self}), times.Earlier(s.validUntil, until)
	case h.Now.Before(s.validUntil):
		return h.decisionFor(url, s.fetchers), s.validUntil
	case s.announced.Slot > 0:
		return s.announced, time.Time{}
	case s.fetchers == nil:
		if s.waitingSince.IsZero() {
			s.waitingSince = h.Now
		}
		return s.selfAfter(h, url, s.waitingSince.Add(h.Refresh))
	}
	rank := 1
	for _, f := range offers {
		if p := f.Ref.Publisher; p < h.Self && !f.Away && !slices.Contains(s.fetchers, p) {
			rank++
		}
	}
	return s.selfAfter(h, url, s.validUntil.Add(time.Duration(rank)*h.validity()))
}

// selfAfter leaves everything as it is until a time, and then has this peer fetch.
func (s *memberFeed) selfAfter(h *Snapshot, url string, at time.Time) (FetchAssignment, time.Time) {
	if h.Now.Before(at) {
		return s.announced, at
	}
	return h.decisionFor(url, []feedring.PeerID{h.Self}), time.Time{}
}

// decisionFor is the decision for this peer among the fetchers.
func (h *Snapshot) decisionFor(url string, by []feedring.PeerID) FetchAssignment {
	if i := slices.Index(by, h.Self); i >= 0 {
		return FetchAssignment{URL: url, Slot: i + 1, Slots: len(by), By: h.Self}
	}
	return FetchAssignment{URL: url, By: by[0]}
}

// forget drops the manager's assignment, which is not needed.
func (s *memberFeed) forget() {
	s.fetchers, s.validUntil, s.waitingSince, s.requestedAt, s.tries = nil, time.Time{}, time.Time{}, time.Time{}, 0
}
