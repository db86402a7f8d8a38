package fetchassign

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// MaxItems bounds the feeds in one message.
const MaxItems = 1_000

// Membership is what shared fetches need of the group: what is known of it, and the ways to act.
type Membership interface {
	Now() time.Time
	Jitter(below time.Duration) time.Duration
	Index() *catalogue.Index
	Vouched() map[feedring.FeedRef]string
	Member(feedring.PeerID) catalogue.Member
	Members
	Term() feedring.Term // followed; zero: none
	Serving() bool       // this peer manages
	Settled() bool       // the manager that is followed has admitted this peer
	// LookedAt is until when others may have fetched a feed that this peer carries for them; zero: not known.
	LookedAt(url string) time.Time
	Leaving() bool

	Emit(Output)
	// ReviewAt sets the timer that calls Review, ReviewTime is when it fires; zero: it is not set.
	ReviewAt(time.Time)
	ReviewTime() time.Time
	RequestAssignments([]Request) // of the manager
	SendAssignments(to feedring.PeerID, valid time.Duration, list []Assignment)
	RequestFetch(of feedring.PeerID, url string)
}

// Config is what is told once.
type Config struct {
	Group    feedring.GroupID
	Self     feedring.PeerID
	Refresh  time.Duration
	Fetchers int           // that this peer wants for each feed; 0: it shares no fetches
	Every    time.Duration // between two of its fetches; 0: its scheduler decides
}

// Sharing is one peer's part in the shared fetches of one group: as a member and, while it manages, for all. It has
// Member and Assigner decide and sends what they say. Use NewSharing.
type Sharing struct {
	cfg      Config
	group    Membership `state:"the machine that this is part of"`
	member   *Member
	assigner *Assigner
	term     feedring.Term // whose manager is asked
	parts    Parts         `state:"derived"` // see snapshot; nil: none is known
}

// NewSharing returns the part of a peer that offers no feeds.
func NewSharing(cfg Config, group Membership) *Sharing {
	return &Sharing{cfg: cfg, group: group, member: NewMember(cfg.Group, cfg.Fetchers, cfg.Every), assigner: NewAssigner()}
}

// Clone returns an independent copy for another membership.
func (s *Sharing) Clone(group Membership) *Sharing {
	return &Sharing{cfg: s.cfg, group: group, member: s.member.Clone(), assigner: s.assigner.Clone(), term: s.term}
}

// RowsChanged forgets what is derived from the catalogue.
func (s *Sharing) RowsChanged() { s.parts = nil }

// Size is how many feeds and candidates a manager keeps.
func (s *Sharing) Size() (feeds, candidates int) { return s.assigner.Size() }

func (s *Sharing) shares() bool { return s.cfg.Fetchers > 0 }

// snapshot is what decides about fetchers, as it is now.
func (s *Sharing) snapshot() *Snapshot {
	index, vouched := s.group.Index(), s.group.Vouched()
	if s.parts == nil {
		s.parts = Parts{}
	}
	return &Snapshot{
		Self: s.cfg.Self, Now: s.group.Now(), Refresh: s.cfg.Refresh, Index: index, Vouched: vouched, Parts: s.parts,
		Settled: s.group.Settled(), Members: s.group,
	}
}

// ReviewIn has this peer review its shared feeds after d, if it would not do so before.
func (s *Sharing) ReviewIn(d time.Duration) {
	at, set := s.group.Now().Add(d), s.group.ReviewTime()
	if s.shares() && (set.IsZero() || at.Before(set)) {
		s.group.ReviewAt(at)
	}
}

// Describe follows what this peer offers.
func (s *Sharing) Describe(feeds []feedring.Feed) {
	if s.shares() {
		s.member.Describe(feeds, s.group.Now(), s.group)
		s.ReviewIn(0)
	}
}

// FollowManager begins anew with another manager.
func (s *Sharing) FollowManager() {
	if !s.shares() {
		return
	}
	if !s.group.Serving() {
		s.assigner.Clear()
	}
	if t := s.group.Term(); s.term != t {
		s.term = t
		s.member.ManagerChanged()
		s.ReviewIn(s.group.Jitter(s.cfg.Refresh / 10))
	}
}

// Review reviews all own feeds, and at the manager all that are shared.
func (s *Sharing) Review() {
	if s.group.Leaving() {
		return
	}
	h, next := s.snapshot(), s.group.Now().Add(Validity(s.cfg.Refresh)/3)
	if s.group.Serving() {
		changed, again := s.assigner.Review(h)
		s.announce(h, changed, "")
		next = times.Earlier(next, again)
	}
	do := s.member.Review(h, next)
	s.emit(do.Decisions)
	for _, url := range do.Measure {
		s.group.Emit(MeasureOrigin{Group: s.cfg.Group, URL: url})
	}
	s.group.ReviewAt(do.Next)
	s.request(do.Requests)
}

