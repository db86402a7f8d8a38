package client

import (
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// maxArrived is how many frames wait at most while their entries are checked.
const maxArrived = 16

// arrival is a frame that was read and not reported yet.
type arrival struct {
	frame wire.Frame
	entry func() (*feedring.Entry, error) // checked; waits for that
}

// arrive begins to check a frame's entry. What came alone is checked by who
// asks for it.
func (s *session) arrive(frame *wire.Frame, a *attachment) *arrival {
	one := &arrival{frame: *frame}
	if item := frame.Item; item != nil {
		one.entry = sync.OnceValues(func() (*feedring.Entry, error) { return s.entry(item, a.peer.ID) })
		if a.stream.Buffered() {
			go func() { _, _ = one.entry() }()
		}
	}
	return one
}
