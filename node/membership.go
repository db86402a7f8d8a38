package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/transport"
)

// members is what a peer knows of the members of its network; nil: that is open.
type members struct{ *membership.Keeper }

// door is who decides whom the host serves.
func (m *members) door() host.Door {
	if m == nil {
		return nil
	}
	return m
}

// openMembers finds out which network the data directory belongs to: what was made by
// "network create" or joined by a code needs no --network.
func (n *Node) openMembers() error {
	is, err := membership.NetworkOf(n.cfg.Data)
	switch {
	case err != nil:
		return err
	case is == "" && !charter.Names(n.cfg.Network):
		return nil
	case is == "":
		if _, err := os.Stat(storeIn(n.cfg.Data)); errors.Is(err, os.ErrNotExist) {
			if err := membership.NoteName(n.cfg.Data, n.cfg.Network); err != nil {
				return fmt.Errorf("data directory: %w", err)
			}
		}
		n.members = &members{membership.Stranger(n.cfg.Network, n.cfg.Data)}
		n.log.Warn(web.AdviseCredential.To("this peer has no credential for its network: it serves nobody and is served nothing"), "network", n.cfg.Network)
		return nil
	case n.cfg.Network != Default().Network && n.cfg.Network != is:
		return &feedring.SettingError{Setting: "network", Value: n.cfg.Network, Err: &membership.OtherError{Data: n.cfg.Data, Network: is}}
	}
	n.cfg.Network = is
	keeper, err := membership.Open(n.cfg.Data)
	if err != nil {
		return err
	}
	n.members = &members{keeper}
	n.cfg.Join = append(n.cfg.Join[:len(n.cfg.Join):len(n.cfg.Join)], keeper.Addresses()...)
	self := keeper.Self()
	about := []any{"network", is, "label", self.Label, "mode", self.Mode, "rights", strings.Join(self.Rights.List(), " ")}
	if !self.Until.IsZero() {
		about = append(about, "until", self.Until)
	}
	n.log.Info("network with a charter", about...)
	if self.Mode == charter.Vouched && !self.Expelled {
		return nil // whether a site names this peer is to be found out
	}
	for _, warning := range n.members.Warnings() {
		n.log.Warn(warning)
	}
	return nil
}

// Network is the name of the peer's network.
func (n *Node) Network() string { return n.cfg.Network }

// Warnings is what is wrong with this peer's membership, and what to do.
func (m *members) Warnings() []string {
	if m == nil {
		return nil
	}
	self := m.Self()
	switch {
	case self.Mode == charter.Vouched && !self.Expelled:
		if self.Site == "" {
			return []string{warnGuest}
		}
		return nil
	case m.stranger():
		return []string{web.AdviseCredential.To("this peer has no credential for its network: it serves nobody and is served nothing")}
	case self.Expelled:
		return []string{web.AdviseAdmin.To("this peer was expelled, so its credential is not valid any more: it serves nobody and is served nothing")}
	case self.Rights == 0:
		return []string{web.AdviseAdmin.To("this peer's credential is not valid any more: it serves nobody and is served nothing")}
	case m.readsOnly():
		return []string{web.AdviseRole.To("this peer's credential lets it read only: it takes part in no group, and publishes no feed")}
	case time.Until(self.Until) < membership.RenewIn/2: // others renew before
		return []string{web.AdviseAdmin.To("this peer's credential is valid until " + self.Until.UTC().Format(time.RFC3339) + " and was not renewed")}
	}
	return nil
}

// Status is what the peer tells of its membership; nil on an open network.
func (m *members) Status() *web.MembershipStatus {
	if m == nil {
		return nil
	}
	self := m.Self()
	st := &web.MembershipStatus{Label: self.Label, Rights: self.Rights.List(), Expelled: self.Expelled, Site: self.Site}
	if !self.Until.IsZero() || self.Mode != charter.Vouched {
		st.Until = self.Until.UTC().Truncate(time.Second)
	}
	if self.Mode != 0 {
		st.Mode = self.Mode.String()
	}
	return st
}

// stranger reports whether this peer has no charter of its network, or never had a credential
// that it needs there.
func (m *members) stranger() bool {
	if m == nil {
		return false
	}
	self := m.Self()
	return self.Mode == 0 || self.Mode == charter.Closed && !self.Known
}

// serves reports whether this peer may take part in groups.
func (m *members) serves() bool {
	return m == nil || m.stranger() || m.Self().Rights.Has(charter.Serve)
}

// verifier checks what others signed, and on a network with a charter that they might.
func (n *Node) newVerifier() *wire.Verifier {
	v := wire.NewVerifier(n.cfg.Network)
	if n.members == nil {
		return v
	}
	return v.For(n.members)
}

// listenForMembers serves hellos, and exchanges rolls, until the peer stops.
func (n *Node) listenForMembers() {
	if n.members == nil {
		return
	}
	n.members.Begin(n.host, siteNames{n}, n.log)
	n.server.Handle(wire.VerbHello, transport.Bound{All: 64, Each: 4}, transport.HandlerFunc(n.members.ServeHello))
	n.server.Handle(wire.VerbRoll, transport.Bound{All: 32, Each: 4}, transport.HandlerFunc(n.members.ServeRoll))
	n.background(func() { n.members.Run(n.ctx, n.cfg.Refresh) })
}

