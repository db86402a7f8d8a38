package stage

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// do carries out one output of a machine, as a node does.
func (h *Host) do(out peer.Output) {
	s := h.stage
	switch o := out.(type) {
	case *peer.Send:
		h.send(o)
	case peer.Answer:
		h.all(func() { s.answer(o) })
	case peer.Departed:
		h.all(func() { h.Up = false })
	case peer.Lookup:
		h.all(func() { h.lookup(o.Theme) })
	case group.Persist:
		h.state.Groups[s.themes[o.Group]] = o.State
		h.tell(o.Group, group.Persisted{Token: o.Token})
	case group.Append:
		h.append(o)
	case group.Fetch:
		h.fetch(o)
	case group.Check:
		h.tell(o.Group, group.Checked{Feed: o.Feed})
	case group.RoleChanged:
		h.all(func() { h.roleChanged(o) })
	case group.Admit:
		h.all(func() { s.decided(o.Stream, true) })
	case group.Refuse:
		h.all(func() { s.decided(o.Stream, false) })
	}
}

func (s *Stage) answer(o peer.Answer) {
	if answer := s.answers[o.Stream]; answer != nil {
		delete(s.answers, o.Stream)
		s.After(s.cfg.Delay, func() { answer(o.Final) })
	} else {
		s.Surplus++
	}
}

// tell reports something of a group after a write to disk.
func (h *Host) tell(g feedring.GroupID, in group.Input) {
	h.report(h.stage.cfg.Sync, peer.In{Group: g, Input: in})
}

func (h *Host) send(o *peer.Send) {
	message := o.Message
	o.Message = nil // the machine made it beside others, which it needs for longer
	h.sent(message.Verb())
	to := h.stage.byID[o.To]
	if to == nil || !to.Up {
		return
	}
	if takes, arrives := h.stage.way(h, to, message); arrives {
		h.put(event{at: to.Awake(h.now() + takes), host: to, life: to.life, from: h, message: h.seal(message)})
	}
}

// seal signs a beacon of this peer's: members of a large group pass on no
// other. Of all else a machine takes what is unsealed as checked.
func (h *Host) seal(message feedring.Message) feedring.Message {
	if b, ok := message.(group.Beacon); ok && b.Seal == nil {
		b.Seal = &feedring.Seal{Signer: h.ID}
		return b
	}
	return message
}

const maxFound = 32 // peers that the address book names

func (h *Host) lookup(theme feedring.Theme) {
	found := peer.Members{Theme: theme}
	for _, other := range h.stage.addressBook[theme] {
		if other != h && other.Up && len(found.Peers) < maxFound {
			found.Peers = append(found.Peers, other.ID)
		}
	}
	h.report(4*h.stage.cfg.Delay, found)
}

func (h *Host) roleChanged(o group.RoleChanged) {
	s := h.stage
	if o.Role != feedring.RoleNone && !slices.Contains(s.addressBook[o.Theme], h) {
		s.addressBook[o.Theme] = append(s.addressBook[o.Theme], h)
	}
	if s.Role != nil {
		s.Role(h, o.Theme, o.Role)
	}
}

// append stores own entries. A batch that a crash overtook is lost.
func (h *Host) append(o group.Append) {
	s, life := h.stage, h.life
	n := h.batches[o.Batch].Entries
	delete(h.batches, o.Batch)
	head := feedring.Head{Feed: o.Feed, Position: o.First}
	head.Position.Sequence += uint64(max(n, 1) - 1)
	h.on(h, s.cfg.Sync, func() {
		if h.Up && h.life == life {
			h.hold(head)
			h.step(peer.In{Group: o.Group, Input: group.Appended{Batch: o.Batch, Head: head}})
		}
	})
}

func (h *Host) hold(head feedring.Head) {
	n := h.stage.feeds[head.Feed]
	if head.Position.Compare(h.held[n]) <= 0 {
		return
	}
	h.held[n] = head.Position
	if held := h.stage.Held; held != nil {
		h.all(func() { held(h, head) })
	}
}

func (h *Host) headOf(ref feedring.FeedRef) feedring.Head {
	return feedring.Head{Feed: ref, Position: h.Head(ref)}
}

// pollPatience is how long a poll waits for an answer that does not come.
const pollPatience = 3 * time.Second

// fetch polls: a question, an answer, and a write to disk.
func (h *Host) fetch(o group.Fetch) {
	s, life := h.stage, h.life
	h.sent(Poll)
	fetched := group.Fetched{Feed: o.Feed, From: o.From, Head: h.headOf(o.Feed), Failed: true}
	end := func() {
		if !h.Up || h.life != life {
			return
		}
		if !fetched.Failed && !o.Proof {
			h.hold(fetched.Known)
			fetched.Head = h.headOf(o.Feed)
		}
		h.step(peer.In{Group: o.Group, Input: fetched})
	}
	server := s.byID[o.From]
	if server == nil {
		h.on(h, 2*s.cfg.Delay+s.cfg.Sync, end)
		return
	}
	takes, arrives := s.way(h, server, nil)
	if !arrives {
		h.on(h, pollPatience, end)
		return
	}
	h.on(server, server.Awake(h.now()+takes)-h.now(), func() {
		if server.Up {
			server.received(Poll)
			fetched.Known, fetched.Failed = server.headOf(o.Feed), false
		}
		back, arrives := s.way(server, h, nil)
		if !arrives {
			fetched.Failed, back = true, pollPatience
		}
		server.on(h, h.Awake(server.now()+back+s.cfg.Sync)-server.now(), end)
	})
}
