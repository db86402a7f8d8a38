package replication

import (
	"maps"
	"slices"

	"github.com/feedring/feedring"
)

// OwnLog is a feed that this peer publishes. One batch is on its way to disk at a
// time, so that no position is ever given twice.
type OwnLog struct {
	Epoch            uint64
	fromClock        bool              // the epoch was taken from the clock and not used yet
	begun            bool              // this life gave positions, and others were there
	advertisedBefore feedring.Position // the highest that they advertised before that
	busy             bool
	batch            uint64
	queue            []Publish
	asked            []feedring.PeerID // polled for proof that the store was lost
}

func (r *Replicator) ownRef(url string) feedring.FeedRef {
	return feedring.FeedRef{URL: url, Publisher: r.cfg.Self}
}

// Describe follows what this peer publishes, and fills in the epochs of feeds, above those known.
func (r *Replicator) Describe(feeds []feedring.Feed) {
	described := make(map[string]bool, len(feeds))
	for i := range feeds {
		described[feeds[i].URL] = true
		feeds[i].Epoch = r.epochOf(feeds[i].URL, feeds[i].Epoch)
	}
	for _, url := range slices.Sorted(maps.Keys(r.Own)) {
		if o := r.Own[url]; !described[url] && !o.busy {
			for _, p := range o.queue {
				r.group.Emit(Unplaced{Group: r.cfg.Group, Batch: p.Batch})
			}
			delete(r.Own, url)
		}
	}
}

func (r *Replicator) epochOf(url string, epoch uint64) uint64 {
	o := r.Own[url]
	if o == nil {
		o = &OwnLog{Epoch: epoch}
		r.Own[url] = o
	}
	held := r.ownHeld(url)
	switch {
	case epoch > o.Epoch:
		o.Epoch = epoch
	case o.Epoch == 0 && held.IsZero():
		o.Epoch, o.fromClock = r.clockEpoch(), true
	}
	o.Epoch = max(o.Epoch, held.Epoch)
	return o.Epoch
}

// clockEpoch is the epoch by the clock, at least 1.
func (r *Replicator) clockEpoch() uint64 { return uint64(max(1, r.group.Now().Unix())) }

// Publish gives a batch its positions. The driver publishes one batch of a feed at a time; a few more wait, and those
// beyond are refused. A store that was lost or restored from a backup does not know what others hold, and the clock may
// be behind as well: so a life begins above what the group tells at the admission. A founder has nobody to tell it, and
// what it publishes alone does not count as a beginning.
func (r *Replicator) Publish(p Publish) {
	o := r.Own[p.URL]
	switch {
	case p.Entries <= 0:
		return
	case o == nil:
		r.group.Emit(Unplaced{Group: r.cfg.Group, Batch: p.Batch})
		return
	}
	if o.busy || !r.entered {
		if len(o.queue) < MaxQueue {
			o.queue = append(o.queue, p)
		} else {
			r.group.Emit(Unplaced{Group: r.cfg.Group, Batch: p.Batch, Full: true})
		}
		return
	}
	if !o.begun && r.beyondOwn(p.URL, o, o.advertisedBefore) {
		r.goAboveLog(p.URL, o, o.advertisedBefore)
		o.begun = true
	}
	o.begun = o.begun || r.group.Acknowledged()
	first := feedring.Position{Epoch: o.Epoch, Sequence: 1}
	if held := r.ownHeld(p.URL); held.Epoch == o.Epoch {
		first.Sequence = held.Sequence + 1
	}
	o.busy, o.fromClock, o.batch = true, false, p.Batch
	r.group.Emit(Append{Group: r.cfg.Group, Batch: p.Batch, Feed: r.ownRef(p.URL), First: first})
}

// publishNext gives the next batch its positions, where nothing holds it up.
func (r *Replicator) publishNext(o *OwnLog) {
	if len(o.queue) > 0 && !o.busy && r.entered {
		next := o.queue[0]
		o.queue = slices.Clone(o.queue[1:])
		r.Publish(next)
	}
}

