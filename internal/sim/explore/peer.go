package explore

// System makes the peers that are explored. Peers are numbered from 0.
type System interface {
	// Start returns n peers that begin to found a group, and what each sends.
	Start(n int) ([]Peer, [][]Sent)
}

// Peer is one peer in one state. It is never changed: what happens to it makes
// another one. Equal hashes mean that two peers go on alike.
type Peer interface {
	Hash() uint64
	Up() bool
	// Due says that a timer waits to fire. Elapse lets a unit of time pass,
	// in which nothing else happens to the peer.
	Due() bool
	Fire() (Peer, []Sent)
	Elapse() Peer
	Receive(from int, msg Message) (Peer, []Sent)
	// Crash returns the peer as it may be afterwards, not up: once for each
	// thing that its disk may hold.
	Crash() []Peer
	Restart() (Peer, []Sent)
	// Rival tells a manager of another one, not by a message.
	Rival(other Peer) (Peer, []Sent)
	Status() Status
	String() string // its standing, for people
}

// Status is what a peer takes itself and others for.
type Status struct {
	Manager int  // whom it follows; -1: nobody
	Serving bool // it manages
}

// Message is what one peer sends another. Messages of one lane between two
// peers arrive in the order in which they were sent.
type Message interface {
	Hash() uint64
	Lane() string
	String() string
}

// Sent is one message on its way. What a peer sends itself is the answer of
// its disk: the last one counts, it cannot be lost, and a crash ends it.
type Sent struct {
	To      int
	Message Message
}
