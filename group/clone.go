package group

import (
	"slices"

	"github.com/feedring/feedring/internal/fingerprint"
)

// Clone returns an independent copy: an explorer branches with it.
func (m *Machine) Clone() *Machine {
	c := *m
	c.out = nil
	c.views.forget()
	c.mesh = m.mesh.Clone()
	c.timers = m.timers.Clone()
	c.roster = m.roster.clone()
	c.admitter = m.admitter.Clone(shell{&c})
	c.support = m.support.Clone()
	c.joining.via = slices.Clone(m.joining.via)
	c.managing.pendingRows = slices.Clone(m.managing.pendingRows)
	c.probes = slices.Clone(m.probes)
	c.replicator, c.placer = m.replicator.Clone(shell{&c}), m.placer.Clone(shell{&c})
	c.conns.protected, c.ownRow.dropped = slices.Clone(m.conns.protected), slices.Clone(m.ownRow.dropped)
	c.sites = sites{Checker: m.sites.Clone()}
	c.sharing, c.orphans = m.sharing.Clone(shell{&c}), m.orphans.Clone(shell{&c})
	return &c
}

// Fingerprint is a hash of all state, the random source included: two machines
// with one fingerprint go on alike.
func (m *Machine) Fingerprint() uint64 { return fingerprint.Of(m) }