// OnAppended announces a batch that is on disk. It may be one that was on its way
// when an earlier membership ended.
func (r *Replicator) OnAppended(a Appended) {
	url := a.Head.Feed.URL
	o := r.Own[url]
	if o == nil {
		return
	}
	awaited := o.busy && o.batch == a.Batch
	if awaited {
		o.busy = false
	}
	ref := r.ownRef(url)
	a.Head = r.fork(ref).cut(a.Head)
	if h := r.Head(ref); h != nil && a.Head.Position.Compare(h.Pos) > 0 {
		r.advance(ref, h, a.Head.Position, a.Head.Hash)
		r.group.Announce(feedring.Head{Feed: ref, Position: h.Pos}, r.answerOf(a), nil, "")
		r.group.Emit(Wake{Feed: ref, Through: h.Pos})
	}
	if awaited {
		r.publishNext(o)
	}
}

// answerOf is what goes to the members with the notify of a batch. In a large group few of them hear the publisher itself.
func (r *Replicator) answerOf(a Appended) Answer {
	if r.group.Large() || len(a.Answer) == 0 || len(a.Answer) > MaxAnswer {
		return Answer{}
	}
	return Answer{After: a.After, Part: a.Answer}
}

// onOwnAdvertised: another member says that it holds more of an own feed than this peer made. Before this life publishes
// where others are, that is enough for one new epoch: a member that cannot show an entry may hold only what is not fresh
// any more, and whoever holds the first of two entries at one position misses the second. After that a liar could
// have the epoch move again and again, so the member is asked for the newest entry, which this peer must have signed.
func (r *Replicator) onOwnAdvertised(url string, pos feedring.Position, by feedring.PeerID) {
	o := r.Own[url]
	if o == nil || !r.beyondOwn(url, o, pos) || r.group.Member(by).Row == nil || by == r.cfg.Self {
		return
	}
	now := r.group.Now()
	if !o.begun && pos.Epoch <= uint64(max(0, now.Unix()))+MaxUnprovenAhead {
		o.advertisedBefore = maxPosition(o.advertisedBefore, pos)
		return
	}
	if len(o.asked) >= maxProofs || slices.Contains(o.asked, by) {
		return
	}
	o.asked = append(o.asked, by)
	r.group.Emit(Fetch{Group: r.cfg.Group, Feed: r.ownRef(url), From: by, After: r.ownHeld(url), Fresh: now, Proof: true})
}

// onOwnProof: another member showed an entry of an own feed. If it is beyond all that this peer made, this peer lost its
// store.
func (r *Replicator) onOwnProof(s Fetched) {
	o := r.Own[s.Feed.URL]
	if o == nil {
		return
	}
	i := slices.Index(o.asked, s.From)
	if i < 0 {
		return
	}
	o.asked = slices.Delete(o.asked, i, i+1)
	if pos := s.Known.Position; !s.Failed && r.beyondOwn(s.Feed.URL, o, pos) {
		r.goAboveLog(s.Feed.URL, o, pos)
	}
}

// goAboveLog goes on in a new epoch, above all of the log that others hold.
func (r *Replicator) goAboveLog(url string, o *OwnLog, pos feedring.Position) {
	r.setEpoch(url, o, max(pos.Epoch+1, r.clockEpoch()))
}

// beyondOwn reports whether pos is beyond all that this peer made of an own
// feed, and its epoch one that others would still follow from.
func (r *Replicator) beyondOwn(url string, o *OwnLog, pos feedring.Position) bool {
	if !r.plausible(pos) || pos.Epoch == r.lastEpoch() {
		return false
	}
	return pos.Epoch > o.Epoch || pos.Epoch == o.Epoch && pos.Compare(r.ownHeld(url)) > 0 && !o.busy
}

func (r *Replicator) ownHeld(url string) feedring.Position {
	if h := r.Heads[r.ownRef(url)]; h != nil {
		return h.Pos
	}
	return feedring.Position{}
}

// plausible reports whether a log can have come to pos: its epoch is a Unix second,
// give or take clocks and stores lost. Who begins an epoch keeps to the same.
func (r *Replicator) plausible(pos feedring.Position) bool {
	return pos.Epoch <= r.lastEpoch() && pos.Sequence < maxSequence
}

func (r *Replicator) lastEpoch() uint64 { return uint64(max(0, r.group.Now().Unix())) + MaxEpochAhead }

// setEpoch begins another epoch, or returns to the one that the store holds.
func (r *Replicator) setEpoch(url string, o *OwnLog, epoch uint64) {
	if o.Epoch != epoch {
		o.Epoch, o.fromClock = epoch, false
		r.group.EpochChanged(url, epoch)
	}
}
