package peer

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// BenchmarkAsk is one question to the manager of a group of ten, answered from
// its own group: all that the machine does for it.
func BenchmarkAsk(b *testing.B) {
	c := newCluster(b)
	c.start("a")
	c.publish("a", "news=p0.org")
	for i := 1; i < 10; i++ {
		c.start(peerName(i), "a")
		c.publish(peerName(i), fmt.Sprintf("news=p%d.org", i))
	}
	c.run(30*time.Second, nil)
	var manager feedring.PeerID
	for _, name := range c.names {
		if c.peers[name].role("news") == feedring.RoleManager {
			manager = name
		}
	}
	n, answered := uint64(0), 0
	c.watch = func() {
		for stream := range c.answers {
			answered++
			delete(c.answers, stream)
		}
	}
	for b.Loop() {
		n++
		var id feedring.QueryID
		binary.BigEndian.PutUint64(id[:], n)
		c.step(manager, Ask{Stream: n, Client: "k", ID: id, Query: feedring.Query{Theme: "news"}, Within: time.Second})
		c.run(5*time.Millisecond, nil)
	}
	if uint64(answered) != n {
		b.Fatalf("%d of %d answered", answered, n)
	}
}

func (h *host) role(theme feedring.Theme) feedring.Role { return h.memberships[theme.Group()].role }
