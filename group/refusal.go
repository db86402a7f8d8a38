package group

import "github.com/feedring/feedring/group/internal/leases"

// Refusal is a reason not to serve a client. As an error it has the text that the
// client is sent.
type Refusal = leases.Refusal

// Refusals that are decided or compared outside this package.
const (
	NotRefused = leases.NotRefused // the client is served
	Expired    = leases.Expired    // the ticket has expired
	OtherPeers = leases.OtherPeers // the ticket names other peers
	CameAgain  = leases.CameAgain  // the client came again on another stream
	NotMember  = leases.NotMember  // this peer is not in the group
)
