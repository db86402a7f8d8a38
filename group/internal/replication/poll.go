package replication

import (
	"time"

	"github.com/feedring/feedring"
)

// OnAdvertised hears that a member holds a feed through a head, and arranges a poll where this peer is behind. It reports
// whether that was news.
func (r *Replicator) OnAdvertised(t feedring.Head, from feedring.PeerID) bool {
	ref, pos := t.Feed, r.counts(t, from)
	if ref.Publisher == r.cfg.Self {
		r.onOwnAdvertised(ref.URL, pos, from)
		return false
	}
	h := r.Head(ref)
	if h == nil || !r.plausible(pos) {
		return false
	}
	if pos.Compare(h.Advertised) <= 0 {
		r.retryFrom(ref, h, pos, from)
		return false
	}
	if h.Pos.IsZero() && pos.Sequence > 1 {
		r.beginBackfill(h, pos)
		r.changed = true
	}
	if !h.Unobtainable() && (!h.behind() || from == ref.Publisher) {
		h.Tries = 0 // otherwise a member that advertises again and again would be asked each time, and the publisher never
	}
	h.Advertised, h.Source = pos, from
	wait := r.group.Jitter(r.Spread())
	switch {
	case h.Unobtainable(): // its polls take little from other feeds
		r.pollIn(ref, h, wait+r.cfg.Refresh/3)
	case from == ref.Publisher && !h.InFlight && !h.queued: // it has what older polls failed to fetch, and more
		r.pollAfter(ref, wait)
	default:
		r.pollIn(ref, h, wait)
	}
	return true
}

// OnNotify is OnAdvertised with the forwarders that a large group's notify lists, and with the answer that a publisher's
// own notify may bring.
func (r *Replicator) OnNotify(head feedring.Head, answer Answer, forwarders []feedring.PeerID, from feedring.PeerID) {
	if len(forwarders) > maxForwarders || r.group.Member(from).Row == nil {
		return
	}
	if r.OnAdvertised(head, from) && r.group.Large() {
		r.Heads[head.Feed].forwarders = forwarders
	}
	r.take(head.Feed, answer, from)
}

// take has an answer stored that came with a notify, instead of a poll that would bring the same. Only the publisher
// itself may save the poll: others could occupy the feed with answers in which its newest entries are missing. An answer
// that continues elsewhere than here leaves a gap that only a poll closes.
func (r *Replicator) take(ref feedring.FeedRef, answer Answer, from feedring.PeerID) {
	if len(answer.Part) == 0 || len(answer.Part) > MaxAnswer || from != ref.Publisher {
		return
	}
	h := r.Heads[ref]
	if h == nil || h.Pos != answer.After || !h.behind() || h.InFlight || h.queued || h.Unobtainable() || !r.Polls.room(ref.Publisher) {
		return
	}
	h.InFlight, h.taking, h.deferred = true, true, false
	r.Polls.Begin(ref.Publisher)
	f := r.Request(ref, h.Pos, from)
	f.Answer = answer.Part
	r.group.Emit(f)
}

// retryFrom records another holder of a position that polls failed to fetch. It is polled next and soon: the next try
// may be a period away, and go to others who have nothing. A try follows each such poll, and a feed that is
// unobtainable has none: otherwise a member that advertises again and again would be asked each time, and the
// publisher never.
func (r *Replicator) retryFrom(ref feedring.FeedRef, h *Head, pos feedring.Position, holder feedring.PeerID) {
	if pos.Compare(h.Pos) <= 0 || h.altSource != "" || h.deferred || h.Unobtainable() || h.Tries == 0 && !h.InFlight {
		return
	}
	h.altSource = holder
	if !h.InFlight && !h.queued {
		r.pollAfter(ref, r.group.Jitter(r.Spread()))
	}
}

// markMissing takes a head of the group that this peer enters: until it is held, the feed is an exception from the mark.
func (r *Replicator) markMissing(t feedring.Head, from feedring.PeerID) {
	if t.Feed.Publisher != r.cfg.Self {
		if h, pos := r.Head(t.Feed), r.fork(t.Feed).cut(t).Position; h != nil && h.Pos.Compare(pos) < 0 {
			r.beginBackfill(h, pos)
		}
	}
	r.OnAdvertised(t, from)
}

