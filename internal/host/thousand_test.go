//go:build !race

// The race detector follows 8,128 goroutines at most.

package host

import (
	"runtime"
	"sync"
	"testing"
)

// TestThousandClients has a thousand clients of one machine ask one peer, 32
// at once for the sake of small machines, and stay.
func TestThousandClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	const n = 1000
	server := newHost(t)
	echo(server)
	clients := make([]*Host, n)
	for i := range clients {
		clients[i] = newHost(t, asClient)
	}
	var wg sync.WaitGroup
	errs := make(chan error, n)
	free := make(chan struct{}, 32)
	for _, c := range clients {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if _, err := c.Given(server.Addrs()[0]); err != nil {
				errs <- err
				return
			}
			errs <- askPatiently(t, c, server.ID())
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	eventually(t, "all known", func() bool { return len(server.Peers()) == n })
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d MB from the system, %d goroutines", m.Sys>>20, runtime.NumGoroutine())
}
