package sim

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
	"github.com/feedring/feedring/ring"
)

// sight is what the witness may know of a world.
type sight struct{ w *World }

func (s sight) Now() time.Duration                     { return s.w.now }
func (s sight) Peers() int                             { return len(s.w.nodes) }
func (s sight) Index(id feedring.PeerID) int32         { return s.w.indexOf(id) }
func (s sight) Clock(p int32) time.Time                { return s.w.nodes[p].clock.at(s.w.now) }
func (s sight) Date() time.Time                        { return began.Add(s.w.now) }
func (s sight) Disk(p int32) *disk.Disk                { return s.w.nodes[p].disk }
func (s sight) Log(ref feedring.FeedRef) *disk.Log     { return s.w.byRef[ref] }
func (s sight) Logs() []*disk.Log                      { return s.w.logs }
func (s sight) Ring(p int32) []*ring.Row               { return s.w.nodes[p].machine.Live() }
func (s sight) OnMap(p int32, g feedring.GroupID) bool { return s.w.nodes[p].machine.OnMap(g) }
func (s sight) Machine(p int32) *peer.Machine          { return s.w.nodes[p].machine }

func (s sight) Membership(p int32, theme feedring.Theme) *group.View {
	return s.w.nodes[p].machine.Membership(theme)
}

func (s sight) Name(p int32) feedring.PeerID {
	if p < 0 || s.w.nodes[p] == nil {
		return ""
	}
	return s.w.nodes[p].id
}

func (s sight) Up(p int32) bool { return s.w.nodes[p] != nil && s.w.nodes[p].up }

func (s sight) Runs(p int32) bool { return s.w.nodes[p] != nil && s.w.nodes[p].runs() }

func (s sight) Steady(p int32, since time.Duration) bool {
	return s.w.nodes[p] != nil && s.w.nodes[p].steady(since)
}

func (s sight) Sound(from, to int32, since time.Duration) bool {
	return s.w.network.sound(from, to, since)
}

// indexOf returns the number of an end; -1: there is none of that name.
func (w *World) indexOf(id feedring.PeerID) int32 {
	if len(id) < 2 {
		return -1
	}
	n := int32(0)
	for i := 1; i < len(id); i++ {
		d := id[i] - '0'
		if d > 9 {
			return -1
		}
		n = n*10 + int32(d)
	}
	if int(n) >= len(w.nodes) || n < 0 {
		return -1
	}
	return n
}

func (w *World) themeOf(g feedring.GroupID) feedring.Theme {
	for _, t := range w.themes {
		if t.Group() == g {
			return t
		}
	}
	return ""
}
