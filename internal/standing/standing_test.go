package standing

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	for e, want := range map[Evidence]Class{
		{}:               Guest,
		{Admitted: true}: New, {Admitted: true, Present: settles}: Settled, {Admitted: true, Private: true}: Settled,
		{Admitted: true, Named: true}: Vouched, {Named: true, Present: time.Hour}: Guest,
		{Barred: true, Admitted: true, Named: true}: Barred,
	} {
		if got := Of(e); got != want {
			t.Errorf("%+v: %d, want %d", e, got, want)
		}
	}
}

// T1: the guaranteed parts of all classes are a whole table.
func TestParts(t *testing.T) {
	sum := 0
	for s := Barred; s <= Vouched; s++ {
		sum += s.Part(12800)
		if s.Each(12800)*16 != s.Part(12800) {
			t.Errorf("%d: one peer may hold %d of %d", s, s.Each(12800), s.Part(12800))
		}
	}
	if sum != 12800 {
		t.Errorf("%d of 12800 places are guaranteed", sum)
	}
}

func TestPrefixes(t *testing.T) {
	for address, want := range map[string][2]Prefix{
		"192.0.2.7":        {"192.0.2.0/24", "192.0.0.0/16"},
		"::ffff:192.0.2.7": {"192.0.2.0/24", "192.0.0.0/16"},
		"2001:db8:1:2::3":  {"2001:db8:1::/48", "2001:db8::/32"},
		"fe80::1%eth0":     {"fe80::/48", "fe80::/32"},
	} {
		p := PrefixOf(netip.MustParseAddr(address))
		if p != want[0] || p.Wide() != want[1] {
			t.Errorf("%s: %s in %s, want %s", address, p, p.Wide(), want)
		}
	}
	if p := Prefix("QmRelay"); p.Wide() != p {
		t.Errorf("a relay is in %s", p.Wide())
	}
}

// T1: no prefix holds more than its share.
func TestRoom(t *testing.T) {
	fill := func(c *Occupancy, of func(int) Prefix) (taken int) {
		for i := range 2000 {
			if p := of(i); c.Free(p) {
				c.Add(p)
				taken++
			}
		}
		return taken
	}
	one := func(int) Prefix { return "192.0.2.0/24" }
	wide := func(i int) Prefix { return Prefix(fmt.Sprintf("192.0.%d.0/24", i%200)) }
	if n := fill(new(Occupancy), one); n != 8 {
		t.Errorf("one /24 holds %d of an empty table", n)
	}
	if n := fill(new(Occupancy), wide); n != 32 {
		t.Errorf("one /16 holds %d of an empty table", n)
	}
	var c Occupancy
	for range 1000 {
		c.Add("")
	}
	if n := fill(&c, one); n != 20 {
		t.Errorf("one /24 holds %d beside 1,000 others", n)
	}
	if !c.Free("198.51.100.0/24") || !c.Free("") {
		t.Error("another prefix finds no room")
	}
}