func (s *Sharing) emit(decisions []Output) {
	for _, d := range decisions {
		s.group.Emit(d)
	}
}

// request asks the manager, which may be this peer, in messages of bounded size.
func (s *Sharing) request(feeds []Request) {
	for len(feeds) > 0 {
		n, size := 0, 0
		for n < len(feeds) && n < MaxItems && size < catalogue.MaxBytes/2 {
			size += len(feeds[n].URL) + catalogue.Part + feeds[n].Last.Size()
			n++
		}
		if s.group.Serving() {
			s.OnRequests(s.cfg.Self, feeds[:n:n])
		} else {
			s.group.RequestAssignments(feeds[:n:n])
		}
		feeds = feeds[n:]
	}
}

// OnRequests answers who fetches feeds.
func (s *Sharing) OnRequests(from feedring.PeerID, feeds []Request) {
	if !s.group.Serving() || !s.shares() || len(feeds) > MaxItems {
		return
	}
	h := s.snapshot()
	answer, changed, again := s.assigner.OnRequests(h, from, feeds)
	if !again.IsZero() {
		s.ReviewIn(again.Sub(h.Now))
	}
	s.send(from, answer)
	s.announce(h, changed, from)
}

// announce tells all candidates for feeds but one.
func (s *Sharing) announce(h *Snapshot, urls []string, but feedring.PeerID) {
	lists := s.assigner.Assignments(h, urls)
	delete(lists, but)
	for _, p := range slices.Sorted(maps.Keys(lists)) {
		s.send(p, lists[p])
	}
}

// send tells assignments in messages of bounded size, and hands this peer its own.
func (s *Sharing) send(to feedring.PeerID, list []Assignment) {
	valid := Validity(s.cfg.Refresh)
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < MaxItems && size < catalogue.MaxBytes/2 {
			size += len(list[n].URL) + catalogue.Part*(1+len(list[n].By)) + list[n].Last.Size()
			n++
		}
		if to == s.cfg.Self {
			s.OnAssignments(to, valid, list[:n:n])
		} else {
			s.group.SendAssignments(to, valid, list[:n:n])
		}
		list = list[n:]
	}
}

// OnAssignments takes the manager's assignments.
func (s *Sharing) OnAssignments(from feedring.PeerID, valid time.Duration, list []Assignment) {
	if s.shares() && from == s.group.Term().Claimant && valid > 0 && len(list) <= MaxItems {
		s.emit(s.member.OnAssignments(s.snapshot(), valid, list))
	}
}

// Take takes what the driver found, or wants.
func (s *Sharing) Take(in Input) {
	switch in := in.(type) {
	case OriginMeasured:
		s.OnMeasured(in)
	case OriginFetched:
		s.OnFetched(in)
	case StandInFailed:
		s.OnStandInFailed(in)
	case FetchNow:
		s.FetchNow(in.URL)
	}
}

// OnMeasured takes the latency of an origin.
func (s *Sharing) OnMeasured(in OriginMeasured) {
	if s.member.OnMeasured(in.URL, in.Distance, in.Failing, s.group.Now()) {
		s.ReviewIn(0)
	}
}

// OnFetched takes the end of a fetch of this peer.
func (s *Sharing) OnFetched(in OriginFetched) {
	if s.member.OnFetched(in.URL, &in.Last, s.group.Now()) {
		s.ReviewIn(0)
	}
}

// OnStandInFailed takes that the stand-in for an own feed kept something back.
func (s *Sharing) OnStandInFailed(in StandInFailed) {
	if s.member.OnStandInFailed(in.URL, in.By, s.group.Now()) {
		s.ReviewIn(0)
	}
}

// FetchNow asks the fetcher of an own feed to fetch it now.
func (s *Sharing) FetchNow(url string) {
	if p := s.member.FetcherOf(url); s.group.Member(p).Row != nil {
		s.group.RequestFetch(p, url)
	}
}

// OnFetchRequest takes another member's request for a fetch.
func (s *Sharing) OnFetchRequest(url string) {
	if s.shares() && s.member.OnFetchRequest(s.snapshot(), url) {
		s.group.Emit(FetchRequested{Group: s.cfg.Group, URL: url})
	}
}
