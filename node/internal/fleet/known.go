package fleet

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
)

// memberPrefix is what keys of members that were seen begin with. The value is when, in
// Unix seconds: to the day, since it is written once a day.
const memberPrefix = "m"

// moved is how long rows may be at one present peer alone after a peer went: until then
// others have not taken its slots.
const moved = 11 * time.Minute

// loadKnown reads which members there were.
func (k *Keeper) loadKnown() error {
	for r, err := range k.cfg.Store.ListPrefix(store.BucketFleet, memberPrefix) {
		if err != nil {
			return err
		}
		if len(r.Value) == 8 {
			k.known[feedring.PeerID(strings.TrimPrefix(r.Key, memberPrefix))] = time.Unix(int64(binary.BigEndian.Uint64(r.Value)), 0)
		}
	}
	return nil
}

// saveKnown writes the members that are new, or that were last written a day ago, and
// ends those that have not been seen for as long as tombstones stay.
func (k *Keeper) saveKnown(ctx context.Context, now time.Time) {
	var changes []store.Change
	k.mu.Lock()
	for peer, seen := range k.known {
		c := store.Change{Key: memberPrefix + string(peer)}
		switch _, present := k.members[peer]; {
		case !present && now.Sub(seen) > fleet.Stays:
			delete(k.known, peer)
			delete(k.saved, peer)
		case present && now.Sub(k.saved[peer]) > 24*time.Hour:
			k.saved[peer] = now
			c.Value = binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))
		default:
			continue
		}
		changes = append(changes, c)
	}
	k.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	if err := k.cfg.Store.Write(ctx, store.BucketFleet, changes); err != nil && ctx.Err() == nil {
		k.cfg.Log.Debug("fleet: members were not written down", "err", err)
	}
}

// complete reports whether what no present peer has does not exist: at most one of the
// members of the last 30 days is missing, for long enough that others had its rows from
// their other holders. A peer that starts knows the others before it meets them.
func (k *Keeper) complete(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	missing := 0
	for peer, seen := range k.known {
		if _, present := k.members[peer]; present || now.Sub(seen) > fleet.Stays {
			continue
		}
		if missing++; missing > 1 || now.Sub(later(seen, k.opened)) < moved {
			return false
		}
	}
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
