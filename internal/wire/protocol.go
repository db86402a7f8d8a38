package wire

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
)

// The verbs of clients' streams, and of polls. Those of the machines' messages
// are told by the messages.
const (
	VerbAsk    feedring.Verb = "ask"
	VerbAttach feedring.Verb = "attach"
	VerbPoll   feedring.Verb = "poll"
	VerbInfo   feedring.Verb = "info"

	VerbPresence feedring.Verb = "presence"

	// Of networks with a charter.
	VerbHello feedring.Verb = "hello"
	VerbRoll  feedring.Verb = "roll"

	// Of readers that do not show their address to who answers them: see package circuit.
	VerbPass   feedring.Verb = "pass"
	VerbSealed feedring.Verb = "sealed"

	// VerbFleet is of the peers of one fleet: HTTP/1.1 is spoken on its streams.
	VerbFleet feedring.Verb = "fleet"
)

const (
	version    = "1"
	maxNetwork = 32
)

// ProtocolID names the streams of a verb on a network.
func ProtocolID(network string, verb feedring.Verb) protocol.ID {
	return protocol.ID("/feedring/" + network + "/" + string(verb) + "/" + version)
}

// CheckNetwork returns an error where name cannot name a network: at most 32
// letters a-z, digits and hyphens, no hyphen first.
func CheckNetwork(name string) error {
	if name == "" || len(name) > maxNetwork || name[0] == '-' || !plain(name) {
		return fmt.Errorf("network %q: a name has at most %d letters a-z, digits and hyphens, and no hyphen first", cutText(name, 40), maxNetwork)
	}
	return nil
}

// plain reports whether s is made of a-z, 0-9 and hyphens.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
