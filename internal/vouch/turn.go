package vouch

import (
	"context"
	"time"
)

// turn is a host's: whoever holds its token asks.
type turn struct {
	token chan struct{}
	users int
}

// await waits for a host's turn; done ends it.
func (m *Memory) await(ctx context.Context, host string) (done func(), err error) {
	m.mu.Lock()
	t := m.turns[host]
	if t == nil {
		t = &turn{token: make(chan struct{}, 1)}
		m.turns[host] = t
	}
	t.users++
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(m.turns, host)
		}
	}
	select {
	case t.token <- struct{}{}:
		return func() { <-t.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// pause waits for what is closed or ctx's end.
func pause(ctx context.Context, until <-chan struct{}) error {
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// after is closed when d has passed.
func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}
