package group

import (
	"fmt"
	"strings"

	"github.com/feedring/feedring"
)

// seal seals a peer's own statements as a driver does.
func seal(by feedring.PeerID, msg Message) Message {
	s := &feedring.Seal{Signer: by}
	claim := func(c Claim) Claim {
		if c.Seal == nil && c.Term.Claimant == by {
			c.Seal = s
		}
		return c
	}
	row := func(r Row) Row {
		if r.Seal == nil && r.Peer == by {
			r.Seal = s
		}
		return r
	}
	rows := func(in []*Row) []*Row {
		out := make([]*Row, len(in))
		for i := range in {
			sealed := row(*in[i])
			out[i] = &sealed
		}
		return out
	}
	switch m := msg.(type) {
	case Join:
		m.Row = row(m.Row)
		return m
	case Admitted:
		m.Claim, m.Rows = claim(m.Claim), rows(m.Rows)
		return m
	case Leave:
		m.Row = row(m.Row)
		return m
	case Rows:
		m.Rows = rows(m.Rows)
		return m
	case Refresh:
		m.Claim, m.Rows = claim(m.Claim), rows(m.Rows)
		return m
	case Beacon:
		m.Claim = claim(m.Claim)
		if m.Seal == nil {
			m.Seal = s
		}
		return m
	case Confirmation:
		m.Claim = claim(m.Claim)
		return m
	case Stale:
		m.Claim = claim(m.Claim)
		return m
	case Alive:
		m.Seal = s
		return m
	case Objection:
		return sealObjection(m, claim, s)
	default:
		return msg
	}
}

func sealObjection(m Objection, claim func(Claim) Claim, s *feedring.Seal) Objection {
	if m.Alive != nil && m.Alive.Seal == nil {
		a := *m.Alive
		a.Seal = s
		m.Alive = &a
	}
	if m.Claim != nil {
		c := claim(*m.Claim)
		m.Claim = &c
	}
	return m
}

func short(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "https://"), "/rss")
}

func termText(t feedring.Term) string { return fmt.Sprintf("%d.%s", t.Number, t.Claimant) }

func headsText(heads []feedring.Head) string {
	var parts []string
	for _, h := range heads {
		parts = append(parts, fmt.Sprintf("%s:%d", short(h.Feed.URL), h.Position.Sequence))
	}
	return strings.Join(parts, ",")
}

func rowsText(rows []*Row) string {
	var parts []string
	for _, r := range rows {
		s := fmt.Sprintf("%s@%d.%d", r.Peer, r.Incarnation, r.Version)
		if r.Left {
			s += "(left)"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ",")
}

// describe writes a message as the scripts hold it.
func describe(msg Message) string {
	t := fmt.Sprintf("%s [%s]", msg.Verb(), termText(msg.Of().Term))
	switch m := msg.(type) {
	case Join:
		return t + " " + rowsText([]*Row{&m.Row})
	case Admitted:
		return fmt.Sprintf("%s secondary=%s rows=%s heads=%s", t, m.Secondary, rowsText(m.Rows), headsText(m.Heads))
	case Leave:
		return t + " " + rowsText([]*Row{&m.Row})
	case Rows:
		if len(m.Forgotten) > 0 {
			t += fmt.Sprintf(" forgotten=%v", m.Forgotten)
		}
		return t + " " + rowsText(m.Rows)
	case Beacon:
		return fmt.Sprintf("%s #%d secondary=%s acknowledged=%d away=%v heads=%s", t, m.Number, m.Secondary, m.Acknowledged, m.Away, headsText(m.Heads))
	case BeaconAnswer:
		return fmt.Sprintf("%s #%d leases=%d heads=%s", t, m.Number, m.Leases, headsText(m.Heads))
	case Refresh:
		return fmt.Sprintf("%s loads=%v rows=%s", t, m.Loads, rowsText(m.Rows))
	case Intention:
		return fmt.Sprintf("%s proposed=%d elapsed=%s", t, m.Proposed, m.Elapsed)
	case Objection:
		if m.Claim != nil {
			return fmt.Sprintf("%s claim=%s", t, termText(m.Claim.Term))
		}
		return t + " alive"
	case Confirmation:
		return fmt.Sprintf("%s secondary=%s", t, m.Secondary)
	case Stale:
		text := fmt.Sprintf("%s claim=%s acknowledged=%v", t, termText(m.Claim.Term), m.Acknowledged)
		if m.Again > 0 {
			text += fmt.Sprintf(" ask again in %s", m.Again)
		}
		return text
	case Notify:
		text := fmt.Sprintf("%s %s %d", t, short(m.Head.Feed.URL), m.Head.Position.Sequence)
		if len(m.Answer) > 0 {
			text += fmt.Sprintf(" and all after %d", m.After.Sequence)
		}
		return text
	case Heads:
		return fmt.Sprintf("%s %s more=%v", t, headsText(m.Heads), m.More)
	case Assign:
		if len(m.Copies) > 0 {
			return t + " copies=" + refsText(m.Copies)
		}
		return t
	case Assigned:
		if len(m.Copies) > 0 {
			return fmt.Sprintf("%s ok=%v leases=%d copies=%s", t, m.OK, m.Leases, refsText(m.Copies))
		}
		return fmt.Sprintf("%s ok=%v leases=%d", t, m.OK, m.Leases)
	default:
		return t
	}
}

func describePlaced(p Placed) string {
	var parts []string
	for _, g := range p.Grants {
		s := string(g.Provider.ID)
		if g.Own {
			s += "(own)"
		}
		for _, a := range g.Alternates {
			s += "+" + string(a.ID)
		}
		parts = append(parts, s)
	}
	text := fmt.Sprintf("served=%v grants=%v missing=%v", p.Served, parts, p.Missing)
	if len(p.Copies) > 0 {
		text += fmt.Sprintf(" copies=%v", p.Copies)
	}
	return text
}

func refsText(refs []feedring.FeedRef) string {
	var parts []string
	for _, ref := range refs {
		parts = append(parts, fmt.Sprintf("%s@%s", short(ref.URL), ref.Publisher))
	}
	return strings.Join(parts, ",")
}
