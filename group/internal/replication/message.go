package replication

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// Output is one thing to do.
type Output = interface{ IsOutput() }

// Inputs, which group names as its own.
type (
	// Publish asks for positions for Entries new entries of one's own feed.
	Publish struct {
		Batch   uint64
		URL     string
		Entries int
	}
	// Appended says that a batch is on disk, through Head. Failed says that it
	// is not, and Head is where the store stands. Answer, if it is not empty, is
	// what a poll after After is answered now: it may travel with the notify.
	Appended struct {
		Batch  uint64
		Head   feedring.Head
		Failed bool
		After  feedring.Position
		Answer []byte
	}
	// Fetched is the outcome of Fetch: the store now holds everything through
	// Head, and Known is the newest entry that the other side showed, verified:
	// zero where it showed none. Beyond Head it was not seen after Fresh, and
	// neither was anything before it. Failed: the other side did not answer, or
	// what it sent did not hold. Dropped: if the other side has pruned entries newer
	// than Fresh that precede the first one it sent, the latest such time; else zero.
	// The store has noted it, see State.Dropped.
	Fetched struct {
		Feed   feedring.FeedRef
		From   feedring.PeerID
		Head   feedring.Head
		Known  feedring.Head
		Failed bool

		Dropped time.Time
	}
	// Kept tells how far the copies reach that a peer keeps for longer than they
	// are fresh: of all once it is in a group, then whenever one is another.
	Kept struct{ Copies []Copy }
	// Holding tells, once at the start, the heads that the store holds.
	Holding struct{ Heads []feedring.Head }
	// Served says that another peer polled here and was sent that many entries.
	// It counts in large groups only, and may be left out.
	Served struct {
		Feed    feedring.FeedRef
		To      feedring.PeerID
		Entries int
	}
)

// Outputs.
type (
	// Append stores the batch of own entries from First on; Appended follows.
	Append struct {
		Group feedring.GroupID
		Batch uint64
		Feed  feedring.FeedRef
		First feedring.Position
	}
	// Unplaced says that a batch gets no positions: Append never comes for it. Full:
	// too many of its feed wait already; else the row names no such feed, since it
	// has no room for it or the feed was taken out.
	Unplaced struct {
		Group feedring.GroupID
		Batch uint64
		Full  bool
	}
	// Fetch polls Feed from a peer; Fetched follows. Entries seen before Fresh
	// are left out, but for the newest where all are. Proof stores nothing: only
	// Fetched.Known is wanted. Entries that are held and were seen before Gap
	// (zero: Fresh) may be followed by a gap. If Answer is not empty, it is the
	// answer, and is checked and stored as one: the peer is not polled. What
	// exceeds the publisher's Quota is not stored, and the fetch has failed.
	Fetch struct {
		Group feedring.GroupID
		Feed  feedring.FeedRef
		From  feedring.PeerID
		After feedring.Position
		Fresh time.Time
		Gap   time.Time
		Proof bool
		Quota standing.Quota

		Answer []byte
	}
	// Wake tells followers of Feed that the store holds more.
	Wake struct {
		Feed    feedring.FeedRef
		Through feedring.Position
	}
)

func (Publish) IsInput()   {}
func (Appended) IsInput()  {}
func (Fetched) IsInput()   {}
func (Kept) IsInput()      {}
func (Holding) IsInput()   {}
func (Served) IsInput()    {}
func (Append) IsOutput()   {}
func (Unplaced) IsOutput() {}
func (Fetch) IsOutput()    {}
func (Wake) IsOutput()     {}

// MaxAnswer is the longest answer that travels with a notify, in bytes: it goes to all
// members, those that have the entry already included.
const MaxAnswer = 4 << 10

// Answer is what a publisher answers a poll after a position, packed by its driver.
type Answer struct {
	After feedring.Position
	Part  []byte // empty: none is known
}

// Bounds of a holder's report that it dropped entries which are fresh here: any two clocks differ by seconds, and a
// report makes others promise less while few may serve.
const (
	droppedSlack = 5 * time.Second
	droppedMost  = 10 * time.Minute
)

// Dropped is the date that a driver notes, and reports in Fetched, where a holder tells up to when it dropped the
// entries before the first one that it sends; zero: none.
func (f Fetch) Dropped(told time.Time) time.Time {
	fresh := f.Whole()
	if f.Proof || f.From == f.Feed.Publisher || !told.After(fresh.Add(droppedSlack)) {
		return time.Time{}
	}
	if most := fresh.Add(droppedMost); told.After(most) {
		return most
	}
	return told
}

// Whole is the date since when nothing may be missing after what is held.
func (f Fetch) Whole() time.Time {
	if f.Gap.IsZero() {
		return f.Fresh
	}
	return f.Gap
}
