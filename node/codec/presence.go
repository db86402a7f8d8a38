package codec

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/presence"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	maxPresence = 8 << 10 // bytes of one statement
	maxHeard    = 16      // statements of one answer
)

// PresenceTo is what a process tells a witness.
func PresenceTo(sealer *wire.Sealer, s presence.Statement) (*feedringv1.PresenceRequest, error) {
	e := encoder{sealer: sealer}
	body := &feedringv1.PresenceBody{
		Instance: s.Instance, Count: s.Count, SinceUnixMs: wire.TimeTo(s.Since), Publishes: s.Publishes, Gone: s.Gone,
		Epoch: s.Epoch, Addrs: s.Addrs,
		Seen: each(s.Seen, func(at *presence.Sight) *feedringv1.PresenceSeen {
			return &feedringv1.PresenceSeen{Instance: at.Instance, Count: at.Count}
		}),
	}
	return &feedringv1.PresenceRequest{Statement: e.seal(wire.KindPresence, sealer.ID(), body)}, e.Err()
}

// PresenceFrom is the inverse of PresenceTo: a statement of one peer.
func PresenceFrom(v *wire.Verifier, of feedring.PeerID, sealed *feedringv1.Sealed) (presence.Statement, error) {
	d := decoder{verifier: v}
	s := d.presence(of, sealed)
	if d.Err() != nil {
		return presence.Statement{}, fmt.Errorf("presence: %w", d.Err())
	}
	return s, nil
}

func (d *decoder) presence(of feedring.PeerID, sealed *feedringv1.Sealed) presence.Statement {
	if !d.Within("statement", len(sealed.GetPayload()), maxPresence) {
		return presence.Statement{}
	}
	var b feedringv1.PresenceBody
	seal := d.open(wire.KindPresence, sealed, &b)
	if seal == nil {
		return presence.Statement{}
	}
	if seal.Signer != of {
		d.Malformed("statement", "it is another peer's")
	}
	s := presence.Statement{
		Instance: b.GetInstance(), Count: b.GetCount(), Since: d.Time("since", b.GetSinceUnixMs()), Publishes: b.GetPublishes(),
		Gone: b.GetGone(), Epoch: b.GetEpoch(), Addrs: d.Addrs("addrs", b.GetAddrs()), Seal: seal,
	}
	if d.Within("addrs", len(s.Addrs), presence.MaxAddrs) && d.Within("seen", len(b.GetSeen()), presence.MaxSeen) {
		s.Seen = each(b.GetSeen(), func(at **feedringv1.PresenceSeen) presence.Sight {
			return presence.Sight{Instance: (*at).GetInstance(), Count: (*at).GetCount()}
		})
	}
	if s.Instance == 0 || s.Count == 0 {
		d.Malformed("statement", "it names no process")
	}
	return s
}

// HeardTo is what a witness answers.
func HeardTo(others []presence.HeardStatement) *feedringv1.PresenceReply {
	return &feedringv1.PresenceReply{Others: each(others, func(t *presence.HeardStatement) *feedringv1.PresenceHeard {
		return &feedringv1.PresenceHeard{Statement: wire.SealTo(t.Statement.Seal), AgeMs: wire.SpanTo(t.Age)}
	})}
}

// HeardFrom is the inverse of HeardTo: statements of one peer.
func HeardFrom(v *wire.Verifier, of feedring.PeerID, r *feedringv1.PresenceReply) (presence.Heard, error) {
	d := decoder{verifier: v}
	var heard presence.Heard
	if d.Within("others", len(r.GetOthers()), maxHeard) {
		for _, other := range r.GetOthers() {
			heard.Others = append(heard.Others, presence.HeardStatement{
				Statement: d.presence(of, other.GetStatement()), Age: max(0, time.Duration(d.Span("age", other.GetAgeMs()))),
			})
		}
	}
	if d.Err() != nil {
		return presence.Heard{}, fmt.Errorf("presence: %w", d.Err())
	}
	return heard, nil
}
