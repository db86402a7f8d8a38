package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Fleet is the peers that keep personal feeds together with this one. All methods are safe
// for concurrent use.
type Fleet interface {
	// Fleet tells of its peers.
	Fleet(ctx context.Context) (FleetStatus, error)
	// Elsewhere answers a poll of a personal feed that is not open at this peer: another
	// peer's answer is passed on, whose addresses begin with base. false: nothing was
	// written, and either it is open here now or nobody has it.
	Elsewhere(w http.ResponseWriter, r *http.Request, secret, base string) (answered bool, err error)
}

// FleetStatus is a fleet as one of its peers sees it.
type FleetStatus struct {
	Fleet    feedring.Theme `json:"fleet"` // names its key
	Peers    []FleetPeer    `json:"peers"`
	Users    int            `json:"users"`
	Feeds    int            `json:"feeds"`              // personal feeds that users and the owner keep in it
	Capacity int            `json:"capacity"`           // of all peers that are there, each feed at two
	HeldOnce int            `json:"held_once"`          // rows that one peer alone holds, as far as those that answered know
	Silent   int            `json:"silent,omitempty"`   // peers that are there and did not answer: the sums lack what they serve
	Unserved int            `json:"unserved,omitempty"` // parts of 16,384 whose peers are away: the sums lack these
}

// FleetPeer is one of its peers.
type FleetPeer struct {
	Peer     feedring.PeerID `json:"peer"`
	Self     bool            `json:"self,omitempty"`
	Present  bool            `json:"present"`
	Gone     bool            `json:"gone,omitempty"` // for so long that others took its part
	Capacity int             `json:"capacity"`       // personal feeds that it has room for, as it says
	Serves   int             `json:"serves"`         // parts of 16,384
	Keeps    int             `json:"keeps"`          // the same: as the second
	Feeds    int             `json:"feeds"`          // personal feeds that it serves
	Rows     int             `json:"rows"`           // what it serves, users and invitations included
	Moving   int             `json:"moving"`         // rows that it holds until those have them that are to
	Memory   uint64          `json:"memory_bytes,omitempty"`
	// MemoryLimit is what the process may have: near it the peer says that it has less room.
	MemoryLimit uint64 `json:"memory_limit_bytes,omitempty"`
	Full        bool   `json:"full,omitempty"`  // its disk has no room: what others change is held once only where it is the second
	Error       string `json:"error,omitempty"` // why it told nothing
}

func (s *site) fleet(w http.ResponseWriter, r *http.Request) error {
	if s.Fleet == nil {
		return s.errUsers()
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	status, err := s.Fleet.Fleet(ctx)
	if err != nil {
		return refused(err)
	}
	status.Peers = append([]FleetPeer{}, status.Peers...)
	return writeJSON(w, http.StatusOK, status)
}

// BaseHeader is set on polls that a peer passes on to another peer of its fleet: addresses
// in the answer begin with what readers call the first.
const BaseHeader = "Feedring-Base"

// fleetRetry is when a reader comes back whose feed's peers are both away.
const fleetRetry = 30 * time.Second

// errLeftFleet is for what the fleet knows that this peer has left: whoever asks must not
// take it for gone.
var errLeftFleet error = busy(int(fleetRetry/time.Second), "this peer is not in its fleet now, so it does not know this feed, key or invitation: try again later. To its owner: "+WarnLeftFleet)

// SilentHeader names, on a list of what the peers of a fleet keep, those that did not
// answer, with ", " between them: the list may lack what they have.
const SilentHeader = "Feedring-Silent"

// SilentError comes with such a list.
type SilentError struct{ Peers []feedring.PeerID }

// Error implements error.
func (e *SilentError) Error() string {
	return "the list may lack some: these peers of the fleet did not answer: " + e.names()
}

func (e *SilentError) names() string {
	names := make([]string, len(e.Peers))
	for i, p := range e.Peers {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// tellSilent says in a header who did not answer for a list, as err does. Any other error
// is refused.
func tellSilent(h http.Header, name string, err error) error {
	var silent *SilentError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &silent):
		return refused(err)
	}
	h.Set(name, silent.names())
	return nil
}

// writeFleetList writes a list, and who did not answer for it.
func writeFleetList[V any](w http.ResponseWriter, all []V, err error) error {
	if err := tellSilent(w.Header(), SilentHeader, err); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append([]V{}, all...))
}

// AwayError is for what only peers hold that are away.
type AwayError struct{}

// Error implements error.
func (*AwayError) Error() string {
	return "the peers of the fleet that keep this do not answer now: ask again in some seconds"
}

// Unwrap returns its Kind.
func (*AwayError) Unwrap() error { return errAway }

var errAway = &Kind{name: "away", status: http.StatusServiceUnavailable}
