package blocking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/store"
)

// failing is a disk on which one write fails, counted from now; 0: none does.
type failing struct {
	disk
	after int
}

func (f *failing) Put(ctx context.Context, b store.Bucket, key string, value []byte) error {
	if f.after--; f.after == 0 {
		return errFull
	}
	return f.disk.Put(ctx, b, key, value)
}

// text is what is on the disk.
func (f *failing) text() string {
	text, _ := json.Marshal(f.disk)
	return string(text)
}

// A block or an exception that is not kept changes nothing, now or after a restart,
// whichever of the two writes fails.
func TestWhatIsNotKeptChangesNothing(t *testing.T) {
	w := &web{status: http.StatusOK, body: `[{"block":"spam.example"}]`}
	target, _ := blocks.Parse("spam.example")
	for write := 1; write <= 2; write++ {
		d := &failing{disk: disk{}}
		b := openedOn(t, d, w, io.Discard)
		if _, err := b.Follow(t.Context(), address); err != nil {
			t.Fatal(err)
		}
		_, _, err := b.Remove(t.Context(), target) // makes the record of exceptions
		if _, again := b.Add(t.Context(), blocks.Block{Target: target}); again != nil || err != nil {
			t.Fatal(err, again)
		}
		before := d.text()
		d.after = write
		if _, _, err := b.Remove(t.Context(), target); !errors.Is(err, errFull) || !has(b, "spam.example") || d.text() != before {
			t.Errorf("unblocked at write %d: %v, blocked %t, on disk %s", write, err, has(b, "spam.example"), d.text())
		}
		if gone, allowed, err := b.Remove(t.Context(), target); !gone || !allowed || err != nil || has(b, "spam.example") {
			t.Errorf("unblocked again: %t, %t, %v", gone, allowed, err)
		}
		before = d.text()
		d.after = write
		if _, err := b.Add(t.Context(), blocks.Block{Target: target}); !errors.Is(err, errFull) || has(b, "spam.example") || d.text() != before {
			t.Errorf("blocked at write %d: %v, blocked %t, on disk %s", write, err, has(b, "spam.example"), d.text())
		}
		if again := openedOn(t, d, w, io.Discard); has(again, "spam.example") {
			t.Error("blocked after a restart")
		}
	}
}

// Blocks of which a record would not hold the reasons are refused.
func TestReasonsTakeNoMoreThanIsKept(t *testing.T) {
	d := disk{}
	b := opened(t, d, &web{}, io.Discard)
	for i := range MaxBlocks - 1 {
		target, err := blocks.Parse(fmt.Sprintf("%d.example", i))
		if err != nil {
			t.Fatal(err)
		}
		b.all = append(b.all, blocks.Block{Target: target})
	}
	last, _ := blocks.Parse("last.example")
	if _, err := b.Add(t.Context(), blocks.Block{Target: last, Reason: strings.Repeat("x", store.MaxValue)}); !errors.Is(err, ErrRoom) || has(b, "last.example") || len(d) > 0 {
		t.Errorf("a reason of %d bytes: %v, %d records", store.MaxValue, err, len(d))
	}
	if _, err := b.Add(t.Context(), blocks.Block{Target: last}); err != nil || !has(b, "last.example") {
		t.Errorf("without a reason: %v", err)
	}
}
