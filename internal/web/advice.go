package web

import "fmt"

// Advice is what a person can do about a check. The Backend chooses it; its words
// are here.
type Advice string

// What may be advised.
const (
	AdviseListen        Advice = "give --listen an address of this machine"
	AdviseElsewhere     Advice = "to be reachable, start serve with --listen and an address that others reach"
	AdviseOpenPort      Advice = "open port 7377 (UDP and TCP) to this machine, or give --announce its public address"
	AdviseJoin          Advice = "run \"feedring join\" with a peer's address or a domain"
	AdviseJoinElsewhere Advice = "who runs that network chooses what this peer sees: run \"feedring join\" with a peer or domain elsewhere"
	AdviseMendJoin      Advice = "each is tried again and again: correct what is wrong in --join, or \"feedring join --remove\" it"
	AdviseStopOther     Advice = "see identity: this ends when one of the two processes is stopped"
	AdviseWait          Advice = "wait a moment; if this stays, look for warnings in the log"
	AdvisePing          Advice = "\"feedring ping URL\" fetches again at once; \"feedring feed list\" shows all of them"
	AdvisePrivate       Advice = "start the peer with \"feedring serve --allow-private-feeds\" if feeds of this machine or its network are meant"
	AdviseRemoveFeed    Advice = "they are fetched again; \"feedring feed remove URL\" ends that"
	AdviseClock         Advice = "let the system keep its clock (chrony, systemd-timesyncd); if it does, the other peer's is off"
	AdviseVouch         Advice = "where the site is yours, \"feedring vouch\" prints what to publish there"
	AdviseConfirm       Advice = "another peer of the group confirms it within minutes, where the site names the feed; a peer that is alone in its group has nobody for that"
	AdviseMakeRoom      Advice = "make room on the disk, or see why it fails; the peer goes on by itself"
	AdviseDisk          Advice = "look whether the disk is full or failing"
	AdviseStopEither    Advice = "stop one of them, or give it a data directory of its own"
	AdviseOtherPeer     Advice = "run another peer for some of the feeds"
	AdviseCloseData     Advice = "run chmod go-w on it"
	AdviseCredential    Advice = "ask a member for an invitation, stop the peer, and run \"feedring network join CODE\""
	AdviseNamed         Advice = "publish what \"feedring vouch\" prints at the site of one of its feeds, or of serve --site, which is asked again within ten minutes"
	AdviseBlockList     Advice = "what it said before holds, and it is asked again; \"feedring block list\" says which, and why"
	AdviseRole          Advice = "have an admin run network admit with this peer's id and --role publish there"
	AdviseAdmin         Advice = "ask an admin of the network, or a holder of a root key"
)

const loopAdvice = ", so have it answer requests whose User-Agent begins with \"feedring/\" from the original (docs/publishers.md, \"A feed that thousands poll\")"

// ReasonUnsettled is a reason of Readiness for a peer whose roles are not settled.
const ReasonUnsettled = "this peer has not settled its roles in all of its groups yet: ask again in a second"

// To returns what is wrong with the advice behind it.
func (a Advice) To(wrong string) string { return wrong + ": " + string(a) }

// WarnAlone is a warning of Readiness for a peer that reached nobody.
const WarnAlone = "connected to nobody, though there are addresses to join: \"feedring doctor\" says more"

// WarnLeftFleet is a warning of Readiness for a peer that has what a fleet keeps, and no key.
const WarnLeftFleet = "this peer keeps rows of a fleet and was started without --fleet-key: it serves none of the fleet's personal feeds until it is started with the fleet's key"

// WarnSharedPrefix is a warning of Readiness for a peer that knows only peers of one network
// of addresses.
func WarnSharedPrefix(prefix string) string {
	return "all peers that this one knows are in " + prefix + ": " + string(AdviseJoinElsewhere)
}

// WarnFailing is a warning of Readiness for published feeds that were not read.
func WarnFailing(feeds int) string {
	return fmt.Sprintf("the last fetch of %d of the feeds that this peer publishes failed: \"feedring feed list\" says why", feeds)
}

// UnservedError is for a path at which no feed of the peer is served.
type UnservedError struct{}

// Unwrap returns ErrUnknown, so that it is answered as one.
func (UnservedError) Unwrap() error { return ErrUnknown }

// Error names the command that shows the feeds that are served.
func (UnservedError) Error() string {
	return "no feed of this peer is served there: \"feedring feed list\" shows those that are"
}
