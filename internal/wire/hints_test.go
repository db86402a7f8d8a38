package wire_test

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func sampleHints() *feedring.Hints {
	return &feedring.Hints{Copies: []feedring.Hint{
		{Copy: 1, Published: wiretest.Noon}, {Copy: 2, Published: wiretest.Noon}, {Copy: 3, Published: wiretest.Noon.Add(-25 * time.Hour)},
	}}
}

// Hints come out as they went in, in their order. That nobody looked, and that there is
// nothing, are two things.
func TestHintsTravel(t *testing.T) {
	var many []feedring.Hint
	for i := range feedring.MaxHints {
		many = append(many, feedring.Hint{Copy: uint64(i), Published: time.Unix(int64(1_700_000_000-i*i), 0).UTC()})
	}
	for name, copies := range map[string][]feedring.Hint{"three": sampleHints().Copies, "none": {}, "as many as there may be": many} {
		frame, err := wire.FrameFrom(wire.SummaryTo(true, copies))
		if err != nil || frame.Hints == nil || frame.Hints.Copies == nil || len(frame.Hints.Copies) != len(copies) {
			t.Fatalf("%s: %+v, %v", name, frame.Hints, err)
		}
		for i, c := range copies {
			if got := frame.Hints.Copies[i]; got.Copy != c.Copy || !got.Published.Equal(c.Published.Truncate(time.Second)) {
				t.Errorf("%s: %d is %+v, want %+v", name, i, got, c)
			}
		}
	}
	if frame, err := wire.FrameFrom(wire.CaughtTo(3, false)); err != nil || frame.Hints != nil {
		t.Errorf("%+v, %v", frame.Hints, err)
	}
}

func TestMalformedHintsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		hints *feedringv1.Hints
		want  error
	}{
		"too many":         {&feedringv1.Hints{Copies: make([]uint64, feedring.MaxHints+1), OlderS: make([]uint32, feedring.MaxHints)}, wire.ErrTooLarge},
		"a date too few":   {&feedringv1.Hints{Copies: make([]uint64, 3), OlderS: make([]uint32, 1)}, wire.ErrMalformed},
		"dates of nothing": {&feedringv1.Hints{OlderS: make([]uint32, 1)}, wire.ErrMalformed},
		"beyond all dates": {&feedringv1.Hints{Copies: make([]uint64, 1), NewestUnixS: 1 << 62}, wire.ErrMalformed},
		"before all dates": {&feedringv1.Hints{Copies: make([]uint64, 1), NewestUnixS: -1 << 62}, wire.ErrMalformed},
	} {
		frame := wire.CaughtTo(0, false)
		frame.Frame.(*feedringv1.AttachReply_Caught).Caught.Hints = c.hints
		b, err := proto.Marshal(frame)
		if err != nil {
			t.Fatal(err)
		}
		var reply feedringv1.AttachReply
		if err := wire.Unmarshal(b, &reply); err != nil {
			t.Fatal(err)
		}
		if _, err := wire.FrameFrom(&reply); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
