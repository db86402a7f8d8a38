package fleetlink

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// waiting are tasks that do not end.
type waiting struct{ begun int }

func (w *waiting) Run(func()) bool {
	w.begun++
	return true
}

type known []feedring.PeerID

func (k known) Known(p feedring.PeerID) bool { return slices.Contains(k, p) }

// Strangers that answer nothing take all places of those who are asked for a credential, and
// of rows that wait for one. A member that is known is asked, and its row kept, all the same.
func TestStrangersKeepNoMemberOut(t *testing.T) {
	tasks := &waiting{}
	l := &Link{
		cfg: Config{Known: known{"member"}, Host: hostOf{}, Tasks: tasks, Log: slog.New(slog.DiscardHandler)}, ctx: t.Context(),
		group: feedring.FleetTheme([8]byte{1}).Group(), asked: make(map[feedring.PeerID]*asking), shown: make(map[feedring.PeerID]time.Time),
	}
	row := func(p feedring.PeerID) *ring.Row {
		r := &ring.Row{}
		r.Group, r.Term.Claimant = l.group, p
		return r
	}
	pass := func(p feedring.PeerID) { l.passRows(p, ring.Rows{Rows: []*ring.Row{row(p)}}) }
	for i := range maxAsked {
		pass(feedring.PeerID(fmt.Sprint("stranger", i)))
	}
	if pass("late"); tasks.begun != maxAsked {
		t.Errorf("%d strangers are asked", tasks.begun)
	}
	pass("member")
	if tasks.begun != maxAsked+1 || l.asked["member"] == nil {
		t.Error("a member that is known is not asked")
	}
	for i := range maxHeld {
		pass(feedring.PeerID(fmt.Sprint("stranger", i)))
	}
	if !slices.ContainsFunc(l.held, func(h held) bool { return h.row.Term.Claimant == "member" }) || len(l.held) != maxHeld {
		t.Errorf("the member's row is not among the %d that wait", len(l.held))
	}
}
