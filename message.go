package feedring

// Verb names a kind of message: the last part but one of the protocol id on
// which it travels, /feedring/<network>/<verb>/1.
type Verb string

// Message is what machines send each other. The messages are declared beside
// the machine that understands them: in group, in ring and in internal/peer.
type Message interface {
	Verb() Verb
}
