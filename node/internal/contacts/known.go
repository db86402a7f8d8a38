package contacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/store"
)

const (
	maxKnown  = 256 // known peers kept over a restart
	saveEvery = time.Minute
	saveSoon  = 500 * time.Millisecond
	// KnownRecord is the key of the known peers in the store.
	KnownRecord = "known"
)

// LoadKnown reads the peers that were known last time.
func LoadKnown(s *store.Store) ([]host.SavedPeer, error) {
	value, err := s.Value(store.BucketPeer, KnownRecord)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeKnown(value)
}

// decodeKnown reads what Save wrote.
func decodeKnown(value []byte) ([]host.SavedPeer, error) {
	var known []host.SavedPeer
	if err := json.Unmarshal(value, &known); err != nil {
		return nil, fmt.Errorf("saved peers: %w", err)
	}
	known = slices.DeleteFunc(known, func(p host.SavedPeer) bool { return p.ID == "" })
	return known[:min(len(known), maxKnown)], nil
}

// Peers tells whom the host knows.
type Peers interface{ SavedPeers() []host.SavedPeer }

// Known saves the peers that are known for the next start.
type Known struct {
	store *store.Store
	log   *slog.Logger
	met   chan struct{} // holds one: a peer was met
}

// NewKnown returns a Known that has saved nothing yet.
func NewKnown(s *store.Store, log *slog.Logger) *Known {
	return &Known{store: s, log: log, met: make(chan struct{}, 1)}
}

// Met has the known peers saved soon. It never blocks.
func (k *Known) Met() {
	select {
	case k.met <- struct{}{}:
	default:
	}
}

// Save keeps the peers known now for the next start.
func (k *Known) Save(of Peers) {
	known := of.SavedPeers()
	if len(known) == 0 {
		return
	}
	value, err := json.Marshal(known[:min(len(known), maxKnown)])
	if err == nil {
		err = k.store.Put(context.Background(), store.BucketPeer, KnownRecord, value)
	}
	if err != nil {
		k.log.Warn("known peers not saved", "err", err)
		return
	}
	k.log.Debug("known peers saved", "peers", len(known))
}

// Run saves known peers soon after one was met, so that a kill forgets
// nobody for long, and now and then for their addresses, until ctx ends.
func (k *Known) Run(ctx context.Context, of Peers) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.met:
			select {
			case <-time.After(saveSoon): // several come together
			case <-ctx.Done():
				return
			}
		case <-tick.C:
		}
		k.Save(of)
	}
}
