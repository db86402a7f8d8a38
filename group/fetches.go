package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/fetchassign"
	"github.com/feedring/feedring/group/internal/orphans"
	"github.com/feedring/feedring/internal/standing"
)

// The membership's part in shared fetches: fetchassign.Sharing decides, and this sends its messages.

// Inputs of shared fetches.
type (
	OriginMeasured = fetchassign.OriginMeasured
	OriginFetched  = fetchassign.OriginFetched
	FetchNow       = fetchassign.FetchNow
	StandInFailed  = fetchassign.StandInFailed
)

// Outputs of shared fetches.
type (
	FetchAssignment = fetchassign.FetchAssignment
	VerifyStandIn   = fetchassign.VerifyStandIn
	MeasureOrigin   = fetchassign.MeasureOrigin
	FetchRequested  = fetchassign.FetchRequested
)

// Carry replaces the feeds that this peer carries for others.
type Carry = orphans.Carry

var _ orphans.Membership = shell{}

func (s shell) Known(p feedring.PeerID) bool  { return s.admitter.Known(p) }
func (s shell) Holds(url string) bool         { return s.replicator.HoldsAny(url) }
func (s shell) CarryAt(at time.Time)          { s.timers.Set(timerKey{kind: timerCarry}, at) }
func (s shell) CarryTime() time.Time          { return s.timers.At(timerKey{kind: timerCarry}) }
func (s shell) LookedAt(url string) time.Time { return s.orphans.LookedAt(url) }

// Part is a part of a host's time.
type Part = fetchassign.Part

// Bounds of a LastFetch, in bytes.
const (
	MaxValidator = fetchassign.MaxValidator
	MaxFetchHost = fetchassign.MaxHost
)

var _ fetchassign.Membership = shell{}

func (s shell) Term() feedring.Term                   { return s.lead.claim.Term }
func (s shell) Serving() bool                         { return s.lead.serving }
func (s shell) AwaySince(p feedring.PeerID) time.Time { return s.members[p].since }
func (s shell) Named(url string) bool {
	return s.sites.Named(feedring.FeedRef{URL: url, Publisher: s.cfg.Self}, s.me().row.Vouches, s.now)
}
func (s shell) Prefix(p feedring.PeerID) standing.Prefix { return s.admitter.Prefix(p) }
func (s shell) Addrs() []string                          { return s.me().row.Addrs }
func (s shell) ReviewAt(at time.Time)                    { s.timers.Set(timerKey{kind: timerFetches}, at) }
func (s shell) ReviewTime() time.Time                    { return s.timers.At(timerKey{kind: timerFetches}) }
func (s shell) Settled() bool                            { return !s.lead.claim.Term.IsZero() && !s.me().row.Admitted.IsZero() }

func (s shell) RequestAssignments(feeds []AssignmentRequest) {
	s.send(s.manager(), AssignmentsWanted{Header: s.header(), Feeds: feeds})
}

func (s shell) SendAssignments(to feedring.PeerID, valid time.Duration, list []Assignment) {
	s.send(to, Assignments{Header: s.header(), For: valid, Feeds: list})
}

func (s shell) RequestFetch(of feedring.PeerID, url string) {
	s.send(of, FetchRequest{Header: s.header(), URL: url})
}