// siteNames asks sites whether they name a peer.
type siteNames struct{ n *Node }

const siteNamesWithin = 4 * time.Second // whoever redeems a code waits for it

// Names implements membership.Sites. A site may name its peer for the open network: it
// joins this one only now.
func (s siteNames) Names(site string, p feedring.PeerID) bool {
	ctx, cancel := context.WithTimeout(s.n.ctx, siteNamesWithin)
	defer cancel()
	checker := s.n.checker()
	for _, checker.Network = range []string{s.n.cfg.Network, Default().Network} {
		if verdict, err := checker.Check(ctx, site, p, nil); err == nil && verdict.Named {
			return true
		}
	}
	return false
}

// Invite implements web.Network.
func (m *membersAPI) Invite(w web.Invitation) (string, error) {
	what := membership.Invitation{Valid: w.Valid, Uses: w.Uses, Site: w.Site}
	switch w.Role {
	case "read":
		what.Rights = charter.Read
	case "publish":
		what.Rights = charter.Invited
	default:
		return "", web.ErrMalformed.Of(fmt.Errorf("%.20q is no role: there are publish and read", w.Role))
	}
	if w.Valid <= 0 || w.Valid > membership.MaxValid || w.Uses < 1 || w.Uses > membership.MaxUses {
		return "", web.ErrMalformed.Of(fmt.Errorf("an invitation is valid for a year at most, and for 1 to %d peers", membership.MaxUses))
	}
	if w.Site != "" && len(vouch.SitesOf("https://"+w.Site+"/")) == 0 {
		return "", web.ErrMalformed.Of(fmt.Errorf("%.100q is no domain", w.Site))
	}
	code, err := m.keeper.Invite(what, m.host.Listening())
	if errors.Is(err, membership.ErrNoNeed) {
		return "", web.ErrMalformed.Of(err)
	}
	return code, err
}

// Take implements web.Network.
func (m *membersAPI) Take(statements []byte) (int, error) {
	list, err := membership.ReadStatements(m.keeper.Network(), statements)
	if err != nil {
		return 0, web.ErrMalformed.Of(err)
	}
	return m.keeper.Merge(list)
}

// membersAPI is the part of the API about members.
type membersAPI struct {
	keeper *membership.Keeper
	host   *host.Host
	of     *Node
}

// membersAPI returns it; nil on an open network.
func (n *Node) membersAPI() web.Network {
	if n.members == nil {
		return nil
	}
	return &membersAPI{n.members.Keeper, n.host, n}
}

// readable leaves out what this peer may not take part in.
func (n *Node) readable(o peer.Offer) peer.Offer {
	if !n.members.serves() {
		o.Read = nil
	}
	if n.members.guest() || n.members.readsOnly() {
		o.Feeds, o.Volunteer = nil, false
	}
	return o
}

// readsOnly reports whether this peer has a credential that is valid, and lets it neither
// publish nor serve.
func (m *members) readsOnly() bool {
	if m == nil {
		return false
	}
	self := m.Self()
	return self.Mode == charter.Closed && self.Rights != 0 && !self.Rights.Has(charter.Serve|charter.Publish)
}

// guest reports whether the network is of the mode vouched, and no site names this peer.
func (m *members) guest() bool {
	return m != nil && m.HidesAny() && m.Self().Site == ""
}

// Hides, HidesAny, HideChanges and AskAgain are those of the keeper; on an open network
// nobody needs to be named.

// Hides implements admin.Members.
func (m *members) Hides(p feedring.PeerID) bool { return m != nil && m.Keeper.Hides(p) }

// HidesAny implements admin.Members.
func (m *members) HidesAny() bool { return m != nil && m.Keeper.HidesAny() }

// removals is who knows what moderators removed; nil: the network is open.
func (m *members) removals() *membership.Keeper {
	if m == nil {
		return nil
	}
	return m.Keeper
}

// RemovesFeed implements admin.Members.
func (m *members) RemovesFeed(ref feedring.FeedRef) bool { return m.removals().RemovesFeed(ref) }

// RemovesAny implements admin.Members.
func (m *members) RemovesAny() bool { return m.removals().RemovesAny() }

// HideChanges is another number whenever Hides became another one.
func (m *members) HideChanges() uint64 {
	if m == nil {
		return 0
	}
	return m.Keeper.HideChanges()
}

// vouch has the sites asked that may name peers, where one must.
func (m *members) vouch(l *siteAsker, refresh time.Duration) {
	if m != nil {
		m.Keeper.Vouch(l, refresh)
	}
}

// AskAgain implements admin.Members.
func (m *members) AskAgain() {
	if m != nil {
		m.Keeper.AskAgain()
	}
}

// webMembers is what the HTTP side asks; nil on an open network.
func (n *Node) webMembers() web.Members {
	if n.members == nil {
		return nil
	}
	return webMembers{n.members, n.cfg.HTTPOpen}
}

type webMembers struct {
	members *members
	open    bool // to everybody who can reach it
}

// Closed implements web.Members.
func (w webMembers) Closed() bool { return !w.open && !w.members.HidesAny() }

// Stranger implements web.Members.
func (w webMembers) Stranger() bool { return w.members.stranger() }
