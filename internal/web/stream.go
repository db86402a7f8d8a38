package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/throttle"
)

const (
	retryAfter = 3000    // what a browser waits before it comes back, milliseconds
	writePiece = 8 << 10 // bytes that have a deadline of their own
)

// stream answers a query and then tells what is new, as server-sent events
// (HTML Living Standard, 9.2), until the reader leaves.
func (s *site) stream(w http.ResponseWriter, r *http.Request) error {
	ask, at, err := s.askStream(r)
	if err != nil {
		return err
	}
	who := asker.Of(r.Context(), r.RemoteAddr)
	switch s.streams.Take(who) {
	case throttle.Full:
		s.Refused.Add(refusals.HTTP, refusals.Full)
		return busy(10, "this peer serves as many streams as it can: come back in ten seconds, or follow at another peer")
	case throttle.Share:
		s.Refused.Add(refusals.HTTP, refusals.Share)
		return busy(10, "this peer serves as many streams to your address as it does to one: come back in ten seconds, or follow at another peer")
	}
	defer s.streams.Give(who)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if ask.Stem {
		w.Header().Set("Feedring-Stem", "true") // a peer of before passes over the parameter
	}
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in front shall not collect events
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := &events{w: w, control: http.NewResponseController(w), within: s.writeWithin}
	if err := out.write([]byte("retry: " + strconv.Itoa(retryAfter) + "\n\n")); err != nil {
		return nil
	}
	s.run(ctx, cancel, &following{site: s, r: r, ask: ask, at: at, out: out, page: r.URL.Query().Get(viewParameter) == pageView})
	return nil
}

// run follows and gives signs of life until either ends.
func (s *site) run(ctx context.Context, cancel context.CancelFunc, f *following) {
	var beating sync.WaitGroup
	beating.Go(func() { f.out.beat(ctx, s.beat, cancel) })
	if f.page {
		now := f.reachNow()
		_ = f.out.send("reach", "", now) // whether the reader left, what comes next finds out
		beating.Go(func() { f.watchReach(ctx, now, cancel) })
	}
	if err := f.run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.Logger.Debug("a stream ended", "err", err)
	}
	cancel()
	beating.Wait() // nothing may write after the handler's end
}

// askStream reads what is to be followed, and from where.
func (s *site) askStream(r *http.Request) (ask Ask, at streamPosition, err error) {
	private, err := s.private(r)
	if err != nil {
		return ask, at, err
	}
	v, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		return ask, at, err
	}
	ask.Private = private
	if ask.Query, err = parseQuery(v, s.now()); err != nil {
		return ask, at, err
	}
	if ask.Updates, err = parseBool(v, "updates"); err != nil {
		return ask, at, err
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = v.Get("lastEventId")
	}
	// A browser that is refused never comes back, and it cannot be told to
	// forget an id: one that means nothing here begins anew.
	if at, err = parsePosition(after); err != nil {
		s.Logger.Debug("a stream begins anew", "err", err)
		at = streamPosition{}
	}
	ask.Cursor, ask.Began = at.cursor, at.began
	if ask.Began.IsZero() {
		ask.Began = s.now()
	}
	return ask, at, nil
}

func parseBool(v url.Values, name string) (bool, error) {
	if !v.Has(name) || v.Get(name) == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(v.Get(name))
	if err != nil {
		return false, badRequest("%s %s: write true or false", name, quote(v.Get(name)))
	}
	return value, nil
}

var errReaderLeft = errors.New("the reader left")

// events writes to one reader. Each piece has a deadline, so a reader that
// takes nothing is let go: it comes back with the id of its last event. One that
// is slow is not, or it would get no further than to the same long entry again.
type events struct {
	mu      sync.Mutex
	w       io.Writer
	control *http.ResponseController
	within  time.Duration
}

// send writes one event. JSON has no line ends, so its data is one line.
func (e *events) send(name, id string, data any) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	b.WriteString("data: ")
	if err := newEncoder(&b).Encode(data); err != nil {
		return err
	}
	b.WriteByte('\n')
	return e.write(b.Bytes())
}

func (e *events) write(b []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for piece := range slices.Chunk(b, writePiece) {
		// Writers without deadlines or buffers are those of tests.
		if err := e.control.SetWriteDeadline(time.Now().Add(e.within)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return fmt.Errorf("%w: %w", errReaderLeft, err)
		}
		if _, err := e.w.Write(piece); err != nil {
			return fmt.Errorf("%w: %w", errReaderLeft, err)
		}
	}
	if err := e.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errReaderLeft, err)
	}
	return nil
}

// beat writes a comment now and then, so that neither end nor a proxy between
// takes the silence for an end.
func (e *events) beat(ctx context.Context, every time.Duration, cancel context.CancelFunc) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := e.write([]byte(": alive\n\n")); err != nil {
				cancel()
				return
			}
		}
	}
}
