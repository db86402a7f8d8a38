package options

import (
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
