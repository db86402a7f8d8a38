package node

import (
	"context"
	"sync"
	"time"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/guard"
)

const (
	maxWays   = 20_000 // hosts whose distance is kept
	waysAtOne = 4      // connections made at once only to learn how long they take
	wayWithin = 3 * time.Second
)

// ways is how far origins are: what making a connection took. Looks tell it, and
// one connection where there was none yet.
type ways struct {
	connect func(ctx context.Context, url string) error
	places  chan struct{}

	mu   sync.Mutex
	took map[string]time.Duration // by host and port
}

func newWays() *ways {
	return &ways{places: make(chan struct{}, waysAtOne), took: make(map[string]time.Duration)}
}

// connected is told of each connection that was made.
func (w *ways) connected(address string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.took[address]; known || len(w.took) < maxWays {
		w.took[address] = took
	}
}

// of is how long a connection to a feed's origin took; 0: not known.
func (w *ways) of(url string) time.Duration {
	address, err := guard.AddressOf(url)
	if err != nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took[address]
}

// measure finds out how far a feed's origin is, and whether it can be reached.
func (w *ways) measure(ctx context.Context, url string) (time.Duration, error) {
	select {
	case w.places <- struct{}{}:
		defer func() { <-w.places }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if way := w.of(url); way > 0 {
		return way, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wayWithin)
	defer cancel()
	err := w.connect(ctx, url)
	return w.of(url), err
}

// measure does group.Measure. Who reads a file asks no origin.
func (n *Node) measure(o group.Measure) {
	n.background(func() {
		in := group.Measured{URL: o.URL, Distance: time.Millisecond}
		if n.origins.file(o.URL) == "" {
			way, err := n.ways.measure(n.ctx, o.URL)
			in.Distance, in.Failing = way, err != nil
		}
		n.tell(o.Group, in)
	})
}
