package group

import (
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/fetchassign"
	"github.com/feedring/feedring/group/internal/message"
)

// What the catalogue is made of.
type (
	Row        = catalogue.Row     // what one peer says of itself
	RowVersion = catalogue.Version // names one version of a row
	Vouch      = catalogue.Vouch   // says that a site names a publisher as its peer
	Gone       = catalogue.Gone    // is a feed of which only copies are left
)

// What messages are made of.
type (
	Header            = message.Header         // is carried by every message
	Claim             = message.Claim          // is the signed statement of a manager
	Load              = message.Load           // is the number of clients of a peer
	AssignmentRequest = fetchassign.Request    // is one feed of AssignmentsWanted
	Assignment        = fetchassign.Assignment // is one feed of Assignments
	LastFetch         = fetchassign.LastFetch  // is what the next fetcher of a feed needs to know of the last fetch
)

// Message is any message of this package.
type Message = message.Message

// Messages.
type (
	Join              = message.Join              // asks to be admitted
	Admitted          = message.Admitted          // answers Join with the state of the group
	Leave             = message.Leave             // tells that the sender goes
	HandOver          = message.HandOver          // asks the secondary to claim at once
	Beacon            = message.Beacon            // the manager's sign of life
	BeaconAnswer      = message.BeaconAnswer      // acknowledges the term and tells the member's state
	Refresh           = message.Refresh           // replicates the manager's state to the secondary
	Refreshed         = message.Refreshed         // acknowledges a Refresh
	RowsWanted        = message.RowsWanted        // asks for the catalogue
	Rows              = message.Rows              // carries rows of the catalogue
	HeadsWanted       = message.HeadsWanted       // asks for the heads of all feeds
	Heads             = message.Heads             // answers HeadsWanted
	Evidence          = message.Evidence          // shows that a log is forked
	Intention         = message.Intention         // proposes to take the manager's place
	Probe             = message.Probe             // asks a suspected peer for a fresh signature
	Alive             = message.Alive             // answers Probe
	Objection         = message.Objection         // answers Intention
	Confirmation      = message.Confirmation      // a claim made good
	Stale             = message.Stale             // tells a sender that its term is over
	Replace           = message.Replace           // asks the manager for another secondary
	Notify            = message.Notify            // announces a persisted entry
	Place             = message.Place             // asks for providers for a client
	Placed            = message.Placed            // answers Place
	Assign            = message.Assign            // asks a peer to keep a place for a client
	Assigned          = message.Assigned          // answers Assign
	AssignmentsWanted = message.AssignmentsWanted // asks the manager who fetches feeds
	Assignments       = message.Assignments       // tells who fetches
	FetchRequest      = message.FetchRequest      // asks the fetcher of a feed to fetch it now
)
