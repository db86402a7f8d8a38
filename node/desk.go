package node

import (
	"strings"

	"github.com/feedring/feedring/internal/web"
)

// identityView is what is known of other processes with this peer's key.
type identityView struct{ n *Node }

func (i identityView) Status() *web.IdentityStatus { return i.n.identity.status() }

// signs says what another process with this peer's key does; empty: there is none.
func (i identityView) signs() string {
	now, _ := i.n.identity.get()
	if text := elsewhere(now); text != "" {
		return text
	}
	return i.n.twins.warning(i.n.loop.Now())
}

func (i identityView) Warning() string {
	text := i.signs()
	if err := i.n.identity.Yields(); text == "" && err != nil {
		text = err.Error()
	}
	return text
}

func (i identityView) Check() web.Check {
	if text := i.signs(); text != "" {
		what, advice, _ := strings.Cut(text, ": stop one")
		return web.Check{Name: "identity", Detail: what, Advice: web.Advice("stop one" + advice)}
	}
	return web.Check{Name: "identity", OK: true, Detail: string(i.n.ID())}
}
