package codec_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring/internal/presence"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestPresence: what a process says comes back through a witness as it was, and
// nothing else passes for it.
func TestPresence(t *testing.T) {
	self, other, v := newSealer(t, 1), newSealer(t, 2), wire.NewVerifier(network)
	said := presence.Statement{
		Instance: 1 << 63, Count: 7, Since: time.UnixMilli(1_700_000_000_123).UTC(), Publishes: true, Epoch: 9,
		Addrs: []string{"/ip4/192.0.2.1/tcp/7377"}, Seen: []presence.Sight{{Instance: 5, Count: 6}},
	}
	told := func(s presence.Statement) *feedringv1.PresenceRequest {
		req, err := codec.PresenceTo(self, s)
		if err != nil {
			t.Fatal(err)
		}
		return req
	}
	heard, err := codec.PresenceFrom(v, self.ID(), told(said).GetStatement())
	if err != nil {
		t.Fatal(err)
	}
	back, err := codec.HeardFrom(v, self.ID(), codec.HeardTo([]presence.HeardStatement{{Statement: heard, Age: 3 * time.Second}}))
	if err != nil || len(back.Others) != 1 || back.Others[0].Age != 3*time.Second {
		t.Fatalf("%+v, %v", back, err)
	}
	got := back.Others[0].Statement
	if got.Seal = nil; !reflect.DeepEqual(got, said) {
		t.Errorf("%+v came back as %+v", said, got)
	}

	sealed := told(said).GetStatement()
	spoilt := proto.Clone(sealed).(*feedringv1.Sealed)
	spoilt.Payload[0] ^= 1
	many := said
	many.Seen = make([]presence.Sight, presence.MaxSeen+1)
	nobody := said
	nobody.Instance = 0
	for name, bad := range map[string]struct {
		sealed *feedringv1.Sealed
		want   error
	}{
		"spoilt": {spoilt, wire.ErrSignature}, "none": {nil, wire.ErrMalformed},
		"too much": {told(many).GetStatement(), wire.ErrTooLarge}, "no process": {told(nobody).GetStatement(), wire.ErrMalformed},
		"long": {&feedringv1.Sealed{Payload: make([]byte, 1<<20)}, wire.ErrTooLarge},
	} {
		if _, err := codec.PresenceFrom(v, self.ID(), bad.sealed); !errors.Is(err, bad.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := codec.PresenceFrom(v, other.ID(), sealed); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("another peer's: %v", err)
	}
	reply := &feedringv1.PresenceReply{Others: make([]*feedringv1.PresenceHeard, 1000)}
	if _, err := codec.HeardFrom(v, self.ID(), reply); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("an endless answer: %v", err)
	}
}
