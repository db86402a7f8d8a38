package replicate

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/sealed"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	pollRead  = 10 * time.Second
	partItems = 200
	partBytes = 1 << 20
	partRows  = 10_000      // read for one part at most, whatever is left out
	partTime  = time.Second // and for so long
	freshSkew = time.Minute // between two peers' clocks
)

// ServePoll answers another peer's poll, in parts. Any holder may answer: the
// entries carry their publisher's signature.
func (r *Replicator) ServePoll(from feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.PollRequest
	if err := s.Receive(&req, pollRead); err != nil {
		return err
	}
	asked, err := polls.RequestFrom(&req)
	if err != nil {
		return err
	}
	words := dictionaryAt(r.Store, asked.Feed, asked.After)
	after := asked.After
	if asked.Fresh.After(time.Now().Add(freshSkew)) {
		after = r.onlyNewest(asked.Feed, after)
	}
	back := !after.IsZero() // a peer that holds nothing has no retracted entry
	sent := 0
	defer func() { r.served(asked.Feed, from, sent) }()
	for i := range pollParts {
		part, last, more, err := r.pollPart(asked.Feed, after, asked.Fresh, back)
		if err != nil {
			return err
		}
		if i == 0 {
			dropped, err := r.dropped(asked.Feed, asked.After, asked.Fresh, time.Now().Add(-max(r.Keep, r.Freshness)))
			if err != nil {
				return err
			}
			polls.DroppedTo(part, dropped)
			if asked.Entry != "" {
				r.addOthers(part, asked)
			}
		}
		items := len(part.Items)
		if err := r.packer.Pack(part, words, asked.Dictionary); err != nil {
			return err
		}
		if err := s.Send(part, pollWithin); err != nil {
			return err
		}
		sent += items
		if !more {
			return nil
		}
		after = last
	}
	return nil
}

// served tells the machine of a large group whom a poll was answered.
func (r *Replicator) served(ref feedring.FeedRef, to feedring.PeerID, entries int) {
	h, ok := r.Store.Head(ref)
	if !ok || h.Private {
		return
	}
	if g := h.Theme.Group(); r.Credit.Counts(g) {
		r.Machine.Tell(g, group.Served{Feed: ref, To: to, Entries: entries})
	}
}

// addOthers says who else published the entry that is asked about, and shows what
// a few of them signed.
func (r *Replicator) addOthers(part *feedringv1.PollPart, asked polls.Request) {
	versions := slices.DeleteFunc(r.Store.LatestByOthers(asked.Entry, asked.Feed.URL, asked.Feed.Publisher), func(it store.Item) bool {
		return r.Blocks != nil && r.Blocks.Item(&it)
	})
	publishers := make([]feedring.PeerID, len(versions))
	for i := range versions {
		publishers[i] = versions[i].Ref.Publisher
	}
	polls.PublishedByTo(part, publishers)
	for i := range versions[:min(len(versions), polls.MaxPublished)] {
		part.Published = append(part.Published, sealOf(&versions[i]))
	}
}

// dictionaryAt is what an answer about ref from at on is packed with: the entry
// at that position, where it is held. Of what is private the answer must not
// show that it is held.
func dictionaryAt(s *store.Store, ref feedring.FeedRef, at feedring.Position) polls.Dictionary {
	it, err := s.Get(ref, at)
	if err != nil || it.Private {
		it = store.Item{} // the answer comes all the same
	}
	return polls.NewDictionary(ref, it.Payload, it.Hash)
}

// onlyNewest is where to read from when nothing can be fresh: the log is not
// walked for that.
func (r *Replicator) onlyNewest(ref feedring.FeedRef, after feedring.Position) feedring.Position {
	h, ok := r.Store.Head(ref)
	last := r.end(ref, h.Last)
	if !ok || last.Sequence == 0 {
		return after
	}
	before := feedring.Position{Epoch: last.Epoch, Sequence: last.Sequence - 1}
	if before.Compare(after) > 0 {
		return before
	}
	return after
}

// maxTombstones is how many retractions of the time before the log are told at once.
// Each has at most 8 KiB, so that they fit into a message with a part's items.
const maxTombstones = 100

// pollPart reads one part: what is stored of ref after a position, without what
// was seen before fresh. What is left out makes no parts: a long history before
// it must not use up the answer. The log of a feed that moved here from another
// theme, or was private, holds what is not of this group. Of a private feed it
// tells what it tells of one that is not known. A part without items still goes
// out after partRows or partTime, so that a poller that went away is noticed, and
// one that waits does not take a slow disk for silence. Where nothing
// is fresh, the newest entry is sent: it proves how far the log goes. A poller
// that is back is told what was taken back however long ago: it may have it, or
// have shown it to somebody.
func (r *Replicator) pollPart(ref feedring.FeedRef, after feedring.Position, fresh time.Time, back bool) (*feedringv1.PollPart, feedring.Position, bool, error) {
	part := &feedringv1.PollPart{}
	var newest *store.Item
	began := time.Now()
	for rows := 0; ; {
		h, _ := r.Store.Head(ref)
		if h.Private || !r.serves(&h) || r.Forks != nil && r.Forks.Bars(ref) {
			return &feedringv1.PollPart{}, after, false, nil
		}
		if back && (h.Count == 0 || after.Compare(h.First) < 0) {
			if err := r.addTombstones(part, &h, after); err != nil {
				return nil, after, false, err
			}
		}
		items, err := r.Store.Scan(r.ctx, ref, after, partItems, partBytes)
		if err != nil {
			return nil, after, false, err
		}
		h, _ = r.Store.Head(ref) // again: the log has grown
		rows += len(items)
		hole, holed := r.Store.NextHole(ref, after)
		for i := range items {
			it := &items[i]
			if holed && it.Position.Compare(hole) > 0 {
				items = items[:i] // a poller would take the gap for something withheld
				break
			}
			after = it.Position
			if it.Private || it.Theme != h.Theme || r.cut(ref, it.Position) {
				continue
			}
			newest = it
			switch {
			case it.Seen.After(fresh):
				addTo(part, it)
			case it.Retraction && back:
				part.Retractions = append(part.Retractions, sealOf(it))
			}
		}
		part.Head, part.More = wire.PositionTo(r.end(ref, h.Last)), len(items) > 0 && after.Compare(h.Last) < 0
		if len(part.Items) == 0 && !part.More && newest != nil {
			addTo(part, newest)
		}
		if len(part.Items) > 0 || len(part.Retractions) >= maxTombstones || !part.More || rows >= partRows || time.Since(began) > partTime {
			return part, after, part.More, nil
		}
	}
}

// addTombstones adds the retractions that the log does not have any more.
func (r *Replicator) addTombstones(part *feedringv1.PollPart, h *store.Head, after feedring.Position) error {
	tombstones, err := r.Store.Retractions(h.Ref, after, maxTombstones)
	for i := range tombstones {
		if it := &tombstones[i]; !it.Private && it.Theme == h.Theme && (h.Count == 0 || it.Position.Compare(h.First) < 0) {
			part.Retractions = append(part.Retractions, sealOf(it))
		}
	}
	return err
}

// addTo adds what is stored to a part. Of what was taken back the retraction is
// sent in its place, whatever the poller holds: the one may be long after the
// other, and proves that nothing is withheld.
func addTo(part *feedringv1.PollPart, it *store.Item) {
	if it.Tombstone {
		polls.StandInTo(part, len(part.Items), it.Position)
	}
	part.Items = append(part.Items, sealOf(it))
}

func sealOf(it *store.Item) *feedringv1.Sealed {
	return wire.SealTo(sealed.Seal(it))
}
