package node

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// feedsView is this peer's own feeds as admin and sitecheck see them.
type feedsView struct{ *Node }

func (f feedsView) Published() []string { return slices.Collect(maps.Keys(f.origins.public())) }

func (f feedsView) Offered() map[feedring.Theme][]feedring.Feed { return f.origins.offered() }

// Failing leaves private feeds out: metrics ask for no token.
func (f feedsView) Failing() int {
	count := 0
	for _, own := range f.origins.public() {
		if own.failing {
			count++
		}
	}
	return count
}

func (f feedsView) Link(url string) string { return f.origins.link(url) }

func (f feedsView) Visit(ctx context.Context, url string, ask func(context.Context) error) error {
	return f.origins.watcher.Visit(ctx, url, ask)
}

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
	if err := i.n.identity.yields(); text == "" && err != nil {
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
