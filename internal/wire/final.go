package wire

import (
	"fmt"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	maxGrants     = 4096 // every publisher of a provider, or every group
	maxAlternates = 3
	maxMissing    = 4096
	maxMissingLen = feedring.MaxTheme + 1 + maxProvider
	maxSuggest    = 16
)

// Final is the answer to one attempt. Its tickets must be sealed.
func (e *Encoder) Final(f *feedring.Final) *feedringv1.Final {
	return &feedringv1.Final{
		Id: f.ID[:], Attempt: f.Attempt, Status: feedringv1.Status(f.Status), Grants: e.Grants(f.Grants),
		Missing: f.Missing, Hops: CountTo(f.Hops), Messages: CountTo(f.Messages), Suggest: f.Suggest,
		Copies: f.Copies,
	}
}

// Grants is the providers for a client. Their tickets must be sealed.
func (e *Encoder) Grants(list []feedring.Grant) []*feedringv1.Grant {
	return Each(list, func(g *feedring.Grant) *feedringv1.Grant {
		if g.Ticket.Seal == nil {
			e.Fail(fmt.Errorf("grant of %s: %w: its ticket is not sealed", g.Provider.ID.Short(), ErrMalformed))
		}
		return &feedringv1.Grant{
			Theme: string(g.Theme), Provider: e.Info(g.Provider),
			Alternates: Each(g.Alternates, func(p *feedring.PeerInfo) *feedringv1.PeerInfo { return e.Info(*p) }),
			Own:        g.Own, Ticket: SealTo(g.Ticket.Seal), Hints: hintsTo(g.Hints),
		}
	})
}

// Final reads the answer to one attempt. The signatures of its tickets are not
// checked.
func (d *Decoder) Final(f *feedringv1.Final) feedring.Final {
	status := feedring.Status(f.GetStatus())
	if f.GetStatus() < feedringv1.Status_STATUS_ANSWERED || f.GetStatus() > feedringv1.Status_STATUS_INCOMPLETE {
		d.Malformed("status", "unknown")
	}
	return feedring.Final{
		ID: d.Query("id", f.GetId()), Attempt: f.GetAttempt(), Status: status,
		Grants:  d.Grants(f.GetGrants()),
		Missing: d.Texts("missing", f.GetMissing(), maxMissing, maxMissingLen),
		Hops:    d.Count("hops", f.GetHops()), Messages: d.Count("messages", f.GetMessages()),
		Suggest: d.Texts("suggest", f.GetSuggest(), maxSuggest, maxMissingLen),
		Copies:  d.Texts("copies", f.GetCopies(), maxMissing, maxMissingLen),
	}
}

// Grants reads the providers for a client. The signatures of their tickets are
// not checked.
func (d *Decoder) Grants(list []*feedringv1.Grant) []feedring.Grant {
	if !d.Within("grants", len(list), maxGrants) {
		return nil
	}
	return Each(list, func(g **feedringv1.Grant) feedring.Grant { return d.grant(*g) })
}

func (d *Decoder) grant(g *feedringv1.Grant) feedring.Grant {
	ticket, err := DecodeTicket(SealFrom(g.GetTicket()))
	d.Fail(err)
	if !d.Within("alternates", len(g.GetAlternates()), maxAlternates) {
		return feedring.Grant{}
	}
	return feedring.Grant{
		Theme: d.Theme("theme", g.GetTheme()), Provider: d.Info("provider", g.GetProvider()),
		Alternates: Each(g.GetAlternates(), func(p **feedringv1.PeerInfo) feedring.PeerInfo { return d.Info("alternate", *p) }),
		Own:        g.GetOwn(), Ticket: ticket, Hints: d.hints(g.GetHints()),
	}
}
