package peer

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// suggest is "did you mean": the theme or provider that this peer knows of and
// that is nearest to what was asked.
func (m *Machine) suggest(theme feedring.Theme, provider string) []string {
	var themes, providers []string
	for _, row := range m.ring.Live() {
		themes = append(themes, string(row.Theme))
	}
	for _, it := range m.inOrder() {
		if it.settled() && (theme == "" || it.theme == theme) {
			providers = append(providers, providersOf(m.seen(it))...)
		}
	}
	var near []string
	if theme != "" && !slices.Contains(themes, string(theme)) {
		near = append(near, feedring.Nearest(string(theme), themes))
	}
	if provider != "" {
		near = append(near, feedring.Nearest(provider, providers))
	}
	return slices.DeleteFunc(near, func(s string) bool { return s == "" || s == provider || s == string(theme) })
}

func providersOf(v *group.View) []string {
	var names []string
	for i := range v.Members {
		for _, f := range v.Members[i].Row.Feeds {
			names = append(names, string(f.Provider))
		}
	}
	return names
}
