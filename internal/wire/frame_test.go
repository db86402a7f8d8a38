package wire_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

// TestFramesAreDelimitedMessages compares with protobuf's own writer of
// delimited messages, whose frames libp2p's pbio writes too.
func TestFramesAreDelimitedMessages(t *testing.T) {
	sizes := []int{0, 1, 127, 128, 5000, 100_000, wire.MaxMessage - 16}
	var ours, theirs buffer
	s := wire.NewStream(&ours)
	for _, size := range sizes {
		m := &feedringv1.Sealed{Payload: bytes.Repeat([]byte{'x'}, size)}
		if err := s.Queue(m, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := protodelim.MarshalTo(&theirs, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
		t.Fatal("the bytes differ")
	}
	read := wire.NewStream(&theirs)
	for _, size := range sizes {
		var m feedringv1.Sealed
		if err := read.Receive(&m, 0); err != nil || len(m.GetPayload()) != size {
			t.Fatalf("%d bytes, want %d: %v", len(m.GetPayload()), size, err)
		}
	}
	if err := read.Receive(&feedringv1.Sealed{}, 0); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestBadFrames(t *testing.T) {
	announced := func(n uint64) []byte { return binary.AppendUvarint(nil, n) }
	for _, test := range []struct {
		name string
		in   []byte
		want error
	}{
		{"nothing", nil, io.EOF},
		{"half a length", []byte{0x80}, io.ErrUnexpectedEOF},
		{"no body", announced(10), io.ErrUnexpectedEOF},
		{"half a body", append(announced(10), 1, 2), io.ErrUnexpectedEOF},
		{"too large", announced(wire.MaxMessage + 1), wire.ErrTooLarge},
		{"absurd", announced(1 << 63), wire.ErrTooLarge},
	} {
		if _, err := wire.ReadFrame(bufio.NewReader(bytes.NewReader(test.in))); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := wire.ReadFrame(bytes.NewReader(bytes.Repeat([]byte{0xff}, 20))); err == nil {
		t.Error("a length without end was read")
	}
}

func TestTooLargeToSend(t *testing.T) {
	var b buffer
	s := wire.NewStream(&b)
	if err := s.Send(&feedringv1.Sealed{Payload: make([]byte, wire.MaxMessage)}, 0); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if err := s.Send(&feedringv1.Sealed{Signer: []byte{1}}, 0); err != nil || b.Len() != 4 {
		t.Errorf("after it: %v, %d bytes", err, b.Len())
	}
}

// TestAnnouncedLengthCostsNothing holds that memory follows the bytes that
// come, and that a message of nothing but parts is refused unread.
func TestAnnouncedLengthCostsNothing(t *testing.T) {
	small := append(binary.AppendUvarint(nil, wire.MaxMessage), make([]byte, 100)...)
	if got := allocated(func() {
		for range 100 {
			_, _ = wire.ReadFrame(bytes.NewReader(small))
		}
	}); got > 100*128<<10 {
		t.Errorf("%d bytes were set aside for each", got/100)
	}
	var parts []byte
	for range wire.MaxMessage / 2 {
		parts = append(parts, 0x0a, 0) // an empty Sealed in PollPart.items
	}
	if got := allocated(func() {
		if err := wire.Unmarshal(parts, &feedringv1.PollPart{}); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("two million parts: %v", err)
		}
	}); got > 1<<20 {
		t.Errorf("%d bytes were set aside", got)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestLargeMessageOfFewPartsIsRead(t *testing.T) {
	p := &feedringv1.PollPart{}
	for range 1000 {
		p.Items = append(p.Items, &feedringv1.Sealed{Payload: make([]byte, 4000)})
	}
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got feedringv1.PollPart
	if err := wire.Unmarshal(b, &got); err != nil || len(got.GetItems()) != 1000 {
		t.Errorf("%d items: %v", len(got.GetItems()), err)
	}
	if err := wire.Unmarshal(b[:len(b)-1], &got); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("cut: %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	s := wire.NewStream(here)
	if _, err := s.ReceiveFrame(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	if err := s.Send(&feedringv1.Renew{}, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write: %v", err)
	}
	if err := s.Send(&feedringv1.Renew{}, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stream that failed takes more: %v", err)
	}
	if err := s.Reset(); err != nil {
		t.Error(err)
	}
}

func TestProtocolID(t *testing.T) {
	if got := wire.ProtocolID("main", wire.VerbAsk); got != "/feedring/main/ask/1" {
		t.Errorf("got %s", got)
	}
	for name, ok := range map[string]bool{
		"main": true, "a": true, "a-1": true, "": false, "-a": false, "A": false, "a/b": false, "a b": false,
		"abcdefghijabcdefghijabcdefghijab": true, "abcdefghijabcdefghijabcdefghijabc": false,
	} {
		if err := wire.CheckNetwork(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPeerBytes(t *testing.T) {
	id := wiretest.NewSealer(t, 1).ID()
	if got := peerid.Bytes(id); len(got) != 38 {
		t.Errorf("%d bytes", len(got))
	}
	for _, bad := range []feedring.PeerID{"", "x", id[:40], id + "a", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"} {
		if got := peerid.Bytes(bad); got != nil {
			t.Errorf("%q: %x", bad, got)
		}
	}
}
