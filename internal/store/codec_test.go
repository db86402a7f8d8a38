package store

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

func TestIndexKeyOrder(t *testing.T) {
	times := []time.Time{
		{}, time.Unix(-1, 0), time.Unix(0, 0), time.Unix(0, 1), start, start.Add(time.Second),
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	var keys [][]byte
	for _, at := range slices.Backward(times) {
		for sequence := uint64(3); sequence > 0; sequence-- {
			key := rows.KeyOf(at, 7, feedring.Position{Epoch: 2, Sequence: sequence}).Index()
			place, ok := rows.ReadIndexKey(key)
			published, id, p := place.Split()
			if !ok || !published.Equal(at) || id != 7 || p != (feedring.Position{Epoch: 2, Sequence: sequence}) {
				t.Fatalf("%v %v %v %v", published, id, p, ok)
			}
			keys = append(keys, key)
		}
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Error("keys are not in order")
	}
}

func FuzzDecodeLog(f *testing.F) {
	it := makeItem(random(1), 0, 0)
	f.Add(rows.EncodeLog(&it))
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := rows.DecodeLog(row)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		it := r.Item(feedring.FeedRef{}, feedring.Position{})
		again, err := rows.DecodeLog(rows.EncodeLog(&it))
		if err != nil || !reflect.DeepEqual(again.Item(it.Ref, it.Position), it) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	it := makeItem(random(1), 0, 0)
	f.Add(rows.EncodeIndex(&it, false))
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := rows.DecodeIndex(row)
		if err != nil {
			return
		}
		it := Item{Private: r.Private, Theme: feedring.Theme(r.Theme), Provider: feedring.Provider(r.Provider), Text: r.Text}
		if again, err := rows.DecodeIndex(rows.EncodeIndex(&it, false)); err != nil || !bytes.Equal(again.Text, r.Text) || !bytes.Equal(again.Theme, r.Theme) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// FuzzDecodeSmall reads the other rows.
func FuzzDecodeSmall(f *testing.F) {
	f.Add(rows.EncodeRef(&Head{Ref: feedring.FeedRef{URL: "https://a/", Publisher: "p"}, Count: 3, Seen: start}))
	f.Add(rows.EncodeVersion(start, feedring.Position{Epoch: 1, Sequence: 2}))
	f.Fuzz(func(t *testing.T, row []byte) {
		if h, err := rows.DecodeRef(row); err == nil {
			if again, err := rows.DecodeRef(rows.EncodeRef(&h)); err != nil || again != h {
				t.Errorf("%+v, %v", again, err)
			}
		}
		if published, p, err := rows.DecodeVersion(row); err == nil {
			if at, q, err := rows.DecodeVersion(rows.EncodeVersion(published, p)); err != nil || q != p || !at.Equal(published) {
				t.Errorf("%v %v, %v", at, q, err)
			}
		}
	})
}
