package node

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfABuild(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: "github.com/feedring/feedring", Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, c := range []struct {
		info *debug.BuildInfo
		ok   bool
		want string
	}{
		{nil, false, unreleased},
		{built(""), true, unreleased},
		{built("(devel)"), true, unreleased},
		{built("(devel)", commit), true, unreleased + "+0123456789ab"},
		{built("v0.7.1"), true, "v0.7.1"},
		{built("v0.7.2-0.20260102030405-0123456789ab+dirty", commit), true, "v0.7.2-0.20260102030405-0123456789ab+dirty"},
	} {
		if got := versionOf(c.info, c.ok); got != c.want {
			t.Errorf("%+v is version %q, not %q", c.info, got, c.want)
		}
	}
	if Version == "" {
		t.Error("this program has no version")
	}
}