// Spread is the time over which polls are spread so that a publisher is not polled by all at once: more in larger
// groups, since each poll costs it about as much. A few at once are no burden, and wait for nothing.
func (r *Replicator) Spread() time.Duration {
	n := time.Duration(len(r.group.Neighbours()))
	if n <= parallelPolls {
		return 0
	}
	return min(r.cfg.Refresh/10, 50*time.Millisecond, n*200*time.Microsecond)
}

// pollAfter polls ref after d, whatever its timer was set to.
func (r *Replicator) pollAfter(ref feedring.FeedRef, d time.Duration) {
	r.group.PollAt(ref, r.group.Now().Add(d))
}

// pollIn polls ref after d, unless a poll of it is under way or to come.
func (r *Replicator) pollIn(ref feedring.FeedRef, h *Head, d time.Duration) {
	if !h.InFlight && !h.queued && !r.group.PollSet(ref) {
		r.pollAfter(ref, d)
	}
}

// Poll polls ref, whose timer fired.
func (r *Replicator) Poll(ref feedring.FeedRef) {
	h := r.Heads[ref]
	if h == nil || h.InFlight || !h.behind() {
		return
	}
	if !r.Polls.room(ref.Publisher) {
		if !h.queued {
			h.queued = true
			r.Polls.wait(ref)
		}
		return
	}
	from := r.holder(ref, h)
	h.deferred, h.altSource = from != "" && from == h.altSource, ""
	if from == "" {
		r.failed(ref, h)
		r.pollWaiting()
		return
	}
	h.InFlight = true
	r.Polls.Begin(ref.Publisher)
	r.group.Emit(r.Request(ref, h.Pos, from))
}

// Request is what is asked of a holder. A keeper asks for what it keeps. Like everybody it accepts a gap before what is
// fresh, since only other keepers have that.
func (r *Replicator) Request(ref feedring.FeedRef, after feedring.Position, from feedring.PeerID) Fetch {
	now := r.group.Now()
	f := Fetch{Group: r.cfg.Group, Feed: ref, From: from, After: after, Fresh: now.Add(-r.cfg.Retention), Quota: r.group.Quota(ref.Publisher)}
	if r.cfg.keeper() {
		f.Gap = now.Add(-r.cfg.Freshness)
	}
	return f
}

// OnReturn polls a publisher that is back for what it advertised before: nobody else may have it, and the next try may be
// a period away.
func (r *Replicator) OnReturn(publisher feedring.PeerID) {
	for _, f := range r.group.Member(publisher).Row.Feeds {
		ref := feedring.FeedRef{URL: f.URL, Publisher: publisher}
		h := r.Heads[ref]
		if h == nil || h.Tries == 0 || !h.behind() {
			continue
		}
		h.Tries, h.Source = 0, publisher
		if !h.InFlight && !h.queued {
			r.pollAfter(ref, r.group.Jitter(r.Spread()))
		}
	}
}

// holder chooses whom to poll. An altSource comes first, then the publisher; in a large group the neighbour that
// advertised comes before the publisher, and so does the manager for what a newcomer lacks, since a newcomer knows who is
// away only from the first beacon. After a failure it is the turn of the next: the manager, which is heard all the time,
// then anybody. A keeper begins with the publisher: nobody else surely has what it wants.
func (r *Replicator) holder(ref feedring.FeedRef, h *Head) feedring.PeerID {
	if row := r.group.Member(h.altSource).Row; row != nil && !row.Left {
		return h.altSource
	}
	anybody := feedring.PeerID("")
	if present := r.group.Present(); len(present) > 0 {
		anybody = r.anyOf(present)
	}
	order := [...]feedring.PeerID{ref.Publisher, h.Source, r.group.Manager(), anybody}
	if (r.group.Large() || !h.Backfill.IsZero()) && !r.cfg.keeper() {
		order[0], order[1] = order[1], order[0]
	}
	for i := range order {
		p := order[(h.Tries+i)%len(order)]
		m := r.group.Member(p)
		if m.Row == nil || p == r.cfg.Self || m.Row.Left {
			continue
		}
		if back := p == h.Source && r.group.Now().Sub(m.Heard) < r.cfg.Refresh/3; !m.Away || back { // it is back before a beacon says so
			return p
		}
	}
	return ""
}

