package leases

// Refusal is a reason not to serve a client. As an error it has the text that the
// client is sent.
type Refusal int

// Reasons.
const (
	NotRefused     Refusal = iota // the client is served
	OtherGroup                    // the ticket is for another group
	Expired                       // the ticket has expired
	OtherPeers                    // the ticket names other peers
	UnknownIssuer                 // this peer knew no signer of the ticket as manager
	OtherClient                   // the place is kept for another client
	Leaving                       // this peer is leaving
	TooManyStreams                // the client has as many as one may have
	Full                          // this peer serves as many clients as it can
	CameAgain                     // the client came again on another stream
	NotMember                     // this peer is not in the group
)

var texts = [...]string{
	NotRefused:     "",
	OtherGroup:     "the ticket is for another group",
	Expired:        "the ticket has expired",
	OtherPeers:     "the ticket names other peers",
	UnknownIssuer:  "nobody signed the ticket whom this peer knew as manager",
	OtherClient:    "the place is kept for another client",
	Leaving:        "this peer is leaving",
	TooManyStreams: "this peer serves this client on as many streams as one may have",
	Full:           "this peer serves as many clients as it can",
	CameAgain:      "the client came again on another stream",
	NotMember:      "this peer is not in the group",
}

func (r Refusal) Error() string { return texts[r] }

// OfTicket reports whether the ticket is the reason: with another one the client may
// be served.
func (r Refusal) OfTicket() bool {
	switch r {
	case OtherGroup, Expired, OtherPeers, UnknownIssuer, OtherClient:
		return true
	}
	return false
}

// OfLeaving reports whether this peer serves nobody in the group any more.
func (r Refusal) OfLeaving() bool { return r == Leaving || r == NotMember }
