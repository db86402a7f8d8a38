package throttle

import (
	"strconv"
	"testing"
	"time"
)

func TestTake(t *testing.T) {
	b := New(time.Second, 3)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 {
		if wait := b.Take(now, "a", 1); wait != 0 {
			t.Errorf("token %d: wait %v", i, wait)
		}
	}
	if wait := b.Take(now, "a", 1); wait != time.Second {
		t.Errorf("empty: wait %v", wait)
	}
	if wait := b.Take(now, "b", 2); wait != 0 {
		t.Errorf("another: wait %v", wait)
	}
	if wait := b.Take(now.Add(time.Second), "a", 1); wait != 0 {
		t.Errorf("after a second: wait %v", wait)
	}
	b.Fine(now.Add(time.Second), "a", 10)
	if wait := b.Take(now.Add(time.Second), "a", 1); wait != 11*time.Second {
		t.Errorf("fined: wait %v", wait)
	}
	if wait := b.Take(now.Add(time.Hour), "a", 3); wait != 0 {
		t.Errorf("full again: wait %v", wait)
	}
	b.Give(now.Add(time.Hour), "a", 2)
	if wait := b.Wait(now.Add(time.Hour), "a", 3); wait != time.Second {
		t.Errorf("two given back: wait %v", wait)
	}
	b.Give(now.Add(time.Hour), "a", 10)
	if wait := b.Wait(now.Add(time.Hour), "a", 4); wait != time.Second {
		t.Errorf("no more than its burst: wait %v", wait)
	}
}

func TestStrangersAreForgotten(t *testing.T) {
	b := New(time.Second, 3)
	now := time.Now()
	for i := range 3 * most {
		b.Take(now, strconv.Itoa(i), 3)
	}
	if len(b.empty) > most {
		t.Errorf("%d are remembered", len(b.empty))
	}
}
