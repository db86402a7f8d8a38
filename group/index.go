package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// index is what follows from the rows as they are.
func (m *Machine) index() *catalogue.Index {
	if m.book == nil {
		rows := make([]*Row, 0, len(m.members))
		for _, mem := range m.members {
			rows = append(rows, mem.row)
		}
		m.book = catalogue.NewIndex(m.cfg.Self, rows, func(p feedring.PeerID) bool { return m.members[p].away })
	}
	return m.book
}

// vouched names the site of each feed that its site's word is held for.
func (m *Machine) vouched() map[feedring.FeedRef]string {
	if m.words == nil {
		m.words, m.wordsTo = m.index().Vouched(m.now)
		m.parts = nil
	}
	return m.words
}

// everybody lists all peers but this one that have not left, in order of rank,
// those that are away included.
func (m *Machine) everybody() []feedring.PeerID { return m.index().Others }

// present lists all of everybody that are not away.
func (m *Machine) present() []feedring.PeerID { return m.index().Present }

// large says that the group spreads messages over a mesh.
func (m *Machine) large() bool { return len(m.present()) >= meshAbove }

// matches lists the feeds of the catalogue whose provider is the asked one,
// feeds of peers that are away included.
func (m *Machine) matches(provider string) []catalogue.Publication {
	return m.index().Matches(provider)
}

// Serves reports whether a feed of the catalogue, be its publisher away or
// not, has that provider; the empty string asks for any feed.
func (m *Machine) Serves(provider string) bool { return len(m.matches(provider)) > 0 }
