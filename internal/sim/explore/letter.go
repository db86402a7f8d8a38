package explore

import (
	"fmt"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fingerprint"
)

// letter is a message of package group.
type letter struct {
	msg  group.Message
	hash uint64
}

func newLetter(m group.Message, h *fingerprint.Hasher) *letter { return &letter{m, h.Of(&m)} }

func (l *letter) Hash() uint64 { return l.hash }
func (l *letter) Lane() string { return string(l.msg.Verb()) }

func (l *letter) String() string {
	t := l.msg.Of().Term
	text := fmt.Sprintf("%s [%d.%s]", l.msg.Verb(), t.Number, t.Claimant)
	switch m := l.msg.(type) {
	case group.Stale:
		text += fmt.Sprintf(" claim %d.%s acknowledged %v", m.Claim.Term.Number, m.Claim.Term.Claimant, m.Acknowledged)
	case group.Beacon:
		text += fmt.Sprintf(" secondary %s acknowledged %d away %v", m.Secondary, m.Acknowledged, m.Away)
	}
	return text
}

// written is the disk's answer to the last write.
type written struct{}

func (written) Hash() uint64   { return 1 }
func (written) Lane() string   { return "disk" }
func (written) String() string { return "disk: written" }
