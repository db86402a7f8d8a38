package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// do carries out one output of the machine. It runs on the loop and never
// blocks: what takes time is started here and reports back as an input.
func (n *Node) do(out peer.Output) {
	switch o := out.(type) {
	case *peer.Send:
		n.links.Send(o.To, o.Message, o.Fresh)
	case peer.Answer:
		n.readers.Answer(o)
	case peer.Lookup:
		n.directory.Lookup(o.Theme)
	case peer.Departed:
		close(n.departed)
	case group.Persist:
		n.persister.persist(o)
	case group.RoleChanged:
		n.roleChanged(o)
	case group.Append:
		n.publisher.Assign(o)
	case group.Unplaced:
		n.publisher.Unplaced(o)
	case group.Fetch:
		n.poller.start(o)
	case group.Wake:
		n.readers.Delivery.Notify(o.Feed)
	case group.Admit:
		n.readers.Admit(o)
	case group.Refuse:
		n.readers.Refuse(o)
	case group.Prune:
		n.pruner.before(o.Group, o.Before)
	case group.Check:
		n.checks.Check(o)
	case group.Protect:
		n.host.Protect(o.Group.String(), o.Peers)
	case group.Owing:
		n.credit.Take(o)
	case group.FetchAssignment:
		n.turned(o)
	case group.MeasureOrigin:
		n.measure(o)
	case group.FetchRequested:
		n.urged(o)
	case group.Dropped:
		n.dropped(o)
	case group.Twin:
		n.twins.met(o.Theme, n.loop.Now(), n.log)
	case group.Reach:
		n.host.Learn(o.Peer, o.Addrs)
	case group.Departed:
		n.persister.left(o.Group)
		n.readers.Leave(o.Group)
		n.credit.Leave(o.Group)
	default:
		n.log.Error("the machine asked for something unknown", "output", out)
	}
}

// dropped tells whoever runs the peer what it does not publish.
func (n *Node) dropped(o group.Dropped) {
	for _, url := range o.URLs {
		n.turned(group.FetchAssignment{Group: o.Theme.Group(), URL: url, Slot: 1, Slots: 1})
	}
	if len(o.URLs) > 0 {
		n.log.Warn("too many feeds of one theme, or too long addresses: some are published to nobody; run another peer for them",
			"theme", o.Theme, "feeds", len(o.URLs), "first", o.URLs[0])
	}
}

func (n *Node) roleChanged(o group.RoleChanged) {
	n.log.Info("role", "theme", o.Theme, "role", o.Role, "term", o.Term.Number)
	n.events.add(roleEvent(o))
	if o.Role == feedring.RoleNone {
		n.directory.Leave(o.Theme.Group())
		return
	}
	n.directory.Enter(o.Theme.Group())
	n.background(func() { n.copies.entered(o.Theme.Group()) })
}

func roleEvent(o group.RoleChanged) Event {
	return Event{Event: "role", Theme: o.Theme, Role: o.Role.String(), Term: &o.Term.Number}
}
