package node

import (
	"runtime/debug"
	"strings"
)

// Version is the release: the linker sets it, else it is what the program's build
// says of itself.
var Version string

func init() {
	if Version == "" {
		Version = versionOf(debug.ReadBuildInfo())
	}
	Version = strings.TrimPrefix(Version, "v")
}

// unreleased is the version of a build that knows nothing of itself.
const unreleased = "0.1.0-dev"

// versionOf is the version of the program that info is about: the one that was
// asked for with "go install …@version", or that the tool found in the checkout;
// else the checkout's commit.
func versionOf(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return unreleased
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && s.Value != "" {
			return unreleased + "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return unreleased
}
