package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// retryAfter is what a browser waits before it comes back, milliseconds.
const retryAfter = 3000

// stream answers a query and then tells what is new, as server-sent events
// (HTML Living Standard, 9.2), until the reader leaves.
func (s *site) stream(w http.ResponseWriter, r *http.Request) error {
	ask, err := s.askStream(r)
	if err != nil {
		return err
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return busy(10, "this peer serves as many streams as it can: come back in ten seconds, or follow at another peer")
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
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
	s.run(ctx, cancel, ask, out)
	return nil
}

// run follows and gives signs of life until either ends.
func (s *site) run(ctx context.Context, cancel context.CancelFunc, ask Ask, out *events) {
	var beating sync.WaitGroup
	beating.Go(func() { out.beat(ctx, s.beat, cancel) })
	if err := s.follow(ctx, ask, out); err != nil && !errors.Is(err, context.Canceled) {
		s.Logger.Debug("a stream ended", "err", err)
	}
	cancel()
	beating.Wait() // nothing may write after the handler's end
}

// askStream reads what is to be followed, and from where.
func (s *site) askStream(r *http.Request) (Ask, error) {
	var ask Ask
	private, err := s.private(r)
	if err != nil {
		return ask, err
	}
	v, err := parseParameters(r.URL.RawQuery)
	if err != nil {
		return ask, err
	}
	ask.Private = private
	if ask.Query, err = parseQuery(v, s.now()); err != nil {
		return ask, err
	}
	if ask.Updates, err = parseBool(v, "updates"); err != nil {
		return ask, err
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = v.Get("lastEventId")
	}
	// A browser that is refused never comes back, and it cannot be told to
	// forget an id: one that means nothing here begins anew.
	if ask.Cursor, err = parseCursor(after); err != nil {
		s.Logger.Debug("a stream begins anew", "err", err)
		ask.Cursor = nil
	}
	return ask, nil
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

// follow passes on what the peer tells.
func (s *site) follow(ctx context.Context, ask Ask, out *events) error {
	entries := 0
	err := s.Backend.Follow(ctx, ask, func(u Update) error {
		id := formatCursor(u.Cursor)
		if u.Entry != nil {
			entries++
			if err := out.send("entry", id, u.Entry); err != nil {
				return err
			}
		}
		if u.Retraction != nil {
			return out.send(u.Retraction.Event, id, u.Retraction)
		}
		if u.Gap != nil {
			return out.send("gap", "", u.Gap)
		}
		if u.Final != nil {
			event := feedring.FinalEvent(*u.Final, ask.Theme, entries)
			return out.send(event.Event, id, event)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, errReaderLeft) {
		p := problemOf(err)
		p.Type, p.Title = "about:blank", http.StatusText(p.Status)
		return errors.Join(err, out.send("problem", "", p))
	}
	return err
}

var errReaderLeft = errors.New("the reader left")

// events writes to one reader. Each write has a deadline, so a reader that
// takes nothing is let go: it comes back with the id of its last event.
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
	// Writers without deadlines or buffers are those of tests.
	if err := e.control.SetWriteDeadline(time.Now().Add(e.within)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errReaderLeft, err)
	}
	if _, err := e.w.Write(b); err != nil {
		return fmt.Errorf("%w: %w", errReaderLeft, err)
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
