package store

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func TestIndexKeyOrder(t *testing.T) {
	times := []time.Time{
		{}, time.Unix(-1, 0), time.Unix(0, 0), time.Unix(0, 1), start, start.Add(time.Second),
		time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	var keys [][]byte
	for _, at := range slices.Backward(times) {
		for sequence := uint64(3); sequence > 0; sequence-- {
			key := rowKey(at, 7, feedring.Position{Epoch: 2, Sequence: sequence}).index()
			place, ok := readIndexKey(key)
			published, id, p := place.split()
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
	f.Add(encodeLog(&it))
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := decodeLog(row)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		it := r.item(feedring.FeedRef{}, feedring.Position{})
		again, err := decodeLog(encodeLog(&it))
		if err != nil || !reflect.DeepEqual(again.item(it.Ref, it.Position), it) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	it := makeItem(random(1), 0, 0)
	f.Add(encodeIndex(&it))
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := decodeIndex(row)
		if err != nil {
			return
		}
		it := Item{Private: r.private, Theme: feedring.Theme(r.theme), Provider: feedring.Provider(r.provider), Text: r.text}
		if again, err := decodeIndex(encodeIndex(&it)); err != nil || !bytes.Equal(again.text, r.text) || !bytes.Equal(again.theme, r.theme) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// FuzzDecodeSmall reads the other rows, and cursors.
func FuzzDecodeSmall(f *testing.F) {
	f.Add(encodeRef(&Head{Ref: feedring.FeedRef{URL: "https://a/", Publisher: "p"}, Count: 3, Seen: start}))
	f.Add(encodeVersion(start, feedring.Position{Epoch: 1, Sequence: 2}))
	f.Add([]byte(newCursor(rowKey(start, 1, feedring.Position{Epoch: 1, Sequence: 2}))))
	f.Fuzz(func(t *testing.T, row []byte) {
		if h, err := decodeRef(row); err == nil {
			if again, err := decodeRef(encodeRef(&h)); err != nil || again != h {
				t.Errorf("%+v, %v", again, err)
			}
		}
		if published, p, err := decodeVersion(row); err == nil {
			if at, q, err := decodeVersion(encodeVersion(published, p)); err != nil || q != p || !at.Equal(published) {
				t.Errorf("%v %v, %v", at, q, err)
			}
		}
		if key, err := Cursor(row).key(); err == nil && string(newCursor(key)) != string(row) {
			if again, err := newCursor(key).key(); err != nil || again != key {
				t.Errorf("cursor %q", row)
			}
		}
	})
}
