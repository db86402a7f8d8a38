package fleetlink

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
)

// killed is a stream to a peer that was killed: what is written is lost, and Read and Close
// wait for an answer, as a stream of go-libp2p does until a verb was agreed on.
type killed struct {
	network.Stream
	over chan struct{}
}

func (s killed) Write(b []byte) (int, error)      { return len(b), nil }
func (s killed) Read([]byte) (int, error)         { <-s.over; return 0, io.EOF }
func (s killed) Close() error                     { <-s.over; return nil }
func (s killed) Reset() error                     { close(s.over); return nil }
func (s killed) SetDeadline(time.Time) error      { return nil }
func (s killed) SetReadDeadline(time.Time) error  { return nil }
func (s killed) SetWriteDeadline(time.Time) error { return nil }

type hostOf struct{ stream network.Stream }

func (h hostOf) ID() feedring.PeerID             { return "a" }
func (h hostOf) Learn(feedring.PeerID, []string) {}
func (h hostOf) Open(context.Context, feedring.PeerID, feedring.Verb, bool) (network.Stream, error) {
	return h.stream, nil
}

// A poll has half a second for the peer that serves, and then goes to the one that keeps.
func TestARequestToAPeerThatWasKilledEndsWhenItsTimeIsUp(t *testing.T) {
	var c client
	c.init(t.Context(), hostOf{killed{over: make(chan struct{})}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://b/feeds/secret.atom", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		answer, err := c.http.RoundTrip(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it does not end")
	}
}
