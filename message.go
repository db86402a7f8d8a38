package feedring

// Verb names a kind of message: the last part but one of the protocol id on
// which it travels, /feedring/<network>/<verb>/1.
type Verb string

// Message is what machines send each other. The messages are declared beside
// the machine that understands them: in group, in ring and in internal/peer.
type Message interface {
	Verb() Verb
}

// Send is what a machine puts out to have Message sent to To. Fresh forgets the
// dial back-off first. It is one type for all machines: one that drives others
// passes it on as it is.
type Send struct {
	To      PeerID
	Message Message
	Fresh   bool
}

// IsOutput makes it an output of each machine.
func (*Send) IsOutput() {}

// Sends makes a machine's Sends, some at a time: they are most of what it puts
// out. The zero value is ready. A copy goes on with the same room, so that a copy
// of a machine begins with a zero one.
type Sends struct{ room []Send }

const sendsAtOnce = 8

// New returns another Send.
func (s *Sends) New(to PeerID, message Message, fresh bool) *Send {
	if len(s.room) == 0 {
		s.room = make([]Send, sendsAtOnce)
	}
	one := &s.room[0]
	s.room = s.room[1:]
	one.To, one.Message, one.Fresh = to, message, fresh
	return one
}
