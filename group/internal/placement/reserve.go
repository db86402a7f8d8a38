package placement

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/leases"
)

// MaxOfMember bounds the places that this peer reserves on the word of a member
// that is, as far as it knows, neither manager nor secondary: one that has just
// taken over needs some before its claim is heard of, nobody else any.
const MaxOfMember = 64

// Load is the number of clients served, and of places reserved.
func (pl *Placer) Load() int { return pl.table.Load() }

// Leases is the number of clients served.
func (pl *Placer) Leases() int { return pl.table.Leases() }

// ReservedFor is how long a place waits for its client.
func (pl *Placer) ReservedFor() time.Duration { return max(pl.cfg.Refresh, 2*time.Second) }

// Reserve makes room for a client, on the word of by.
func (pl *Placer) Reserve(key Attempt, client, by feedring.PeerID) bool {
	trusted := by == pl.cfg.Self || by == pl.group.Manager() || by == pl.group.Secondary()
	if pl.group.Leaving() || !trusted && pl.table.ReservedFor(by) >= MaxOfMember {
		return false
	}
	made, ok := pl.table.Reserve(key.ID, client, by)
	if made {
		pl.group.ReservationAt(key.ID, pl.group.Now().Add(pl.ReservedFor()))
	}
	return ok
}

// Unreserve gives up a place that no client took.
func (pl *Placer) Unreserve(id feedring.QueryID) { pl.table.Unreserve(id) }

// Attach turns a place into a lease, or returns the reason against it. An alternate needs no place: the ticket is enough,
// and it holds whatever happened to the manager that signed it. Where the client came before on another stream, that one
// is over: again.
func (pl *Placer) Attach(stream uint64, t feedring.Ticket) (refusal leases.Refusal, old uint64, again bool) {
	if refusal = pl.refusal(t); refusal != leases.NotRefused {
		return refusal, 0, false
	}
	if pl.table.Unreserve(t.ID) {
		pl.group.ReservationEnds(t.ID)
	}
	old, again = pl.table.Lease(stream, t.ID, t.Client)
	return leases.NotRefused, old, again
}

// Detach ends a lease.
func (pl *Placer) Detach(stream uint64) { pl.table.Release(stream) }

// refusal says why a client is not served; NotRefused: it is.
func (pl *Placer) refusal(t feedring.Ticket) leases.Refusal {
	client, has := pl.table.ReservedClient(t.ID)
	switch {
	case t.Group != pl.cfg.Group:
		return leases.OtherGroup
	case !t.Expiry.After(pl.group.Now()):
		return leases.Expired
	case !slices.Contains(t.Peers, pl.cfg.Self):
		return leases.OtherPeers
	case t.Seal != nil && !slices.Contains(pl.issuers, t.Seal.Signer):
		return leases.UnknownIssuer
	case has && client != t.Client:
		return leases.OtherClient
	case pl.group.Leaving():
		return leases.Leaving
	}
	return pl.table.Refusal(t.ID, t.Client)
}

// Trust accepts the tickets of the manager and the secondary, and of a manager whose claim is on its way to disk: it may
// have assigned a client that is faster than the disk. Each may be empty.
func (pl *Placer) Trust(adopted, secondary, manager feedring.PeerID) {
	pl.issuers = pl.issuers.Note(adopted)
	if n := len(pl.issuers); n <= 1 || pl.issuers[0] != manager || pl.issuers[1] != secondary {
		pl.issuers = pl.issuers.Note(secondary).Note(manager)
	}
}
