package codec

import (
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
	"github.com/feedring/feedring/ring"
)

// The messages of the search.

func (d *decoder) direction(p feedringv1.Direction) ring.Direction {
	if p < feedringv1.Direction_DIRECTION_SUCCESSOR || p > feedringv1.Direction_DIRECTION_DIRECT {
		d.Malformed("direction", "unknown")
		return 0
	}
	return ring.Direction(p)
}

func servingTo(serving []ring.Serving) []*feedringv1.Serving {
	out := make([]*feedringv1.Serving, 0, len(serving))
	for _, it := range serving {
		out = append(out, &feedringv1.Serving{Group: it.Group[:], Hop: wire.CountTo(it.Hop)})
	}
	return out
}

func (d *decoder) serving(serving []*feedringv1.Serving) []ring.Serving {
	if len(serving) > maxGroups {
		d.Malformed("serving", "too many groups")
		return nil
	}
	var out []ring.Serving
	for _, it := range serving {
		out = append(out, ring.Serving{Group: d.Group("serving", it.GetGroup()), Hop: d.Count("hop", it.GetHop())})
	}
	return out
}

func encodeSearch(e *encoder, m ring.Search) *feedringv1.Search {
	return &feedringv1.Search{
		Id: m.ID[:], Attempt: m.Attempt, Coordinator: e.Peer(m.Coordinator),
		Group: m.Group[:], Origin: m.Origin[:], End: m.End[:], Direction: feedringv1.Direction(m.Direction),
		C: numberTo(m.C), Hop: wire.CountTo(m.Hop), HopLimit: wire.CountTo(m.HopLimit),
		Theme: string(m.Theme), Provider: m.Provider, Visited: groupsTo(m.Visited), WithinMs: wire.SpanTo(m.Within),
		Serving: servingTo(m.Serving),
	}
}

func decodeSearch(d *decoder, p *feedringv1.Search) ring.Search {
	return ring.Search{
		ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Coordinator: d.Peer("coordinator", p.GetCoordinator()),
		Group: d.Group("group", p.GetGroup()), Origin: d.Group("origin", p.GetOrigin()), End: d.Group("end", p.GetEnd()),
		Direction: d.direction(p.GetDirection()),
		C:         int(p.GetC()), Hop: d.Count("hop", p.GetHop()), HopLimit: d.Count("hop limit", p.GetHopLimit()),
		Theme: d.Theme("theme", p.GetTheme()), Provider: d.Text("provider", p.GetProvider(), maxProvider),
		Visited: d.Groups("visited", p.GetVisited(), maxGroups), Within: d.Span("within", p.GetWithinMs()),
		Serving: d.serving(p.GetServing()),
	}
}

func encodeSearchAck(_ *encoder, m ring.SearchAck) *feedringv1.SearchAck {
	return &feedringv1.SearchAck{Id: m.ID[:], Attempt: m.Attempt, Group: m.Group[:], Direction: feedringv1.Direction(m.Direction)}
}

func decodeSearchAck(d *decoder, p *feedringv1.SearchAck) ring.SearchAck {
	return ring.SearchAck{
		ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Group: d.Group("group", p.GetGroup()),
		Direction: d.direction(p.GetDirection()),
	}
}

func encodeFoundGroup(_ *encoder, m ring.FoundGroup) *feedringv1.FoundGroup {
	return &feedringv1.FoundGroup{
		Id: m.ID[:], Attempt: m.Attempt, Group: m.Group[:], Direction: feedringv1.Direction(m.Direction), Hop: wire.CountTo(m.Hop),
	}
}

func decodeFoundGroup(d *decoder, p *feedringv1.FoundGroup) ring.FoundGroup {
	return ring.FoundGroup{
		ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Group: d.Group("group", p.GetGroup()),
		Direction: d.direction(p.GetDirection()), Hop: d.Count("hop", p.GetHop()),
	}
}

func encodeExhausted(_ *encoder, m ring.Exhausted) *feedringv1.Exhausted {
	return &feedringv1.Exhausted{
		Id: m.ID[:], Attempt: m.Attempt, Direction: feedringv1.Direction(m.Direction), Visited: groupsTo(m.Visited),
		Hop: wire.CountTo(m.Hop), C: numberTo(m.C), Serving: servingTo(m.Serving),
	}
}

func decodeExhausted(d *decoder, p *feedringv1.Exhausted) ring.Exhausted {
	return ring.Exhausted{
		ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Direction: d.direction(p.GetDirection()),
		Visited: d.Groups("visited", p.GetVisited(), maxGroups), Hop: d.Count("hop", p.GetHop()), C: int(p.GetC()),
		Serving: d.serving(p.GetServing()),
	}
}
