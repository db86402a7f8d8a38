package looks

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// decide adds who looks at an own feed to turns, if that changed. It reports
// whether the manager has to be asked, and when to decide again; zero: not before
// something happens.
func (s *share) decide(h *Here, url string, turns *[]Turn) (shared bool, again time.Time) {
	t, shared, again := s.verdict(h, url)
	if h.Settled && t.Turn > 0 {
		t.Part = h.part(url, t.Turn, t.Of)
	}
	if t != s.told {
		s.told = t
		s.tell(h, turns)
	}
	return shared, again
}

// tell adds the turn to turns, with what is known of the last look.
func (s *share) tell(h *Here, turns *[]Turn) {
	t := s.told
	if t.Turn > 0 || s.last.asks(h.Now) {
		t.Last = s.last.asOf(h.Now)
	}
	*turns = append(*turns, t)
}

func (s *share) verdict(h *Here, url string) (t Turn, shared bool, again time.Time) {
	if !h.Settled {
		if s.told != (Turn{}) {
			return s.told, false, time.Time{}
		}
		t, again = s.notBefore(h, url, s.since.Add(min(h.Refresh, unheard)))
		return t, false, again
	}
	offers := h.offers(url)
	switch site, away := h.sitesOwn(offers); {
	case site != "":
		s.forget()
		if away {
			again = h.Away(site).Add(siteGone * h.Refresh)
		}
		return h.turnBy(url, []feedring.PeerID{site}), false, again
	case !slices.ContainsFunc(offers, func(f catalogue.Publication) bool { return !f.Away && f.Ref.Publisher != h.Self }):
		s.forget()
		return h.turnBy(url, []feedring.PeerID{h.Self}), false, time.Time{}
	}
	t, again = s.byWord(h, url, offers)
	t.Mirrors = t != Turn{}
	return t, true, again
}

// byWord is the verdict of a feed that several peers mirror. Where no manager
// speaks for long who looks goes on, and should that one be gone too, the
// others' turns come one after another.
func (s *share) byWord(h *Here, url string, offers []catalogue.Publication) (t Turn, again time.Time) {
	switch {
	case h.Now.Before(s.until):
		return h.turnBy(url, s.by), s.until
	case s.told.Turn > 0:
		return s.told, time.Time{}
	case s.by == nil:
		if s.alone.IsZero() {
			s.alone = h.Now
		}
		return s.notBefore(h, url, s.alone.Add(h.Refresh))
	}
	rank := 1
	for _, f := range offers {
		if p := f.Ref.Publisher; p < h.Self && !f.Away && !slices.Contains(s.by, p) {
			rank++
		}
	}
	return s.notBefore(h, url, s.until.Add(time.Duration(rank)*h.hold()))
}

// notBefore leaves everything as it is until a time, and then has this peer look.
func (s *share) notBefore(h *Here, url string, at time.Time) (Turn, time.Time) {
	if h.Now.Before(at) {
		return s.told, at
	}
	return h.turnBy(url, []feedring.PeerID{h.Self}), time.Time{}
}

// turnBy is this peer's turn among those that look.
func (h *Here) turnBy(url string, by []feedring.PeerID) Turn {
	if i := slices.Index(by, h.Self); i >= 0 {
		return Turn{URL: url, Turn: i + 1, Of: len(by), By: h.Self}
	}
	return Turn{URL: url, By: by[0]}
}

// forget leaves what the manager said: it is not needed.
func (s *share) forget() {
	s.by, s.until, s.alone, s.asked, s.tries = nil, time.Time{}, time.Time{}, time.Time{}, 0
}
