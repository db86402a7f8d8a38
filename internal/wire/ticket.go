package wire

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const maxTicketPeers = 8

// Ticket seals t as the manager that assigned its peers. A ticket that names
// something that is no peer id gets a seal that no VerifyTicket accepts.
func (s *Sealer) Ticket(t feedring.Ticket) *feedring.Seal {
	// Marshalling byte fields and numbers cannot fail.
	payload, _ := proto.MarshalOptions{Deterministic: true}.Marshal(ticketBody(&t))
	return s.SealAgain(KindTicket, payload)
}

func ticketBody(t *feedring.Ticket) *feedringv1.TicketBody {
	return &feedringv1.TicketBody{
		Id: t.ID[:], Attempt: t.Attempt, Group: t.Group[:], Client: peerid.Bytes(t.Client),
		Peers:        Each(t.Peers, func(p *feedring.PeerID) []byte { return peerid.Bytes(*p) }),
		ExpiryUnixMs: TimeTo(t.Expiry),
	}
}

// DecodeTicket opens a sealed ticket. It does not check the signature: see
// VerifyTicket.
func DecodeTicket(seal *feedring.Seal) (feedring.Ticket, error) {
	if seal == nil {
		return feedring.Ticket{}, fmt.Errorf("ticket: %w: it is not there", ErrMalformed)
	}
	var b feedringv1.TicketBody
	if err := Unmarshal(seal.Payload, &b); err != nil {
		return feedring.Ticket{}, err
	}
	var d Decoder
	t := feedring.Ticket{
		ID: d.Query("id", b.GetId()), Attempt: b.GetAttempt(), Group: d.Group("group", b.GetGroup()),
		Client: d.Peer("client", b.GetClient()), Peers: d.Peers("peers", b.GetPeers(), maxTicketPeers),
		Expiry: d.Time("expiry", b.GetExpiryUnixMs()), Seal: seal,
	}
	if d.Err() != nil {
		return feedring.Ticket{}, fmt.Errorf("ticket: %w", d.Err())
	}
	return t, nil
}

// VerifyTicket checks that t says what its seal says, and that the seal was
// made by its signer for this network. Whether that signer may assign anything
// in the group, only a member can tell; who presents it and when, the caller.
func VerifyTicket(network string, t feedring.Ticket) error {
	if err := Verify(network, KindTicket, t.Seal); err != nil {
		return err
	}
	told, err := DecodeTicket(t.Seal)
	if err != nil {
		return err
	}
	expiry := t.Expiry.Truncate(time.Millisecond)
	if told.ID != t.ID || told.Attempt != t.Attempt || told.Group != t.Group || told.Client != t.Client ||
		!slices.Equal(told.Peers, t.Peers) || !told.Expiry.Equal(expiry) {
		return fmt.Errorf("ticket: %w: it says something else than what was signed", ErrSignature)
	}
	return nil
}
