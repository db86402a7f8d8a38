package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A lookup that the manager answers with another peer's acknowledgement.
func BenchmarkPlace(b *testing.B) {
	c := newCluster(1)
	ids := c.group(10)
	m := c.nodes[ids[0]].m
	i := 0
	for b.Loop() {
		i++
		id := feedring.QueryID{byte(i), byte(i >> 8), byte(i >> 16)}
		for _, out := range m.Step(c.now, Receive{From: "client", Message: Place{Header: Header{Group: m.group}, ID: id, Client: "reader", Provider: "p03", Within: time.Second}}) {
			if s, ok := out.(*Send); ok && s.To != "client" {
				m.Step(c.now, Receive{From: s.To, Message: Assigned{Header: m.header(), ID: id, OK: true, Leases: i / 10 % 1000}})
			}
		}
	}
}

// One beat of an idle group of ten, at the manager.
func BenchmarkBeat(b *testing.B) {
	c := newCluster(1)
	m := c.nodes[c.group(10)[0]].m
	for b.Loop() {
		for _, mem := range m.members {
			mem.heard = c.now
		}
		m.beat()
		m.out = nil
	}
}

// The fingerprint of a member of a group of ten.
func BenchmarkFingerprint(b *testing.B) {
	c := newCluster(1)
	m := c.nodes[c.group(10)[0]].m
	for b.Loop() {
		m.Fingerprint()
	}
}
