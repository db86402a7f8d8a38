package membership

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	helloStep   = 3 * time.Second         // one message of a hello
	helloAnswer = 4500 * time.Millisecond // the answer: a site may be asked about an invitation
)

// Reason is why a peer is not served.
type Reason int

// The reasons.
const (
	NoCredential    Reason = iota + 1 // none is shown that holds
	Expelled                          // it was ended
	CodeUsedUp                        // of an invitation
	CodeExpired                       // the same
	CodeUnknown                       // the same
	CodeOfOtherSite                   // the site does not name the peer
	OtherUnproven                     // the other side shows no credential
	OtherExpelled                     // the other side's was ended
)

// RefusedError is for a peer that is not served on a network with a charter.
type RefusedError struct {
	Network string
	Mode    charter.Mode // 0: not known
	Reason  Reason
}

// Error implements error.
func (e *RefusedError) Error() string {
	mode := "has a charter"
	if e.Mode != 0 {
		mode = "is " + e.Mode.String()
	}
	what := map[Reason]string{
		NoCredential: "this side has no credential for it", Expelled: "this side was expelled: its credential is not valid any more",
		CodeUsedUp: "the invitation is used up, so it gives no credential", CodeExpired: "the invitation has expired, so it gives no credential",
		CodeUnknown:     "the peer gave no such invitation, so there is no credential",
		CodeOfOtherSite: "the invitation's site does not name this peer, so it gives no credential",
		OtherUnproven:   "the other side has no credential for it",
		OtherExpelled:   "the other side was expelled, so it serves nobody",
	}[e.Reason]
	return fmt.Sprintf("the network %s %s, and %s", e.Network, mode, what)
}

var reasons = map[feedringv1.HelloRefusal]Reason{
	feedringv1.HelloRefusal_HELLO_REFUSAL_EXPELLED: Expelled,
	feedringv1.HelloRefusal_HELLO_REFUSAL_USED_UP:  CodeUsedUp,
	feedringv1.HelloRefusal_HELLO_REFUSAL_EXPIRED:  CodeExpired,
	feedringv1.HelloRefusal_HELLO_REFUSAL_UNKNOWN:  CodeUnknown,
	feedringv1.HelloRefusal_HELLO_REFUSAL_SITE:     CodeOfOtherSite,
}

func (k *Keeper) refused(why Reason, mode charter.Mode) error {
	if c := k.charter.Load(); mode == 0 && c != nil {
		mode = c.Mode
	}
	return &RefusedError{k.network, mode, why}
}

// proof is what this peer shows.
func (k *Keeper) proof() (h charters.Hello) {
	if k.charter.Load() != nil {
		now, id := time.Now(), k.self()
		roll := k.Roll()
		h.Statements, h.Roll, h.Whole, h.Site = roll.Proof(id, now), roll.Hash(), roll.Whole(), k.siteOf(id, now)
	}
	return h
}

// Greet implements host.Door.
func (k *Keeper) Greet(ctx context.Context, to feedring.PeerID, s network.Stream) error {
	return k.greet(ctx, to, s, k.proof(), nil)
}

// greet says hello and takes the answer. invitation redeems one; nil: none.
func (k *Keeper) greet(ctx context.Context, to feedring.PeerID, s io.ReadWriteCloser, says charters.Hello, invitation *wire.Sealer) error {
	p, err := charters.HelloTo(says, k.self(), invitation)
	if err != nil {
		return err
	}
	frames := wire.NewStream(s)
	if err := frames.Send(p, helloStep); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	var answer feedringv1.Hello
	if err := frames.Receive(&answer, helloAnswer); err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	heard, err := charters.HelloFrom(k.network, to, &answer)
	if err != nil {
		return err
	}
	if err := k.learn(heard.Charter); err != nil {
		return err
	}
	if err := k.takeFrom(answer.GetStatements(), charter.MaxProof); err != nil {
		return err
	}
	k.tellSites(to, []charters.NamedPeer{{Peer: to, Site: heard.Site}})
	switch why, known := reasons[heard.Refusal]; {
	case known:
		return k.refused(why, heard.Mode)
	case k.isMember() && k.Roll().Expelled(to, time.Now()):
		return k.refused(OtherExpelled, 0)
	case heard.Refusal != feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED && (k.isVouched() || k.isMember() && !k.member(to)):
		return k.refused(OtherUnproven, 0)
	case heard.Refusal != feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED, k.charter.Load() == nil, !k.member(k.self()):
		return k.refused(NoCredential, heard.Mode)
	case !k.Admits(to):
		return k.refused(OtherUnproven, 0)
	}
	if k.host != nil && !same(k.Roll(), heard.Roll, heard.Whole) && ctx.Err() == nil {
		go k.exchangeSoon(to)
	}
	return nil
}

// ServeHello answers the hello of another peer.
func (k *Keeper) ServeHello(from feedring.PeerID, frames *wire.Stream) error {
	var p feedringv1.Hello
	if err := frames.Receive(&p, helloStep); err != nil {
		return err
	}
	heard, err := charters.HelloFrom(k.network, from, &p)
	if err != nil {
		return err
	}
	if err := k.takeFrom(p.GetStatements(), charter.MaxProof); err != nil {
		return err
	}
	k.tellSites(from, []charters.NamedPeer{{Peer: from, Site: heard.Site}})
	answer := k.answer(from, heard)
	out, err := charters.HelloTo(answer, "", nil)
	if err != nil {
		return err
	}
	if err := frames.Send(out, helloStep); err != nil {
		return err
	}
	if answer.Refusal == feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED {
		k.host.Welcome(from)
	}
	return nil
}

// answer judges a hello.
func (k *Keeper) answer(from feedring.PeerID, heard charters.Hello) charters.Hello {
	no := charters.Hello{Refusal: feedringv1.HelloRefusal_HELLO_REFUSAL_CREDENTIAL}
	c := k.charter.Load()
	if c == nil {
		return no
	}
	no.Mode = c.Mode
	if !k.member(k.self()) {
		if now := time.Now(); k.member(from) && k.Roll().Expelled(k.self(), now) {
			no.Statements = k.Roll().Proof(k.self(), now) // that it is not the other side's fault
		}
		return no
	}
	if heard.Invitation != "" && c.Mode == charter.Closed {
		if no.Refusal = k.redeem(from, heard.Invitation); no.Refusal != feedringv1.HelloRefusal_HELLO_REFUSAL_UNSPECIFIED {
			return no
		}
	}
	now := time.Now()
	if !k.member(from) {
		no.Refusal = feedringv1.HelloRefusal_HELLO_REFUSAL_CREDENTIAL
		if k.Roll().Expelled(from, now) {
			no.Refusal, no.Statements = feedringv1.HelloRefusal_HELLO_REFUSAL_EXPELLED, k.Roll().Proof(from, now)
		}
		return no
	}
	k.renew(from)
	yes := k.proof()
	yes.Statements = append(yes.Statements, k.Roll().Proof(from, now)...)
	if c.Mode == charter.Vouched {
		yes.Mode, yes.Charter = c.Mode, c.Text
	}
	return yes
}

// Ended reports whether an error says that this side is no member.
func Ended(err error) bool {
	e, refused := IsRefused(err)
	return refused && e.Reason <= Expelled
}

// IsRefused reports whether an error says that a peer is not served, and why.
func IsRefused(err error) (e *RefusedError, refused bool) {
	refused = errors.As(err, &e)
	return e, refused
}
