package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/storage"
)

// Join implements web.Backend.
func (d *Admin) Join(ctx context.Context, target string) (web.Joined, error) {
	target, err := parseTarget(target)
	said := web.Joined{Join: target, Reached: []web.Reached{}, Groups: []feedring.Theme{}}
	if err != nil {
		return said, err
	}
	via, err := d.cfg.Joins.Through()
	if err != nil {
		return said, err
	}
	if d.cfg.Joins.Full(target) {
		return said, &web.LimitError{Of: web.JoinTargets, Most: contacts.MaxJoins}
	}
	peers, failed := via.Add(ctx, target)
	if !via.Has(target) {
		return said, fmt.Errorf("%s was not joined: %w", target, whyNot(target, failed))
	}
	// Whoever asked may be gone by now: it was asked for all the same.
	fresh, err := d.cfg.Joins.Change(context.WithoutCancel(ctx), target, true)
	if err != nil {
		via.Remove(target)
		return said, storage.NotKept(target+" was not joined", err)
	}
	said.Known = !fresh
	if failed != nil {
		said.Error = whyNot(target, failed).Error()
		return said, nil
	}
	d.tellReached(ctx, &said, peers)
	return said, nil
}

// parseTarget reads what is to be joined, as it is written down.
func parseTarget(target string) (string, error) {
	target = strings.TrimSpace(target)
	if !strings.HasPrefix(target, "/") {
		target = strings.ToLower(strings.TrimSuffix(target, "."))
	}
	if err := addr.ParseTarget(target); err != nil {
		return target, web.ErrMalformed.Of(fmt.Errorf("%.100q: %w", target, err))
	}
	return target, nil
}

// Joins implements web.Backend.
func (d *Admin) Joins() []web.JoinTarget {
	targets := []web.JoinTarget{}
	via, _ := d.cfg.Joins.Through() // without it nothing failed yet
	for _, t := range d.cfg.Joins.All() {
		target := web.JoinTarget{Join: t, Fixed: d.cfg.Joins.Fixed(t)}
		if via != nil {
			if err := via.Failed(t); err != nil {
				target.Error = whyNot(t, err).Error()
			}
		}
		targets = append(targets, target)
	}
	return targets
}

// RemoveJoin implements web.Backend.
func (d *Admin) RemoveJoin(ctx context.Context, target string) error {
	target, err := parseTarget(target)
	if err != nil {
		return err
	}
	via, err := d.cfg.Joins.Through()
	switch {
	case err != nil:
		return err
	case d.cfg.Joins.Fixed(target):
		return &web.FixedError{Name: target, Flag: "join"}
	}
	gone, err := d.cfg.Joins.Change(ctx, target, false)
	switch {
	case err != nil:
		return storage.NotKept(target+" was not removed", err)
	case !gone:
		return &web.UnknownJoinError{Target: target}
	}
	via.Remove(target)
	return nil
}
