package options

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/feedring/feedring/cmd/feedring/internal/exit"
)

// FuzzConfigFile checks that a configuration file is read or refused as wrong
// usage, whatever stands in it.
func FuzzConfigFile(f *testing.F) {
	for _, text := range []string{
		"network = \"a\"\nfeed = [\"news=https://a.example/\"]\nlan = true\nattempts = 3\n", "a = [", "[network]\nname = 1", "listen = [[1]]",
		"refresh = 1979-05-27T07:32:00Z", "attempts = 9223372036854775807", "\"\" = 1", "http.x = 1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := NewServe()
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.Register(flags)
		err := fromText(flags, "file", text)
		if err == nil {
			_, err = o.Config("data")
		}
		if err != nil && exit.CodeOf(err) != exit.CodeUsage {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// What is trusted by hand is a key or a site; anything else is wrong usage that says what to write.
func TestTrustFlag(t *testing.T) {
	const key = "12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"
	o := NewServe()
	for _, text := range []string{key, "lemonde.fr", "127.0.0.1:8080"} {
		if err := o.trust.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	peers, sites := o.trusted()
	if len(peers) != 1 || peers[0] != key || !slices.Equal(sites, []string{"lemonde.fr", "127.0.0.1:8080"}) {
		t.Errorf("peers %q, sites %q", peers, sites)
	}
	for _, text := range []string{"", "8.8.8.8", "192.0.2.0/24", "https://lemonde.fr/", key[:50], "a b", "Lemonde.fr"} {
		if err := o.trust.Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
