package main

import (
	"testing"

	"github.com/spf13/pflag"
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
		o := newServeOptions()
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.register(flags)
		err := fromText(flags, "file", text)
		if err == nil {
			_, err = o.config("data")
		}
		if err != nil && codeOf(err) != exitUsage {
			t.Errorf("%q: %v", text, err)
		}
	})
}
