package host

import (
	"context"
	"errors"
	"slices"

	"github.com/feedring/feedring"
)

// ErrSelf is for an address that is this peer's own.
var ErrSelf = errors.New("that is this peer itself")

// begin makes a target one that is joined through, until Remove; nil: it is one.
func (j *Joining) begin(target string) context.Context {
	j.places.Lock()
	defer j.places.Unlock()
	if j.stops[target] != nil {
		return nil
	}
	ctx, stop := context.WithCancel(j.ctx)
	j.stops[target] = stop
	return ctx
}

// Has reports whether a target is joined through.
func (j *Joining) Has(target string) bool {
	j.places.Lock()
	defer j.places.Unlock()
	return j.stops[target] != nil
}

// came notes how a try at a target ended.
func (j *Joining) came(target string, err error) {
	j.places.Lock()
	defer j.places.Unlock()
	delete(j.failed, target)
	if err != nil && j.stops[target] != nil && j.ctx.Err() == nil {
		j.failed[target] = err
	}
}

// Failed is why the last try at a target reached nobody; nil: it did, or none has
// ended yet.
func (j *Joining) Failed(target string) error {
	j.places.Lock()
	defer j.places.Unlock()
	return j.failed[target]
}

// Add tries a target now and returns its peers that are connected then, those
// that were before included. From then on it is joined through as those of Join
// are, also where it was not reached: the error says why. It is not where ctx was
// cancelled, or where trying again is of no use: with ErrForeign and ErrSelf. It
// blocks until ctx ends, at most some seconds for each peer that a domain names.
// One that is there already is only tried.
func (j *Joining) Add(ctx context.Context, target string) ([]feedring.PeerID, error) {
	p := j.placeOf(target)
	here, err := j.connect(ctx, p)
	var peers []feedring.PeerID
	for _, c := range here {
		if c.id != j.h.ID() {
			peers = append(peers, c.id)
		}
	}
	if err == nil && len(peers) == 0 {
		err = ErrSelf
	}
	if errors.Is(err, ErrSelf) || errors.Is(err, ErrForeign) || errors.Is(ctx.Err(), context.Canceled) {
		return nil, err
	}
	slices.Sort(peers)
	j.report(peers, false)
	if within := j.begin(target); within != nil {
		j.h.background(func() { j.follow(within, p, err == nil) })
	}
	j.came(target, err)
	return peers, err
}

// Remove stops joining through a target. Who was reached there stays connected.
func (j *Joining) Remove(target string) {
	j.places.Lock()
	defer j.places.Unlock()
	if stop := j.stops[target]; stop != nil {
		stop()
		delete(j.stops, target)
		delete(j.failed, target)
	}
}
