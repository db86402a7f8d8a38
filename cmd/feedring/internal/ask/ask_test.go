package ask

import (
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// Who asked for a provider that nobody serves is shown where providers are
// listed: the ring has none.
func TestNobodyServesIt(t *testing.T) {
	for _, c := range []struct {
		theme    feedring.Theme
		provider string
		want     string
	}{
		{"news", "", `see what there is with "feedring ring --api URL"`},
		{"news", "echo", `see its providers with "feedring catalog news --api URL"`},
		{"", "echo", `see the providers of a theme with "feedring catalog THEME --api URL", and the themes with "feedring ring --api URL"`},
	} {
		if got := noProvider(c.theme, c.provider, nil, "feedring ring --api URL").Error(); !strings.Contains(got, c.want) {
			t.Errorf("%q lacks %q", got, c.want)
		}
	}
}
