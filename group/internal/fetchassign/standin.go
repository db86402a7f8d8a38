package fetchassign

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// A peer that rests verifies its stand-in, the peer that fetches a feed instead of it: anybody can say that it fetches.
// Nothing of that is sent, and the manager has no part in it, so a hostile one cannot end it.

const (
	failedFor = 24 * time.Hour // a peer fetches by itself whose stand-in kept something back
	maxFailed = 16             // stand-ins of one feed that are remembered: the newest
)

// failedStandIn is a peer that kept something back of a feed.
type failedStandIn struct {
	peer  feedring.PeerID
	until time.Time // this peer does not rest for it until then
}

// avoidedUntil is until when this peer fetches a feed by itself that the manager assigns to another, if it does so now.
func (s *memberFeed) avoidedUntil(h *Snapshot) (until time.Time, avoided bool) {
	if len(s.fetchers) == 0 || slices.Contains(s.fetchers, h.Self) {
		return time.Time{}, false
	}
	for _, f := range s.failed {
		if f.peer == s.fetchers[0] && h.Now.Before(f.until) {
			return f.until, true
		}
	}
	return time.Time{}, false
}

// verify adds to out whether this peer is to verify its stand-in, if that changed.
func (s *memberFeed) verify(h *Snapshot, group feedring.GroupID, url string, out *[]Output) {
	v := VerifyStandIn{Group: group, URL: url}
	if t := s.announced; t.Mirrors && t.Slot == 0 && h.foreign(t.By) {
		if v.Check, v.Checks = h.resting(url, s.fetchers); v.Checks > 0 {
			v.By, v.Part = t.By, h.part(url, 1, 1)
		}
	}
	if v == s.verifying || v.Checks == 0 && s.verifying.Checks == 0 {
		return
	}
	s.verifying = v
	s.tellStandIn(h, out)
}

// tellStandIn adds to out what is to be verified, with what is known of the last fetch.
func (s *memberFeed) tellStandIn(h *Snapshot, out *[]Output) {
	v := s.verifying
	if v.Checks > 0 {
		v.Last = s.last.asOf(h.Now)
	}
	*out = append(*out, v)
}

// foreign reports whether a peer is of another home: those of one home trust each other. Where this peer has a public
// address every peer that it heard has a prefix, so one without was not heard, and may avoid it on purpose.
func (h *Snapshot) foreign(p feedring.PeerID) bool {
	return h.Members.Prefix(p) != "" || slices.ContainsFunc(h.Members.Addrs(), public)
}

// public reports whether an address of a peer is one of the public internet, and not that of a relay.
func public(addr string) bool {
	parts := strings.Split(addr, "/")
	if len(parts) < 3 || slices.Contains(parts, "p2p-circuit") {
		return false
	}
	ip, err := netip.ParseAddr(parts[2])
	return err == nil && ip.IsGlobalUnicast() && !ip.IsPrivate()
}

// resting is this peer's place among the present peers that offer a feed and do not fetch it, by id, and how many they
// are; zero: it is none of them.
func (h *Snapshot) resting(url string, fetchers []feedring.PeerID) (place, of int) {
	for _, f := range h.offers(url) {
		if f.Away || slices.Contains(fetchers, f.Ref.Publisher) {
			continue
		}
		of++
		if f.Ref.Publisher == h.Self {
			place = of
		}
	}
	if place == 0 {
		return 0, 0
	}
	return place, of
}

// OnStandInFailed takes that the stand-in for a feed kept something back, and reports whether that changes who fetches.
func (o *Member) OnStandInFailed(url string, by feedring.PeerID, now time.Time) bool {
	s := o.feeds[url]
	if s == nil || s.verifying.Checks == 0 || s.verifying.By != by {
		return false
	}
	failed := slices.DeleteFunc(slices.Clone(s.failed), func(f failedStandIn) bool { return f.peer == by || !now.Before(f.until) })
	failed = append(failed, failedStandIn{by, now.Add(failedFor)})
	s.failed, s.changed = failed[max(0, len(failed)-maxFailed):], true
	return true
}
