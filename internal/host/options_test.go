package host

import (
	"reflect"
	"testing"

	"github.com/feedring/feedring/internal/host/identity"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/config"
)

// TestAssemblyNeedsNoDefaults applies libp2p's defaults to the assembly: they
// must find nothing to fill in. Only tests may import libp2p's root package.
func TestAssemblyNeedsNoDefaults(t *testing.T) {
	for _, cfg := range []Config{{Client: true}, {Listen: []string{"/ip4/0.0.0.0/tcp/0"}}} {
		cfg.fill()
		h, err := prepare(cfg)
		if err != nil {
			t.Fatal(err)
		}
		key, err := identity.New()
		if err != nil {
			t.Fatal(err)
		}
		c, err := h.assembly(key)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _, _ = c.ResourceManager.Close(), c.ConnManager.Close(), c.Peerstore.Close()
		})
		before := *c
		if err := c.Apply(libp2p.FallbackDefaults); err != nil {
			t.Fatal(err)
		}
		was, is := reflect.ValueOf(before), reflect.ValueOf(*c)
		for i := range was.NumField() {
			f := was.Type().Field(i)
			same := f.Type.Kind() == reflect.Func && was.Field(i).IsNil() == is.Field(i).IsNil() ||
				f.Type.Kind() == reflect.Slice && was.Field(i).Len() == is.Field(i).Len() ||
				reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface())
			if !same {
				t.Errorf("client %v: libp2p has a default for %s that the assembly lacks", cfg.Client, f.Name)
			}
		}
	}
}

// TestRouterIsAskedWithLANOnly: a port mapping begins with a question to
// everybody on the local network.
func TestRouterIsAskedWithLANOnly(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		asks bool
	}{
		{Config{}, false}, {Config{LAN: true}, true}, {Config{LAN: true, Client: true}, false},
		{Config{LAN: true, Listen: []string{"/ip4/10.0.0.1/tcp/0"}}, false},
	} {
		c.cfg.fill()
		h, err := prepare(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var made config.Config
		if h.reachesOut() {
			h.outside(&made)
		}
		if asks := made.NATManager != nil; asks != c.asks {
			t.Errorf("%+v: asks %v", c.cfg, asks)
		}
	}
}
