package node

import (
	"log/slog"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/backlog"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/identity"
	"github.com/feedring/feedring/node/internal/origins"
	"github.com/feedring/feedring/node/internal/publish"
	"github.com/feedring/feedring/node/internal/readers"
	"github.com/feedring/feedring/node/internal/replicate"
	"github.com/feedring/feedring/node/internal/sitecheck"
	"github.com/feedring/feedring/node/internal/transport"
)

// effects carries out what the machine asks for.
type effects struct {
	log       *slog.Logger
	loop      *loop
	events    *backlog.Queue[Event]
	departed  chan struct{} // closed when the machine has left its groups
	host      *host.Host
	links     *transport.Links
	credit    *transport.Credit
	directory *contacts.Directory
	checks    *sitecheck.Checker
	persister *persister
	readers   *readers.Server
	publisher *publish.Publisher
	copies    *replicate.Replicator
	origins   *origins.Feeds
	identity  *identity.Keeper
}

// do carries out one output of the machine. It runs on the loop and never
// blocks: what takes time is started here and reports back as an input.
func (e *effects) do(out peer.Output) {
	switch o := out.(type) {
	case *peer.Send:
		e.links.Send(o.To, o.Message, o.Fresh)
	case peer.Answer:
		e.readers.Answer(o)
	case peer.Lookup:
		e.directory.Lookup(o.Theme)
	case peer.Departed:
		close(e.departed)
	case group.Persist:
		e.persister.persist(o)
	case group.RoleChanged:
		e.roleChanged(o)
	case group.Append:
		e.publisher.Assign(o)
	case group.Unplaced:
		e.publisher.Unplaced(o)
	case group.Fetch:
		e.copies.Fetch(o)
	case group.Compare:
		e.copies.Compare(o)
	case group.Learn:
		e.copies.Learn(o)
	case group.Show:
		e.copies.Show(o)
	case group.Wake:
		e.readers.Delivery.Notify(o.Feed)
	case group.Admit:
		e.readers.Admit(o)
	case group.Refuse:
		e.readers.Refuse(o)
	case group.Prune:
		e.copies.Prune(o)
	case group.Check:
		e.checks.Check(o)
	case group.Protect:
		e.host.Protect(o.Group.String(), o.Peers)
	case group.Owing:
		e.credit.Take(o)
	case group.FetchAssignment:
		e.origins.Assign(o)
	case group.Carry:
		e.origins.Carry(o)
	case group.VerifyStandIn:
		e.origins.Verify(o)
	case group.MeasureOrigin:
		e.origins.Measure(o)
	case group.FetchRequested:
		e.origins.Requested(o)
	case group.Dropped:
		e.dropped(o)
	case group.DuplicateIdentity:
		e.identity.Met(o.Theme)
	case group.Reach:
		e.host.Learn(o.Peer, o.Addrs)
	case group.Departed:
		e.persister.left(o.Group)
		e.readers.Leave(o.Group)
		e.credit.Leave(o.Group)
	default:
		e.log.Error("the machine asked for something unknown", "output", out)
	}
}

// dropped tells whoever runs the peer what it does not publish.
func (e *effects) dropped(o group.Dropped) {
	for _, url := range o.URLs {
		e.origins.Assign(group.FetchAssignment{Group: o.Theme.Group(), URL: url, Slot: 1, Slots: 1})
	}
	if len(o.URLs) > 0 {
		e.log.Warn(web.AdviseOtherPeer.To("too many feeds of one theme, or too long addresses: some are published to nobody"),
			"theme", o.Theme, "feeds", len(o.URLs), "first", o.URLs[0])
	}
}

func (e *effects) roleChanged(o group.RoleChanged) {
	e.log.Info("role changed", "theme", o.Theme, "role", o.Role, "term", o.Term.Number)
	e.events.Add(roleEvent(o))
	if o.Role == feedring.RoleNone {
		e.directory.Leave(o.Theme.Group())
		return
	}
	e.directory.Enter(o.Theme.Group())
	e.copies.Entered(o.Theme.Group())
}

func roleEvent(o group.RoleChanged) Event {
	return Event{Event: "role", Theme: o.Theme, Role: o.Role.String(), Term: &o.Term.Number}
}
