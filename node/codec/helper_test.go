package codec_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

const network = "test"

// messages is one of every kind. TestEveryMessageHasACodec holds it against
// the source.
var messages = []feedring.Message{
	group.Join{}, group.Admitted{}, group.Leave{}, group.HandOver{},
	group.Beacon{}, group.BeaconAnswer{}, group.Refresh{}, group.Refreshed{},
	group.RowsWanted{}, group.Rows{}, group.HeadsWanted{}, group.Heads{}, group.Evidence{},
	group.Intention{}, group.Probe{}, group.Alive{}, group.Objection{}, group.Confirmation{}, group.Stale{}, group.Replace{},
	group.Notify{}, group.Place{}, group.Placed{}, group.Assign{}, group.Assigned{},
	group.AssignmentsWanted{}, group.Assignments{}, group.FetchRequest{},
	ring.Swap{}, ring.Versions{}, ring.Rows{}, ring.Search{}, ring.SearchAck{}, ring.FoundGroup{}, ring.Exhausted{},
	peer.Query{}, peer.Accepted{}, peer.Final{},
}

// newSealer makes the peer number n, the same each time.
func newSealer(t testing.TB, n byte) *wire.Sealer {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSealer(key, network)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// body takes the length off a frame.
func body(t testing.TB, frame []byte) []byte {
	t.Helper()
	size, n := binary.Uvarint(frame)
	if n <= 0 || int(size) != len(frame)-n {
		t.Fatalf("a frame of %d bytes says %d", len(frame), size)
	}
	return frame[n:]
}

func encode(t testing.TB, s *wire.Sealer, m feedring.Message) []byte {
	t.Helper()
	frame, err := codec.Encode(s, m)
	if err != nil {
		t.Fatal(err)
	}
	return body(t, frame)
}

// maker makes random messages that self could send.
type maker struct {
	*rand.Rand
	self  feedring.PeerID
	peers []feedring.PeerID
	fork  feedring.Fork
	full  bool // no list is empty, no pointer nil
}

func newMaker(t testing.TB, seed uint64) *maker {
	mk := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), self: newSealer(t, 1).ID(), fork: newFork(t, newSealer(t, 1))}
	for n := range byte(5) {
		mk.peers = append(mk.peers, newSealer(t, n+1).ID())
	}
	return mk
}

// newFork is two entries of a peer at one position.
func newFork(t testing.TB, by *wire.Sealer) feedring.Fork {
	t.Helper()
	var seals []*feedring.Seal
	for _, title := range []string{"one", "another"} {
		e := wiretest.SampleEntry(by.ID())
		e.Title = title
		payload, err := wire.EncodeEntry(e, [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		seals = append(seals, by.Seal(wire.KindEntry, payload))
	}
	fork, err := wire.ForkOf(seals[0], seals[1])
	if err != nil {
		t.Fatal(err)
	}
	return fork
}

func (mk *maker) like(m feedring.Message) feedring.Message {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	mk.fill(v)
	return v.Interface().(feedring.Message)
}

// fill fills v with what may be there, then makes it true to its owner.
func (mk *maker) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case *feedring.Seal:
		return
	case feedring.Hints: // what is asked for stays with who makes the grant
		h := feedring.Hints{Copies: make([]feedring.Hint, mk.IntN(4))}
		at := mk.Int64N(1 << 31)
		for i := range h.Copies {
			at -= mk.Int64N(1000)
			h.Copies[i] = feedring.Hint{Copy: mk.Uint64(), Published: time.Unix(at, 0).UTC()}
		}
		v.Set(reflect.ValueOf(h))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(mk.Int64N(1<<41) + 1).UTC()))
		return
	case time.Duration:
		v.Set(reflect.ValueOf(time.Duration(mk.IntN(1<<30)) * time.Millisecond))
		return
	case feedring.PeerID:
		v.SetString(string(mk.peers[mk.IntN(len(mk.peers))]))
		return
	case feedring.Theme:
		v.SetString(string(feedring.Vocabulary[mk.IntN(len(feedring.Vocabulary))]))
		return
	case feedring.Status, ring.Direction:
		v.SetUint(1 + mk.Uint64N(3))
		return
	}
	mk.fillKind(v)
	mk.own(v.Addr().Interface())
}

func (mk *maker) fillKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			mk.fill(v.Field(i))
			if v.Type().Field(i).Name == "C" {
				v.Field(i).SetInt(int64(mk.Int32()))
			}
		}
	case reflect.Slice:
		if n := mk.IntN(4); n > 0 || mk.full {
			v.Set(reflect.MakeSlice(v.Type(), max(n, 1), max(n, 1)))
			for i := range v.Len() {
				mk.fillItem(v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			mk.fill(v.Index(i))
		}
	case reflect.Pointer:
		if mk.full || mk.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			mk.fill(v.Elem())
		}
	case reflect.String:
		v.SetString(string([]rune("aé漢/ :.0")[mk.IntN(8):]))
	case reflect.Bool:
		v.SetBool(mk.full || mk.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(mk.Int64N(math.MaxInt32 + 1))
	case reflect.Uint8:
		v.SetUint(mk.Uint64N(256))
	case reflect.Uint32:
		v.SetUint(uint64(mk.Uint32()))
	case reflect.Uint64:
		v.SetUint(mk.Uint64())
	default:
		panic("a message has a field of a new kind: " + v.Type().String())
	}
}

var news = feedring.Theme("news").Group()

func (mk *maker) own(p any) {
	switch s := p.(type) {
	case *feedring.Fork:
		*s = mk.fork
	case *group.Header:
		s.Group = news
	case *group.Claim:
		s.Group, s.Term.Claimant = news, mk.self
	case *group.Row:
		s.Group, s.Peer = news, mk.self
	case *group.Alive:
		s.Term.Claimant = mk.self
	case *ring.Row:
		s.Group, s.Term.Claimant, s.Manager.ID = s.Theme.Group(), mk.self, mk.self
	case *ring.Lost:
		s.By = mk.self
	}
}

// fillItem fills an item of a list: no item is nil.
func (mk *maker) fillItem(v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	mk.fill(v)
}

// unseal returns a copy of m without seals.
func unseal(m feedring.Message) feedring.Message {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	v.Set(reflect.ValueOf(m))
	strip(v)
	return v.Interface().(feedring.Message)
}

func strip(v reflect.Value) {
	if _, ok := v.Interface().(*feedring.Seal); ok {
		v.SetZero()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			return
		}
		for i := range v.NumField() {
			strip(v.Field(i))
		}
	case reflect.Slice:
		if v.Len() > 0 {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			strip(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			strip(v.Elem())
		}
	}
}
