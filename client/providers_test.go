package client

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestWhoGrantsConfirmsFirst: an empty answer is confirmed by the last that a grant names. Whoever
// is asked last comes behind the others, but for the manager that signed the grant: a member can
// sign an entry that the manager never had.
func TestWhoGrantsConfirmsFirst(t *testing.T) {
	c := &Client{}
	for _, p := range []feedring.PeerID{"manager", "b"} {
		c.askedLast.note(p, time.Now())
	}
	order := func(signer feedring.PeerID, aim aim) (ids []feedring.PeerID) {
		g := feedring.Grant{Provider: feedring.PeerInfo{ID: "a"}, Ticket: feedring.Ticket{Seal: &feedring.Seal{Signer: signer}}}
		for _, p := range []feedring.PeerID{"b", "c", "manager"} {
			g.Alternates = append(g.Alternates, feedring.PeerInfo{ID: p})
		}
		s := &session{client: c, grant: g, aim: aim, skip: map[feedring.PeerID]bool{"a": aim == confirms}}
		for _, p := range s.providers() {
			ids = append(ids, p.ID)
		}
		return ids
	}
	if got := order("manager", confirms); !slices.Equal(got, []feedring.PeerID{"manager", "c", "b"}) {
		t.Errorf("%q confirm", got)
	}
	if got := order("secondary", confirms); !slices.Equal(got, []feedring.PeerID{"c", "manager", "b"}) {
		t.Errorf("of another's grant %q confirm", got)
	}
	if got := order("manager", serves); !slices.Equal(got, []feedring.PeerID{"a", "c", "b", "manager"}) {
		t.Errorf("%q serve", got)
	}
}
