package group

import (
	"maps"
	"slices"

	"github.com/feedring/feedring/internal/clone"
)

// Clone returns an independent copy: an explorer branches with it.
func (m *Machine) Clone() *Machine {
	c := *m
	c.out, c.book, c.parts, c.words, c.mesh, c.view, c.shown, c.census = nil, nil, nil, nil, nil, nil, nil, nil
	c.joined = false
	if m.links != nil {
		c.links = m.links.Clone()
	}
	c.timers = m.timers.Clone()
	c.joining.via = slices.Clone(m.joining.via)
	c.spread = slices.Clone(m.spread)
	c.expired = maps.Clone(m.expired)
	c.probes = slices.Clone(m.probes)
	c.replicator = m.replicator.Clone(shell{&c})
	c.placer = m.placer.Clone(shell{&c})
	c.protected, c.dropped = slices.Clone(m.protected), slices.Clone(m.dropped)
	c.members, c.checks = clone.Map(m.members), clone.Map(m.checks)
	c.self = c.members[c.cfg.Self]
	for _, mem := range c.members {
		if mem.rare != nil {
			rare := *mem.rare
			mem.rare = &rare
		}
	}
	c.fetches, c.assigner = m.fetches.Clone(), m.assigner.Clone()
	return &c
}
