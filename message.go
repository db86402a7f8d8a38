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
