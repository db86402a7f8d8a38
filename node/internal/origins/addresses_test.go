package origins

import (
	"testing"
)

// TestAWordOfOneSiteIsNoneOfAnother: a feed that was moved to a stranger's machine
// is asked for there as seldom as any stranger's.
func TestAWordOfOneSiteIsNoneOfAnother(t *testing.T) {
	for _, tt := range []struct {
		to   string
		want bool
	}{{"http://a.example/feed", true}, {"https://a.example/rss", true}, {"https://www.a.example/rss", true}, {"https://victim.example/feed", false}} {
		if got := sameSite("http://a.example/feed", tt.to); got != tt.want {
			t.Errorf("%s: %t", tt.to, got)
		}
	}
}
