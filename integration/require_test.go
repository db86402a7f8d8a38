package integration

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// lacking ends a test for which this machine has not what it needs. It is a
// skip, and an error where FEEDRING_REQUIRE names the need, in a list such as
// "feeds,disk,netns,nat,strace,chromium,frontservers,readers,prometheus,hugo,wordpress,miniflux": so nobody takes for shown what never ran.
func lacking(t testing.TB, need, format string, args ...any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("FEEDRING_REQUIRE"), ","), need) {
		t.Fatalf("FEEDRING_REQUIRE names "+need+": "+format, args...)
	}
	t.Skipf(format, args...)
}
