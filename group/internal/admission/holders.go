package admission

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

// holder is who holds a place in the catalogue.
type holder struct {
	Member
	class  standing.Class
	prefix standing.Prefix
}

// occupied counts the places that are held.
func occupied(all []holder) *standing.Occupancy {
	c := new(standing.Occupancy)
	for i := range all {
		prefix := all[i].prefix
		if all[i].class == standing.Vouched {
			prefix = ""
		}
		c.Add(prefix)
	}
	return c
}

// absent is who of a prefix is away longest; empty: nobody is.
func absent(all []holder, prefix standing.Prefix) feedring.PeerID {
	of := slices.DeleteFunc(slices.Clone(all), func(h holder) bool { return h.prefix != prefix || !h.Away })
	if len(of) == 0 {
		return ""
	}
	return slices.MinFunc(of, func(x, y holder) int { return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.Peer, y.Peer)) }).Peer
}

// victim chooses who gives its place up in a full table: of the lowest class that holds
// more than its part, there of the most crowded prefix, there who is away longest, else
// who came last. It returns "" where no class holds more.
func victim(all []holder, places int) feedring.PeerID {
	class, of := map[standing.Class]int{}, map[standing.Prefix]int{}
	for i := range all {
		class[all[i].class]++
		of[all[i].prefix]++
	}
	of[""] = 1 // those without a prefix have nothing in common
	var rest []holder
	for s := standing.Barred; s <= standing.Vouched && len(rest) == 0; s++ {
		if class[s] > s.Part(places) {
			rest = slices.DeleteFunc(slices.Clone(all), func(h holder) bool { return h.class != s })
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return slices.MinFunc(rest, func(x, y holder) int {
		since := x.Since.Compare(y.Since)
		if !x.Away {
			since = -since
		}
		return cmp.Or(
			-cmp.Compare(of[x.prefix], of[y.prefix]), catalogue.FalseFirst(!x.Away, !y.Away), since, cmp.Compare(x.Peer, y.Peer),
		)
	}).Peer
}
