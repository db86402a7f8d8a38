package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/quota"
)

const (
	// QuotaRecord is the key of the accounts of publishers in the store.
	QuotaRecord = "quotas"
	// saveQuotas is how often they are saved: what was used in that time a kill forgets.
	saveQuotas = 5 * time.Minute
)

// errQuota fails a poll of a publisher that has used its quota. To the machine the entries are, for a while, some that
// nobody gives.
var errQuota = errors.New("its publisher has used its part of this peer's disk")

// refused reports whether a poll failed because of what this peer wants, and not for anybody's fault.
func refused(err error) bool {
	var forked *forkedError
	return errors.Is(err, errBlocked) || errors.Is(err, errQuota) || errors.As(err, &forked)
}

// spent reports whether a fetch would bring nothing that may be stored.
func (r *Replicator) spent(o group.Fetch) bool {
	spent := !o.Proof && r.quotas.Spent(o.Feed, o.Quota, time.Now())
	if spent {
		r.Refused.Add(refusals.Disk, refusals.Share)
	}
	return spent
}

// room charges a publisher for new entries and returns how many of them may be stored.
func (r *Replicator) room(o group.Fetch, items []store.Item) int {
	room := r.quotas.Take(o.Feed, o.Quota, sizes(items), time.Now())
	if room < len(items) {
		r.Refused.Add(refusals.Disk, refusals.Share)
		r.Log.Info("a publisher has used its part of this peer's disk for now", "feed", o.Feed.URL, "publisher", o.Feed.Publisher.Short())
	}
	return room
}

// notStored takes the charge for entries back, for instance where the disk is full.
func (r *Replicator) notStored(o group.Fetch, items []store.Item) {
	r.quotas.Return(o.Feed, o.Quota, sizes(items), time.Now())
}

func sizes(items []store.Item) (all []int) {
	for i := range items {
		all = append(all, len(items[i].Payload)+len(items[i].Signature))
	}
	return all
}

// restoreQuotas reads what publishers had used when this peer stopped. Without it each restart gave
// them all that they may use in a day.
func (r *Replicator) restoreQuotas() {
	value, err := r.Store.Value(store.BucketPeer, QuotaRecord)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	var saved []quota.Saved
	if err == nil {
		err = json.Unmarshal(value, &saved)
	}
	if err != nil {
		r.Log.Warn("what publishers used of this disk is not known, so all begin anew", "err", err)
		return
	}
	r.quotas.Restore(saved, time.Now())
}

// keepQuotas saves what publishers have used, now and then and at the end.
func (r *Replicator) keepQuotas() {
	tick := time.NewTicker(saveQuotas)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.saveQuotas()
		case <-r.ctx.Done():
			r.saveQuotas()
			return
		}
	}
}

func (r *Replicator) saveQuotas() {
	saved, changed := r.quotas.Save()
	if !changed {
		return
	}
	value, err := json.Marshal(saved)
	if err == nil {
		err = r.Store.Put(context.Background(), store.BucketPeer, QuotaRecord, value)
	}
	if err != nil {
		r.Log.Warn("what publishers used of this disk is not saved", "err", err)
	}
}
