package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"

	"github.com/feedring/feedring"
)

const (
	maxJoins   = 64 // targets that are given while the peer runs
	joinRecord = "join"
)

// joins are the targets that this peer joins the network through: those that serve
// was given, and those that were added while it ran, which are kept.
type joins struct {
	store    *store.Store
	fixed    []string
	changing sync.Mutex // one change at a time is written down

	mu    sync.Mutex
	added []string
	via   *host.Joining // nil: the peer starts
}

// openJoins reads what was added earlier.
func openJoins(s *store.Store, fixed []string) (*joins, error) {
	j := &joins{store: s, fixed: fixed}
	value, err := s.Value(store.BucketPeer, joinRecord)
	if errors.Is(err, store.ErrNotFound) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &j.added)
	}
	if err != nil {
		return nil, fmt.Errorf("addresses that were joined through: %w", err)
	}
	j.added = slices.DeleteFunc(j.added, func(t string) bool { return host.ParseTarget(t) != nil })
	return j, nil
}

// all are the targets, those that serve was given first.
func (j *joins) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Concat(j.fixed, j.added)
}

// through is what joins; the error is for who asks before the peer is there.
func (j *joins) through() (*host.Joining, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.via == nil {
		return nil, errors.New("this peer is starting")
	}
	return j.via, nil
}

// room returns an error where one more target would be too many.
func (j *joins) room(target string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.added) >= maxJoins && !slices.Contains(j.added, target) && !slices.Contains(j.fixed, target) {
		return &web.LimitError{Of: web.JoinTargets, Most: maxJoins}
	}
	return nil
}

// change writes the added targets down with or without one. It reports whether
// that changed anything.
func (j *joins) change(ctx context.Context, target string, with bool) (bool, error) {
	j.changing.Lock()
	defer j.changing.Unlock()
	j.mu.Lock()
	next := slices.DeleteFunc(slices.Clone(j.added), func(t string) bool { return t == target })
	same := (len(next) < len(j.added)) == with || with && slices.Contains(j.fixed, target)
	j.mu.Unlock()
	if same {
		return false, nil
	}
	if with {
		next = append(next, target)
	}
	value, err := json.Marshal(next)
	if err == nil {
		err = j.store.Put(ctx, store.BucketPeer, joinRecord, value)
	}
	if err != nil {
		return false, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.added = next
	return true, nil
}

// join dials the peers to join through, again and again.
func (n *Node) join() {
	via := n.host.Join(n.ctx, n.joins.all(), n.resolve, func(found []feedring.PeerID, done bool) {
		n.loop.Post(peer.Known{Peers: found, Done: done})
	})
	n.joins.mu.Lock()
	defer n.joins.mu.Unlock()
	n.joins.via = via
}

// Join implements web.Backend.
func (n *Node) Join(ctx context.Context, target string) (web.Joined, error) {
	target, err := parseTarget(target)
	said := web.Joined{Join: target, Reached: []web.Reached{}, Groups: []feedring.Theme{}}
	if err != nil {
		return said, err
	}
	via, err := n.joins.through()
	if err == nil {
		err = n.joins.room(target)
	}
	if err != nil {
		return said, err
	}
	peers, failed := via.Add(ctx, target)
	if !via.Has(target) {
		return said, fmt.Errorf("%s was not joined: %w", target, whyNot(target, failed))
	}
	// Whoever asked may be gone by now: it was asked for all the same.
	fresh, err := n.joins.change(context.WithoutCancel(ctx), target, true)
	if err != nil {
		via.Remove(target)
		return said, notKept(target+" was not joined", err)
	}
	said.Known = !fresh
	if failed != nil {
		said.Error = whyNot(target, failed).Error()
		return said, nil
	}
	n.tellReached(ctx, &said, peers)
	return said, nil
}

// parseTarget reads what is to be joined, as it is written down.
func parseTarget(target string) (string, error) {
	target = strings.TrimSpace(target)
	if !strings.HasPrefix(target, "/") {
		target = strings.ToLower(strings.TrimSuffix(target, "."))
	}
	if err := host.ParseTarget(target); err != nil {
		return target, web.ErrMalformed.Of(fmt.Errorf("%.100q: %w", target, err))
	}
	return target, nil
}

// Joins implements web.Backend.
func (n *Node) Joins() []web.JoinTarget {
	targets := []web.JoinTarget{}
	via, _ := n.joins.through() // without it nothing failed yet
	for i, t := range n.joins.all() {
		target := web.JoinTarget{Join: t, Fixed: i < len(n.joins.fixed)}
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
func (n *Node) RemoveJoin(ctx context.Context, target string) error {
	target, err := parseTarget(target)
	if err != nil {
		return err
	}
	via, err := n.joins.through()
	switch {
	case err != nil:
		return err
	case slices.Contains(n.joins.fixed, target):
		return &web.FixedError{Name: target, Flag: "join"}
	}
	gone, err := n.joins.change(ctx, target, false)
	switch {
	case err != nil:
		return notKept(target+" was not removed", err)
	case !gone:
		return &web.UnknownJoinError{Target: target}
	}
	via.Remove(target)
	return nil
}
