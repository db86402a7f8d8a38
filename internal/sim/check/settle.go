package check

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// Leader returns the one manager that all running members of a group follow,
// under one term: one that started again and founded follows itself, and the
// others the claim that it made before. why says what is not so; empty: all is
// well.
func (w *Witness) Leader(theme feedring.Theme, members []int32) (lead int32, why string) {
	lead = -1
	var term feedring.Term
	for _, p := range members {
		v := w.cfg.Membership(p, theme)
		if v == nil || v.Manager == "" {
			return -1, string(w.cfg.Name(p)) + " follows nobody"
		}
		m := w.cfg.Index(v.Manager)
		if lead < 0 {
			lead, term = m, v.Term
		}
		if v.Term != term {
			return -1, fmt.Sprintf("%s follows %v, another %v", w.cfg.Name(p), v.Term, term)
		}
		if m != lead || (v.Role == feedring.RoleManager) != (p == lead) {
			return -1, string(w.cfg.Name(p)) + " (" + v.Role.String() + ") follows " + string(v.Manager) + ", another " + string(w.cfg.Name(lead))
		}
	}
	if lead < 0 || !w.cfg.Runs(lead) {
		return -1, "nobody is there"
	}
	return lead, ""
}

// Secondary returns the secondary that the manager names, or -1.
func (w *Witness) Secondary(theme feedring.Theme, lead int32) int32 {
	v := w.cfg.Membership(lead, theme)
	if v == nil || v.Secondary == "" {
		return -1
	}
	return w.cfg.Index(v.Secondary)
}

// Level checks L2: all members hold what is fresh and was on its publisher's disk
// at a time. What came later has still time.
func (w *Witness) Level(theme feedring.Theme, members []int32, then time.Duration) (why string) {
	for _, l := range w.cfg.Logs() {
		if l.Theme != theme {
			continue
		}
		owner := w.cfg.Index(l.Ref.Publisher)
		if !w.cfg.Runs(owner) {
			continue
		}
		head := newest(l, then)
		if head == nil {
			continue
		}
		for _, p := range members {
			has := w.cfg.Disk(p).Head(l)
			if has.Position.Compare(head.Position) < 0 && head.Seen.After(w.cfg.Clock(p).Add(-w.cfg.Freshness)) {
				return string(w.cfg.Name(p)) + " is behind in " + l.Ref.URL
			}
		}
	}
	return ""
}

// Told checks S11 where all can hear all: they hold the rows that their owners
// made last.
func (w *Witness) Told(theme feedring.Theme, members []int32) (why string) {
	for _, p := range members {
		v := w.cfg.Membership(p, theme)
		if v == nil || len(v.Members) != len(members) {
			return string(w.cfg.Name(p)) + " does not know all members"
		}
		for i := range v.Members {
			r := v.Members[i].Row
			if last := w.ownRow(r.Peer, theme); last == nil || printOf(r) != printOf(last) {
				return string(w.cfg.Name(p)) + " holds another row of " + string(r.Peer) + " than it made last"
			}
		}
	}
	return ""
}

// ownRow returns what a member says of itself; nil: it is none.
func (w *Witness) ownRow(of feedring.PeerID, theme feedring.Theme) *group.Row {
	v := w.cfg.Membership(w.cfg.Index(of), theme)
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Row.Peer == of {
			return v.Members[i].Row
		}
	}
	return nil
}

// newest returns the last entry of a log that was on its publisher's disk at a
// time, and still is; nil: there is none.
func newest(l *disk.Log, then time.Duration) *disk.Entry {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		if e := l.Entries[i]; !e.Lost && e.Synced <= then {
			return e
		}
	}
	return nil
}

// Round checks L6 at one peer: its map shows each group with its manager, and
// no other.
func (w *Witness) Round(p int32, managers map[feedring.Theme]int32) (why string) {
	rows := w.cfg.Ring(p)
	if len(rows) != len(managers) {
		shown := make([]string, len(rows))
		for i, r := range rows {
			shown[i] = fmt.Sprintf("%s=%d.%s", r.Theme, r.Term.Number, r.Term.Claimant)
		}
		return fmt.Sprintf("it shows %v of %d groups", shown, len(managers))
	}
	for _, r := range rows {
		if m, ok := managers[r.Theme]; !ok || w.cfg.Name(m) != r.Term.Claimant {
			return "it shows " + string(r.Term.Claimant) + " as manager of " + string(r.Theme)
		}
	}
	return ""
}
