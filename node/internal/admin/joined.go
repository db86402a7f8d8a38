package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/sec"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	askedAtJoin = 4               // of the peers that were reached
	joinAsk     = 2 * time.Second // for one to tell its groups
)

// tellReached says who was reached, and which groups those tell of. That they tell
// nothing in time is no error: the maps come by themselves.
func (d *Admin) tellReached(ctx context.Context, said *web.Joined, ids []feedring.PeerID) {
	var asking sync.WaitGroup
	var mu sync.Mutex
	for _, id := range ids[:min(len(ids), askedAtJoin)] {
		asking.Go(func() {
			groups, err := d.askRing(ctx, id)
			if err != nil {
				d.cfg.Log.Debug("groups", "asked", id.Short(), "err", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, g := range groups {
				said.Groups = append(said.Groups, g.Theme)
			}
		})
	}
	asking.Wait()
	// Only now: a peer counts as connected when it has said what it speaks.
	for _, p := range d.cfg.Host.Peers() {
		if slices.Contains(ids, p.ID) {
			said.Reached = append(said.Reached, web.Reached{Peer: p.ID, Addr: p.Addr})
		}
	}
	slices.Sort(said.Groups)
	said.Groups = slices.Compact(said.Groups)
}

// askRing asks a peer which groups it knows.
func (d *Admin) askRing(ctx context.Context, id feedring.PeerID) ([]feedring.RingGroup, error) {
	ctx, cancel := context.WithTimeout(ctx, joinAsk)
	defer cancel()
	raw, err := d.cfg.Host.Open(ctx, id, wire.VerbInfo, false)
	if err != nil {
		return nil, err
	}
	s := wire.NewStream(raw)
	defer s.Close()
	if err := s.Send(&feedringv1.InfoRequest{}, joinAsk); err != nil {
		return nil, err
	}
	var reply feedringv1.InfoReply
	if err := s.Receive(&reply, joinAsk); err != nil {
		return nil, err
	}
	return info.RingFrom(&reply)
}

// whyNot is why a target was not reached, in words for people.
func whyNot(target string, err error) error {
	var foreign *host.ForeignError
	var other sec.ErrPeerIDMismatch
	switch {
	case errors.As(err, &foreign) && foreign.Speaks != "":
		return &web.ForeignPeerError{Speaks: foreign.Speaks, Own: foreign.Own}
	case errors.As(err, &foreign):
		return &web.UnreachedError{Why: web.NoPeer}
	case errors.As(err, &other):
		return &web.OtherPeerError{}
	case errors.Is(err, host.ErrSelf):
		return err
	case errors.Is(err, host.ErrBusy):
		return &web.UnreachedError{Why: web.PeerBusy}
	case errors.Is(err, context.DeadlineExceeded):
		return &web.UnreachedError{Why: web.PeerLate}
	case errors.Is(err, host.ErrUnreachable):
		return &web.UnreachedError{Why: web.PeerSilent}
	}
	return errors.New(strings.TrimPrefix(err.Error(), "join "+target+": "))
}
