package polls

import (
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// StandInTo says that an item of a part stands in the place of what it takes back.
func StandInTo(part *feedringv1.PollPart, item int, at feedring.Position) {
	part.StandIns = append(part.StandIns, &feedringv1.StandIn{Item: wire.CountTo(item), Position: wire.PositionTo(at)})
}

// StandInsFrom is the inverse of StandInTo: positions by item, nil for none.
func StandInsFrom(part *feedringv1.PollPart) (map[int]feedring.Position, error) {
	list := part.GetStandIns()
	if len(list) > len(part.GetItems()) {
		return nil, fmt.Errorf("stand-ins: %w: more than items", wire.ErrMalformed)
	}
	var at map[int]feedring.Position
	for _, s := range list {
		p, item := wire.PositionFrom(s.GetPosition()), int(s.GetItem())
		if p.IsZero() || item >= len(part.GetItems()) {
			return nil, fmt.Errorf("stand-ins: %w: of no item or position", wire.ErrMalformed)
		}
		if at == nil {
			at = make(map[int]feedring.Position, len(list))
		}
		at[item] = p
	}
	return at, nil
}
