package options

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// developers' variables are for this project's tests.
var developers = []string{"BENCH_DIR", "FAULTS", "PICTURES", "REQUIRE", "SEED", "SIM_AS_COMMAND", "STORE_CRASH_DIR", "TEST_ORIGIN", "TEST_READER"}

// warnOfVariables tells of variables that look like settings and are none. They
// are no error: others use the prefix too.
func warnOfVariables(flags *pflag.FlagSet, w io.Writer) {
	known := variables()
	names := make([]string, len(known))
	for i, key := range known {
		names[i] = variable(key)
	}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || value == "" || slices.Contains(names, name) || isForeign(strings.TrimPrefix(name, envPrefix), value) {
			continue
		}
		if near := feedring.Nearest(name[len(envPrefix):], bare(names)); near != "" {
			fmt.Fprintf(w, "feedring: warning: the variable %s is not known, and ignored: did you mean %s?\n", show.Printable(name), envPrefix+near)
		} else if flags.Lookup("feed") != nil { // serve and config: there settings matter
			fmt.Fprintf(w, "feedring: warning: the variable %s is not known, and ignored: \"feedring config\" lists the settings\n", show.Printable(name))
		}
	}
}

// variables are the keys that have a variable: a table cannot be written in one.
func variables() []string {
	return slices.DeleteFunc(Keys(), func(key string) bool { return key == tablesKey })
}

func bare(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strings.TrimPrefix(name, envPrefix)
	}
	return all
}

// isForeign reports whether a variable is a test's, or an orchestrator's that tells
// of a service called feedring.
func isForeign(name, value string) bool {
	return slices.Contains(developers, name) || strings.Contains(name, "SERVICE_") || name == "PORT" || strings.HasPrefix(name, "PORT_") ||
		strings.HasPrefix(value, "tcp://") || strings.HasPrefix(value, "udp://")
}
