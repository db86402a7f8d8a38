package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// toldRow names another's row as one peer knows it.
type toldRow struct {
	at    int32
	group feedring.GroupID
	of    feedring.PeerID
}

// neverOlder checks that the versions of a row that a peer tells do not fall
// (S11): a catalogue keeps the greater, whatever order rows come in.
func (w *Witness) neverOlder(p int32, rows []*group.Row) {
	for i := range rows {
		r := rows[i]
		key := toldRow{p, r.Group, r.Peer}
		is := group.RowVersion{Peer: r.Peer, Incarnation: r.Incarnation, Version: r.Version}
		was, known := w.rules.told[key]
		if known && is.Compare(was) < 0 {
			w.Fail("S11", "%s tells version %d.%d of the row of %s after %d.%d", w.cfg.Name(p), is.Incarnation, is.Version, r.Peer,
				was.Incarnation, was.Version)
		}
		w.rules.told[key] = is
	}
}

// tombstone is when a peer was told that another left its group, and by which
// version of its row.
type tombstone struct {
	at      time.Duration
	version group.RowVersion
}

func (w *Witness) leaveComes(p int32, from feedring.PeerID, m group.Leave) {
	if m.Row.Peer != from || !m.Row.Left {
		return
	}
	v := group.RowVersion{Peer: from, Incarnation: m.Row.Incarnation, Version: m.Row.Version}
	w.rules.gone[toldRow{p, m.Row.Group, from}] = tombstone{w.cfg.Now(), v}
}

// lookupTime is more than a lookup takes: what it plans is of when it began.
const lookupTime = 8 * time.Second

// nobodyGone checks that no reader is sent to a peer that said that it left
// (S11), unless it came back.
func (w *Witness) nobodyGone(p int32, m group.Placed) {
	for i := range m.Grants {
		for _, to := range m.Grants[i].Ticket.Peers {
			t, left := w.rules.gone[toldRow{p, m.Header.Group, to}]
			if left && w.cfg.Now()-t.at > lookupTime && !w.back(m.Header.Group, to, t.version) {
				w.Fail("S11", "%s sends a reader to %s, which left", w.cfg.Name(p), to)
			}
		}
	}
}

// back reports whether a peer made a row after a tombstone.
func (w *Witness) back(g feedring.GroupID, of feedring.PeerID, since group.RowVersion) bool {
	i := w.cfg.Index(of)
	if i < 0 {
		return true
	}
	s := w.of(i).find(g)
	if s == nil || s.row == nil {
		return true
	}
	now := group.RowVersion{Peer: of, Incarnation: s.row.Incarnation, Version: s.row.Version}
	return now.Compare(since) > 0
}

// cameBack forgets the tombstones of a peer that came back and now loses its
// store: its next rows begin anew, below what others rightly go by.
func (w *Witness) cameBack(p int32) {
	for k, t := range w.rules.gone {
		if k.of == w.cfg.Name(p) && w.back(k.group, k.of, t.version) {
			delete(w.rules.gone, k)
		}
	}
}
