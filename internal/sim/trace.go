package sim

import (
	"fmt"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// traceMessage tells of a message in one line.
func (w *World) traceMessage(from, to feedring.PeerID, m feedring.Message, lost bool) {
	mark := ""
	if lost {
		mark = " (lost)"
	}
	theme := feedring.Theme("")
	if g, ok := m.(group.Message); ok {
		theme = " " + w.themeOf(g.Of().Group)
	}
	w.tracef("%s -> %s %s%s%s%s", from, to, m.Verb(), theme, messageText(m), mark)
}

func termText(t feedring.Term) string { return fmt.Sprintf("%d.%s", t.Number, t.Claimant) }

// messageText tells what matters of a message, after its verb.
func messageText(m feedring.Message) string {
	var b strings.Builder
	if g, ok := m.(group.Message); ok {
		fmt.Fprintf(&b, " [%s]", termText(g.Of().Term))
	}
	switch m := m.(type) {
	case group.Beacon:
		fmt.Fprintf(&b, " #%d secondary=%s acknowledged=%d away=%v heads=%d", m.Number, m.Secondary, m.Acknowledged, m.Away, len(m.Heads))
	case group.BeaconAnswer:
		fmt.Fprintf(&b, " #%d leases=%d heads=%d", m.Number, m.Leases, len(m.Heads))
	case group.Intention:
		fmt.Fprintf(&b, " proposed=%d elapsed=%v nonce=%x", m.Proposed, m.Elapsed, m.Nonce&0xffff)
	case group.Stale:
		fmt.Fprintf(&b, " claim=%s acknowledged=%v", termText(m.Claim.Term), m.Acknowledged)
	case group.Confirmation:
		fmt.Fprintf(&b, " claim=%s", termText(m.Claim.Term))
	case group.Objection:
		fmt.Fprintf(&b, " alive=%v nonce=%x", m.Alive != nil, m.Nonce&0xffff)
	case group.Admitted:
		fmt.Fprintf(&b, " claim=%s rows=%s heads=%d", termText(m.Claim.Term), rowsText(m.Rows), len(m.Heads))
	case group.Join:
		fmt.Fprintf(&b, " row=%s", rowsText([]*group.Row{&m.Row}))
	case group.Rows:
		fmt.Fprintf(&b, " %s", rowsText(m.Rows))
	case group.Notify:
		fmt.Fprintf(&b, " %s %d/%d", m.Head.Feed.URL, m.Head.Position.Epoch, m.Head.Position.Sequence)
		if len(m.Answer) > 0 {
			fmt.Fprintf(&b, " after %d/%d", m.After.Epoch, m.After.Sequence)
		}
	case group.Place:
		fmt.Fprintf(&b, " %x #%d provider=%q", m.ID[:2], m.Attempt, m.Provider)
	case group.Placed:
		fmt.Fprintf(&b, " %x #%d served=%v grants=%d missing=%v", m.ID[:2], m.Attempt, m.Served, len(m.Grants), m.Missing)
	case group.Assign:
		fmt.Fprintf(&b, " %x #%d", m.ID[:2], m.Attempt)
	case group.Assigned:
		fmt.Fprintf(&b, " %x #%d ok=%v", m.ID[:2], m.Attempt, m.OK)
	case peer.Query:
		fmt.Fprintf(&b, " %x #%d theme=%q provider=%q", m.ID[:2], m.Attempt, m.Theme, m.Provider)
	case peer.Final:
		fmt.Fprintf(&b, " %s", finalText(m.Final))
	default:
		ringText(&b, m)
	}
	return b.String()
}

func ringText(b *strings.Builder, m feedring.Message) {
	switch m := m.(type) {
	case ring.Search:
		fmt.Fprintf(b, " %x #%d direction=%d C=%d hop=%d visited=%d", m.ID[:2], m.Attempt, m.Direction, m.C, m.Hop, len(m.Visited))
	case ring.FoundGroup:
		fmt.Fprintf(b, " %x #%d hop=%d", m.ID[:2], m.Attempt, m.Hop)
	case ring.Exhausted:
		fmt.Fprintf(b, " %x #%d direction=%d hop=%d visited=%d", m.ID[:2], m.Attempt, m.Direction, m.Hop, len(m.Visited))
	case ring.Rows:
		for _, r := range m.Rows {
			fmt.Fprintf(b, " %s=%s.%d", r.Theme, termText(r.Term), r.Version)
			if r.Gone {
				b.WriteString("(gone)")
			}
		}
		fmt.Fprintf(b, " lost=%d want=%d", len(m.Lost), len(m.Want))
	}
}

func rowsText(rows []*group.Row) string {
	var parts []string
	for i := range rows {
		s := fmt.Sprintf("%s@%d.%d", rows[i].Peer, rows[i].Incarnation, rows[i].Version)
		if rows[i].Left {
			s += "(left)"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ",")
}

func finalText(f feedring.Final) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x #%d %s hops=%d messages=%d", f.ID[:2], f.Attempt, f.Status, f.Hops, f.Messages)
	for i := range f.Grants {
		fmt.Fprintf(&b, " %s@%s", f.Grants[i].Theme, f.Grants[i].Provider.ID)
	}
	if len(f.Missing) > 0 {
		fmt.Fprintf(&b, " missing=%s", strings.Join(f.Missing, ","))
	}
	return b.String()
}

func deliveryText(d delivery) string {
	var parts []string
	for _, it := range d.items {
		parts = append(parts, fmt.Sprintf("%s:%s:%d/%d", it.log.Provider, it.log.Ref.Publisher, it.entry.Position.Epoch, it.entry.Position.Sequence))
	}
	if d.caught {
		parts = append(parts, "caught")
	}
	return strings.Join(parts, " ")
}

var refusals = map[refusal]string{refusedTicket: "ticket", refusedBehind: "behind", refusedBusy: "busy",
	refusedLeaving: "leaving", lostTouch: "no word"}
