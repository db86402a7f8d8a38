package client

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// maxArrived is how many frames wait at most while their entries are checked.
const maxArrived = 64

// arrival is a frame that was read and not reported yet.
type arrival struct {
	frame  wire.Frame
	opened wire.Opened // of its entry, if it has one
}

// opened checks the entries that came together.
func (s *session) opened(frames []wire.Frame) []arrival {
	arrived := make([]arrival, len(frames))
	var seals []*feedring.Seal
	for i, frame := range frames {
		if arrived[i].frame = frame; frame.Item != nil {
			seals = append(seals, frame.Item.Seal)
		}
	}
	opened := s.client.reader.Open(seals)
	for i := range arrived {
		if arrived[i].frame.Item != nil {
			arrived[i].opened, opened = opened[0], opened[1:]
		}
	}
	return arrived
}
