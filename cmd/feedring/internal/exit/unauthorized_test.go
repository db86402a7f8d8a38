package exit

import (
	"net/http"
	"strings"
	"testing"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

// Who sent a token is told about that one.
func TestUnauthorized(t *testing.T) {
	for want, p := range map[string]*api.Problem{
		"wants its API token: name a file":                               {},
		"the one in d/token is of another peer: name":                    {TokenFile: "d/token", Guessed: true},
		"does not know the token or key in u.key: it was revoked, or is": {TokenFile: "u.key"},
	} {
		p.Status = http.StatusUnauthorized
		if err := Failed(p); CodeOf(err) != CodeFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
