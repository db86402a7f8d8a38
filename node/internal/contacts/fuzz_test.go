package contacts

import "testing"

// FuzzDecodeKnown reads the peers that were known last time.
func FuzzDecodeKnown(f *testing.F) {
	for _, seed := range []string{
		`[{"ID":"12D3KooWx","Addrs":["/ip4/127.0.0.1/udp/1/quic-v1"]}]`, `[{"ID":"x","Addrs":[],"Proven":["198.51.100.7","2001:db8::1%eth0"]}]`, `[{"ID":"x","Proven":["a name"]}]`,
		`[{}]`, `[null]`, `null`, `{}`, `[{"ID":1}]`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		known, err := decodeKnown(value)
		if err != nil {
			return
		}
		if len(known) > maxKnown {
			t.Fatalf("%d peers", len(known))
		}
		for _, p := range known {
			if p.ID == "" {
				t.Fatal("a peer without an id")
			}
		}
	})
}