// OnFetched is the end of a poll.
func (r *Replicator) OnFetched(s Fetched) {
	if s.Feed.Publisher == r.cfg.Self {
		r.onOwnProof(s)
		return
	}
	h, f := r.Heads[s.Feed], r.fork(s.Feed)
	if h == nil || !h.InFlight {
		return
	}
	s.Head, s.Known = f.cut(s.Head), f.cut(s.Known)
	taken := h.taking
	h.InFlight, h.taking = false, false
	r.Polls.end(s.Feed.Publisher)
	r.pollWaiting()
	r.group.Dropped(s.Dropped)
	progress := s.Head.Position.Compare(h.Pos) > 0
	if progress || s.From == s.Feed.Publisher && !s.Failed {
		h.Failures = 0
	}
	switch {
	case progress:
		r.credit(s.From, h.Pos, s.Head.Position)
		r.advance(s.Feed, h, s.Head.Position, s.Head.Hash)
		r.group.Emit(Wake{Feed: s.Feed, Through: h.Pos})
		r.forward(s.Feed, h, s.From)
	case !s.Failed && s.Known.Position.Compare(h.Pos) > 0:
		// Nothing more that the other side holds is fresh: all of it counts as held.
		r.advance(s.Feed, h, s.Known.Position, s.Known.Hash)
		progress = true
	}
	if !s.Failed && s.Known.Position.Compare(h.Advertised) > 0 {
		h.Advertised, h.Source = s.Known.Position, s.From
	}
	if !h.behind() {
		h.Tries, h.altSource = 0, ""
		return
	}
	if taken && (s.Failed || !progress) {
		r.mistook(s.Feed, h)
		return
	}
	if h.altSource == s.From {
		h.altSource = "" // it advertised while it was polled
	}
	if progress && !s.Failed {
		h.Tries = 0
		r.pollIn(s.Feed, h, 0)
		return
	}
	if s.From == s.Feed.Publisher && !s.Failed && s.Known.Position.Compare(h.Advertised) < 0 {
		h.Advertised = maxPosition(h.Pos, s.Known.Position) // somebody advertised more than there is
	}
	r.failed(s.Feed, h)
}

// mistook polls what an answer that came with a notify did not bring. It counts as a failed poll, but nobody waits for
// the next: no peer was asked yet.
func (r *Replicator) mistook(ref feedring.FeedRef, h *Head) {
	r.countFailure(h)
	r.pollIn(ref, h, r.group.Jitter(r.Spread()))
}

// credit counts entries that were polled from a neighbour.
func (r *Replicator) credit(from feedring.PeerID, before, after feedring.Position) {
	n := uint64(1)
	if before.Epoch == after.Epoch {
		n = after.Sequence - before.Sequence
	}
	r.group.Credit(from, int(min(n, maxCounted)))
}

// forward notifies the neighbours in a large group of what was just stored. They are not told before, so that they can
// poll here and leave the publisher alone.
func (r *Replicator) forward(ref feedring.FeedRef, h *Head, from feedring.PeerID) {
	if !r.group.Large() || len(h.forwarders) >= maxForwarders {
		return
	}
	forwarders := append(h.forwarders[:len(h.forwarders):len(h.forwarders)], r.cfg.Self)
	h.forwarders = nil
	r.group.Announce(feedring.Head{Feed: ref, Position: h.Pos}, Answer{}, forwarders, from)
}

// failed waits longer from try to try, and gives up in the end: whoever advertises the feed next begins again.
func (r *Replicator) failed(ref feedring.FeedRef, h *Head) {
	r.countFailure(h)
	if !h.deferred {
		h.Tries++
	}
	if h.Tries >= MaxFailures || !h.behind() {
		h.Advertised, h.Tries, h.altSource = h.Pos, 0, ""
		if !h.Backfill.IsZero() { // nobody has it, so nobody is more complete
			r.endBackfill(h)
		}
		return
	}
	wait := min(r.cfg.Refresh, r.cfg.Refresh/20<<h.Tries)
	if h.altSource != "" {
		wait = r.cfg.Refresh / 20
	}
	r.pollIn(ref, h, wait/2+r.group.Jitter(wait/2))
}

func (r *Replicator) countFailure(h *Head) {
	if h.Failures++; h.Failures == MaxFailures {
		r.changed = true // the mark waits for this feed no more
	}
}

// pollWaiting polls the next feed that waited for room.
func (r *Replicator) pollWaiting() {
	for {
		ref, ok := r.Polls.next()
		if !ok {
			return
		}
		h := r.Heads[ref]
		h.queued = false
		if h.behind() { // it may have come meanwhile
			r.pollIn(ref, h, 0)
			return
		}
	}
}
