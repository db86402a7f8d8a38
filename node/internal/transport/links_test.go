package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node/internal/tasks"
)

// note is a message whose frame is its text.
type note string

func (note) Verb() feedring.Verb { return "note" }

// texts encodes notes that have a text.
type texts struct{}

func (texts) encode(m feedring.Message) ([]byte, error) {
	if m == note("") {
		return nil, errors.New("no text")
	}
	return []byte(m.(note)), nil
}

// wires is the other side of links: everything that is written, and what fails.
type wires struct {
	network.Stream
	mu     sync.Mutex
	opened int
	fresh  int
	closed int
	writes []string
	refuse error         // opening fails
	dead   bool          // the next write fails
	hold   chan struct{} // writes wait for it
}

func (w *wires) Open(ctx context.Context, _ feedring.PeerID, _ feedring.Verb, fresh bool) (network.Stream, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened++
	if fresh {
		w.fresh++
	}
	if w.refuse != nil {
		return nil, w.refuse
	}
	return w, ctx.Err()
}

func (w *wires) Write(p []byte) (int, error) {
	if w.hold != nil {
		<-w.hold
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		w.dead = false
		return 0, errors.New("dead")
	}
	w.writes = append(w.writes, string(p))
	return len(p), nil
}

func (w *wires) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed++
	return nil
}

func (w *wires) Reset() error                       { return w.Close() }
func (w *wires) SetWriteDeadline(t time.Time) error { return nil }

func (w *wires) got() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.writes, "")
}

// inLinks runs a test of links in virtual time.
func inLinks(t *testing.T, test func(ls *Links, w *wires)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w, running := &wires{}, &tasks.Group{}
		ls := NewLinks(ctx, w, nil, nil, time.Second, running, slog.New(slog.DiscardHandler))
		ls.frames = texts{}
		test(ls, w)
		cancel()
		if !running.End(time.Second) {
			t.Error("a link goes on")
		}
	})
}

func TestLinksKeepOrderAndBatch(t *testing.T) {
	inLinks(t, func(ls *Links, w *wires) {
		w.hold = make(chan struct{})
		var want strings.Builder
		for n := range 200 {
			text := fmt.Sprintf("%d ", n)
			want.WriteString(text)
			ls.Send("a", note(text), n == 150)
			synctest.Wait()
		}
		ls.Send("a", note(""), false)
		close(w.hold)
		synctest.Wait()
		if w.got() != want.String() {
			t.Errorf("wrote %q", w.got())
		}
		if w.opened != 1 || len(w.writes) != 2 {
			t.Errorf("%d streams, %d writes: what waits behind a write is one more", w.opened, len(w.writes))
		}
		if ls.busy.Load() != 0 || ls.sent.Load() != 200 {
			t.Errorf("busy %d, sent %d", ls.busy.Load(), ls.sent.Load())
		}
		ls.Send("b", note(strings.Repeat("x", linkBatch)), false)
		ls.Send("b", note("y"), true)
		synctest.Wait()
		if len(w.writes) != 4 || w.opened != 2 {
			t.Errorf("%d writes on %d streams: large pieces are written apart", len(w.writes), w.opened)
		}
	})
}

func TestLinksTryADeadStreamAgain(t *testing.T) {
	inLinks(t, func(ls *Links, w *wires) {
		ls.Send("a", note("1"), false)
		synctest.Wait()
		w.dead = true
		ls.Send("a", note("2"), true)
		synctest.Wait()
		if w.got() != "12" || w.opened != 2 || w.fresh != 1 {
			t.Errorf("wrote %q on %d streams, %d of them fresh", w.got(), w.opened, w.fresh)
		}
		w.dead, w.refuse = true, errors.New("gone")
		ls.Send("a", note("3"), false)
		synctest.Wait()
		if ls.dropped.Load() != 1 || ls.busy.Load() != 0 {
			t.Errorf("dropped %d, busy %d", ls.dropped.Load(), ls.busy.Load())
		}
	})
}

func TestLinksDropWhatIsTooMuchOrTooOld(t *testing.T) {
	inLinks(t, func(ls *Links, w *wires) {
		w.hold = make(chan struct{})
		ls.Send("a", note("first "), false)
		synctest.Wait()
		for range linkQueue + 10 {
			ls.Send("a", note("x"), false)
		}
		if ls.dropped.Load() != 10 {
			t.Errorf("dropped %d", ls.dropped.Load())
		}
		time.Sleep(2 * time.Second) // all are stale now
		close(w.hold)
		synctest.Wait()
		if w.got() != "first " || ls.dropped.Load() != 10+linkQueue {
			t.Errorf("wrote %q, dropped %d", w.got(), ls.dropped.Load())
		}
	})
}

func TestLinksGiveIdleStreamsBack(t *testing.T) {
	inLinks(t, func(ls *Links, w *wires) {
		ls.Send("a", note("1"), false)
		time.Sleep(linkIdle / 2)
		ls.Send("a", note("2"), false)
		time.Sleep(linkIdle - time.Second)
		synctest.Wait()
		synctest.Wait()
		if kept, closed := counts(ls, w); kept != 1 || closed != 0 {
			t.Error("a link in use was given back")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if kept, closed := counts(ls, w); kept != 0 || closed != 1 {
			t.Errorf("%d links kept, %d streams closed", kept, closed)
		}
		ls.Send("a", note("3"), false)
		synctest.Wait()
		if w.got() != "123" {
			t.Errorf("wrote %q", w.got())
		}
	})
}

// counts is the links kept and the streams closed.
func counts(ls *Links, w *wires) (kept, closed int) {
	ls.mu.Lock()
	kept = len(ls.kept)
	ls.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	return kept, w.closed
}

func TestLinksDrain(t *testing.T) {
	inLinks(t, func(ls *Links, w *wires) {
		w.hold = make(chan struct{})
		ls.Send("a", note("1"), false)
		ctx, cancel := context.WithTimeout(ls.ctx, time.Second)
		defer cancel()
		began := time.Now()
		ls.Drain(ctx)
		if time.Since(began) != time.Second {
			t.Errorf("drained after %s", time.Since(began))
		}
		close(w.hold)
		ls.Drain(ls.ctx)
		if w.got() != "1" {
			t.Error("drained before it was written")
		}
	})
}
