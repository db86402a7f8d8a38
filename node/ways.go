package node

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/safehttp"
)

const (
	maxWays   = 20_000 // hosts whose distance is kept: those that were asked for last
	waysAtOne = 4      // connections made at once only to learn how long they take
	wayWithin = 3 * time.Second
)

// ways is how far origins are: what making a connection took. Looks tell it, and
// one connection where there was none yet.
type ways struct {
	connect func(ctx context.Context, url string) error
	places  chan struct{}
	took    *lru.Cache[string, time.Duration] // by host and port
}

func newWays() *ways {
	took, err := lru.New[string, time.Duration](maxWays)
	if err != nil {
		panic(err) // the size is positive
	}
	return &ways{places: make(chan struct{}, waysAtOne), took: took}
}

// connected is told of each connection that was made.
func (w *ways) connected(address string, took time.Duration) { w.took.Add(address, took) }

// of is how long a connection to a feed's origin took; 0: not known.
func (w *ways) of(url string) time.Duration {
	address, err := safehttp.AddressOf(url)
	if err != nil {
		return 0
	}
	took, _ := w.took.Get(address)
	return took
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
func (n *Node) measure(o group.MeasureOrigin) {
	n.background(func() {
		in := group.OriginMeasured{URL: o.URL, Distance: time.Millisecond}
		if n.origins.file(o.URL) == "" {
			way, err := n.ways.measure(n.ctx, o.URL)
			in.Distance, in.Failing = way, err != nil
		}
		n.loop.Tell(o.Group, in)
	})
}
