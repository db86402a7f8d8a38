package contacts

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

const lookupWithin = 10 * time.Second

// AddressBook is what a directory needs of the host.
type AddressBook interface {
	ID() feedring.PeerID
	Provide(ctx context.Context, g feedring.GroupID) error
	Unprovide(g feedring.GroupID)
	FindGroup(ctx context.Context, g feedring.GroupID) ([]feedring.PeerInfo, error)
	Learn(id feedring.PeerID, addrs []string)
}

// Machine takes what was found.
type Machine interface{ Post(peer.Input) bool }

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// Directory keeps this peer in the address book as a member of the groups that
// it is in, and looks others up there.
type Directory struct {
	addressBook AddressBook
	machine     Machine
	tasks       Tasks
	log         *slog.Logger
	ctx         context.Context

	mu     sync.Mutex
	inside map[feedring.GroupID]bool
}

// NewDirectory returns a directory whose work ends with ctx.
func NewDirectory(ctx context.Context, book AddressBook, machine Machine, tasks Tasks, log *slog.Logger) *Directory {
	return &Directory{addressBook: book, machine: machine, tasks: tasks, log: log, ctx: ctx, inside: make(map[feedring.GroupID]bool)}
}

// Enter provides a group until Leave. It never blocks.
func (d *Directory) Enter(g feedring.GroupID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside[g] {
		return
	}
	d.inside[g] = true
	d.tasks.Run(func() { d.provide(g) })
}

// Leave ends what Enter began. It never blocks.
func (d *Directory) Leave(g feedring.GroupID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.inside, g)
	d.addressBook.Unprovide(g)
}

// provide may run when the group was left already: then it takes back what it
// did, or the peer would stay in the book for good.
func (d *Directory) provide(g feedring.GroupID) {
	ctx, cancel := context.WithTimeout(d.ctx, lookupWithin)
	defer cancel()
	if err := d.addressBook.Provide(ctx, g); err != nil {
		d.log.Debug("address book", "group", g, "err", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.inside[g] {
		d.addressBook.Unprovide(g)
	}
}

// Lookup asks the address book for peers of a group, and tells the machine. It
// never blocks.
func (d *Directory) Lookup(theme feedring.Theme) {
	d.tasks.Run(func() {
		ctx, cancel := context.WithTimeout(d.ctx, lookupWithin)
		defer cancel()
		found, err := d.addressBook.FindGroup(ctx, theme.Group())
		if err != nil {
			d.log.Debug("address book", "theme", theme, "err", err)
		}
		ids := make([]feedring.PeerID, 0, len(found))
		for _, p := range found {
			if p.ID == d.addressBook.ID() {
				continue
			}
			d.addressBook.Learn(p.ID, p.Addrs)
			ids = append(ids, p.ID)
		}
		d.machine.Post(peer.Members{Theme: theme, Peers: ids})
	})
}
