package history

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

const secret = "qzsecretword"

// fill stores entries of some feeds, of which entry n of feed 0 has the secret, and has
// all of them in segments.
func (w *world) fill(n int) (it store.Item) {
	settle(w, w.h) // or what comes while the index is built is in it twice
	for f := range 4 {
		var items []store.Item
		for k := range 40 {
			text := textOf("title", randomText(w.r))
			if f == 0 && k == n {
				text = textOf("title "+secret, "content")
			}
			items = append(items, makeItem(f, k, text))
			if f == 0 && k == n {
				it = items[k]
			}
		}
		check(w, w.s.Append(ctx, items))
	}
	settle(w, w.h)
	return it
}

// retractEntry has an entry's publisher take it back.
func (w *world) retractEntry(it store.Item) {
	back := makeItem(0, 1000, nil)
	back.ID, back.Version, back.Retraction, back.Payload = it.ID, 2, true, []byte("back")
	back.Takes = []feedring.Taken{{Position: it.Position, Hash: it.Hash, Seen: it.Seen}}
	check(w, w.s.Append(ctx, []store.Item{back}))
}

// files counts the files of the store that hold a word. Nothing in them is compressed.
func (w *world) files(word string) (n int) {
	all, err := filepath.Glob(filepath.Join(w.dir, "*"))
	check(w, err)
	for _, name := range all {
		body, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) { // it may be removed meanwhile
			w.Fatal(err)
		}
		if bytes.Contains(body, []byte(word)) {
			n++
		}
	}
	return n
}

// isErased waits until no file holds the secret, and the others' words are there.
func (w *world) isErased() {
	w.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); w.files(secret) > 0; <-tick.C {
		if time.Now().After(deadline) {
			w.Fatalf("%d files hold a word that was erased", w.files(secret))
		}
	}
	if w.files("epsilon") == 0 {
		w.Fatal("no file holds a word: nothing was looked at")
	}
	items, _, err := w.h.Search(ctx, store.Search{Words: parse(w, "title"), Limit: 1})
	if check(w, err); len(items) != 1 {
		w.Error("the others are not found")
	}
}

// TestWordsAreErased takes an entry back, forgets a feed: no file of the store holds their
// words afterwards, though they were in segments that nothing else remakes, and a merge had
// left a copy in tables. It waits as long as the limits say.
func TestWordsAreErased(t *testing.T) {
	for what, erase := range map[string]func(*world, store.Item){
		"taken back": (*world).retractEntry,
		"forgotten":  func(w *world, it store.Item) { check(w, w.s.Forget(ctx, it.Ref)) },
	} {
		t.Run(what, func(t *testing.T) {
			w := &world{T: t, r: random(11), dir: t.TempDir()}
			w.open()
			w.h.limits.erase = time.Hour
			it := w.fill(17)
			if w.files(secret) < 2 {
				t.Fatal("the word is not in the index")
			}
			erase(w, it)
			before := w.h.state.Load()
			settle(t, w.h)
			if st := w.h.state.Load(); len(st.segments) != len(before.segments) || st.nextID != before.nextID {
				t.Error("segments were remade before it is due")
			}
			if wait := time.Until(w.h.erasing.due); wait < 50*time.Minute || wait > time.Hour {
				t.Errorf("due in %s", wait)
			}
			w.opened() // as after a restart
			w.h.limits.erase = 0
			settle(t, w.h)
			w.compare()
			w.isErased()
			check(t, w.s.Read(func(r *store.Reader) error {
				all, err := r.Erasures()
				if len(all) > 0 || w.h.erasing.wait() != nil {
					t.Errorf("%d are still to be erased", len(all))
				}
				return err
			}))
		})
	}
}

// TestWorkerErases has the worker notice a retraction, which brings no news for the index.
func TestWorkerErases(t *testing.T) {
	w := &world{T: t, r: random(12), dir: t.TempDir()}
	w.open()
	it := w.fill(3)
	w.h.start()
	defer w.h.Close()
	w.retractEntry(it)
	w.isErased()
}

// TestOnlyHoldersAreRemade leaves segments alone that hold nothing of what was taken back.
func TestOnlyHoldersAreRemade(t *testing.T) {
	w := &world{T: t, r: random(13), dir: t.TempDir()}
	w.open()
	it := w.fill(30)
	before := make(map[uint64]bool)
	for _, s := range w.h.state.Load().segments {
		before[s.id] = true
	}
	w.retractEntry(it)
	for more := true; more; {
		var err error
		more, err = w.h.erase(ctx, w.h.state.Load())
		check(t, err)
	}
	remade := 0
	for _, s := range w.h.state.Load().segments {
		if !before[s.id] {
			remade++
		}
	}
	if remade != 1 || len(before) < 3 {
		t.Errorf("%d of %d segments were remade", remade, len(before))
	}
	settle(t, w.h)
	w.compare()
}

// TestKilledWhileItErases ends the index's work before each of its writes: what is opened
// then goes on with it.
func TestKilledWhileItErases(t *testing.T) {
	for writes, done := 0, false; !done; writes++ {
		w := &world{T: t, r: random(14), dir: t.TempDir()}
		w.open()
		w.retractEntry(w.fill(25))
		f, err := &fuse{Context: ctx, left: writes}, error(nil)
		for more := true; more && err == nil; {
			more, err = w.h.step(f)
		}
		if done = err == nil; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		w.opened()
		settle(t, w.h)
		w.compare()
		for _, rec := range w.records() {
			if strings.Contains(string(rec.Value), secret) {
				t.Errorf("after %d writes a record holds the word", writes)
			}
		}
		if writes%5 == 0 || done {
			w.isErased()
		}
		check(t, w.s.Close())
		if done && writes < 5 {
			t.Errorf("all work is done after %d writes", writes)
		}
	}
}

// TestRemainsOfAKillAreSwept finds records of a segment that no manifest names.
func TestRemainsOfAKillAreSwept(t *testing.T) {
	w := &world{T: t, r: random(15), dir: t.TempDir()}
	w.open()
	w.fill(1)
	key := blockKey(w.h.state.Load().nextID+3, kindTokens, 7)
	check(t, w.s.Put(ctx, store.BucketHistory, key, sealed(key, []byte("left"))))
	w.opened()
	settle(t, w.h)
	for _, rec := range w.records() {
		if rec.Key == key {
			t.Error("it is still there")
		}
	}
	w.compare()
}
