package node

import "time"

const (
	maxEvents    = 1024                   // waiting for who listens
	eventsWithin = 200 * time.Millisecond // for the last ones to be told
)

// newEvents hands events to who listens; nil: nobody does.
func newEvents(tell func(Event)) *backlog[Event] {
	if tell == nil {
		tell = func(Event) {}
	}
	return newBacklog(maxEvents, func(e Event, _ int) { tell(e) })
}
