// Package latency keeps how far origins are: what making a connection took.
package latency

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring/internal/safehttp"
)

const (
	maxOrigins     = 20_000 // hosts whose distance is kept: those that were asked for last
	connectsAtOnce = 4      // connections made at once only to learn how long they take
	connectWithin  = 3 * time.Second
)

// Table is how far origins are. Fetches tell it, and one connection where there was
// none yet.
type Table struct {
	places chan struct{}
	took   *lru.Cache[string, time.Duration] // by host and port
}

// New knows no origin yet.
func New() *Table {
	took, err := lru.New[string, time.Duration](maxOrigins)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Table{places: make(chan struct{}, connectsAtOnce), took: took}
}

// Connected is told of each connection that was made.
func (l *Table) Connected(address string, took time.Duration) { l.took.Add(address, took) }

// Of is how long a connection to a feed's origin took; 0: not known.
func (l *Table) Of(url string) time.Duration {
	address, err := safehttp.AddressOf(url)
	if err != nil {
		return 0
	}
	took, _ := l.took.Get(address)
	return took
}

// connector makes a connection to an origin.
type connector interface {
	Connect(ctx context.Context, url string) error
}

// Measure finds out how far a feed's origin is, and whether it can be reached.
func (l *Table) Measure(ctx context.Context, client connector, url string) (time.Duration, error) {
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if way := l.Of(url); way > 0 {
		return way, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	err := client.Connect(ctx, url)
	return l.Of(url), err
}
