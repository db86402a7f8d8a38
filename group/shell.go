package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/replication"
	"github.com/feedring/feedring/internal/standing"
)

// shell is the machine as its parts see it: what they know of the group, and what they do through it.
type shell struct{ *Machine }

var _ replication.Membership = shell{}

func (s shell) Now() time.Time                           { return s.now }
func (s shell) Jitter(below time.Duration) time.Duration { return s.jitter(below) }
func (s shell) Index() *catalogue.Index                  { return s.index() }
func (s shell) Present() []feedring.PeerID               { return s.present() }
func (s shell) Neighbours() []feedring.PeerID            { return s.neighbours() }
func (s shell) Large() bool                              { return s.large() }
func (s shell) Manager() feedring.PeerID                 { return s.manager() }
func (s shell) Acknowledged() bool                       { return s.acknowledgedNow() }
func (s shell) Emit(o replication.Output)                { s.emit(o) }
func (s shell) Dropped(upTo time.Time)                   { s.onDropped(upTo) }
func (s shell) PollAt(f feedring.FeedRef, at time.Time) {
	s.timers.Set(timerKey{kind: timerPoll, ref: f}, at)
}
func (s shell) PollSet(f feedring.FeedRef) bool {
	return s.timers.IsSet(timerKey{kind: timerPoll, ref: f})
}
func (s shell) Quota(p feedring.PeerID) standing.Quota { return s.admitter.Quota(p) }
func (s shell) AskHeads(of feedring.PeerID, after feedring.FeedRef) {
	s.send(of, HeadsWanted{Header: s.header(), After: after})
}

func (s shell) Member(p feedring.PeerID) catalogue.Member {
	if mem := s.members[p]; mem != nil {
		return catalogue.Member{Row: mem.row, Heard: mem.heard, Away: mem.away}
	}
	return catalogue.Member{}
}

func (s shell) EpochChanged(url string, epoch uint64) {
	s.newRow(func(r *Row) {
		r.Feeds = slices.Clone(r.Feeds)
		for i := range r.Feeds {
			if r.Feeds[i].URL == url {
				r.Feeds[i].Epoch = epoch
			}
		}
	})
}

// Announce notifies all members of a head, or in a large group those that internal/gossip names. The head has no hash:
// the peer that polls checks each entry by its signature and by the entry before.
func (s shell) Announce(head feedring.Head, answer replication.Answer, forwarders []feedring.PeerID, but feedring.PeerID) {
	if s.lead.claim.Term.IsZero() {
		return
	}
	source := head.Feed.Publisher
	skip := func(p feedring.PeerID) bool { return p == but || p == source || slices.Contains(forwarders, p) }
	var to []feedring.PeerID
	if l := s.linked(); l != nil {
		to = l.Tell(source, skip, s.now, s.beatEvery())
	} else {
		to = slices.DeleteFunc(slices.Clone(s.neighbours()), skip)
	}
	var msg Message = Notify{Header: s.header(), Head: head, Path: forwarders, After: answer.After, Answer: answer.Part}
	for _, p := range to {
		s.send(p, msg)
	}
}

func (s shell) Credit(from feedring.PeerID, entries int) {
	if l := s.linked(); l != nil {
		l.Received(from, entries)
	}
}
