package origins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// offeredFeed is where a feed of the configuration has since when it is offered.
const offeredFeed = "offered/"

// addedRow is what is kept of a feed that was added at run time.
type addedRow struct {
	feedring.FeedSpec
	Offered time.Time `json:"Offered,omitzero"` // zero: an earlier version added it
}

// offeredRow is what is kept of a feed of the configuration.
type offeredRow struct {
	Theme feedring.Theme `json:"theme,omitempty"`
	Since time.Time      `json:"since"`
}

// noteOffered keeps since when each feed of the configuration is offered in its
// group: entries that are older than that are history.
func (o *Feeds) noteOffered() error {
	var fresh []store.Record
	for _, f := range o.few {
		if !f.fixed {
			continue
		}
		var row offeredRow
		if err := o.row(offeredFeed+f.url, &row); err != nil {
			return err
		}
		if !row.Since.IsZero() && row.Theme == f.theme() {
			continue
		}
		value, err := json.Marshal(offeredRow{f.theme(), time.Now().UTC()})
		if err != nil {
			return err
		}
		fresh = append(fresh, store.Record{Key: offeredFeed + f.url, Value: value})
	}
	for chunk := range slices.Chunk(fresh, addedAtOnce) {
		if err := o.Store.PutAll(context.Background(), store.BucketFeed, chunk); err != nil {
			o.Log.Warn("since when feeds are offered was not saved: old entries of new feeds may be told as news", "feeds", len(chunk), "err", err)
			return nil
		}
	}
	return nil
}

// offeredSince is since when one of this peer's feeds is offered; zero: it is not
// known.
func (o *Feeds) offeredSince(url string, fixed bool) (time.Time, error) {
	if f, ok := o.get(url); ok && f.carried() > 0 {
		return o.carriedOffered(f.carried()), nil
	}
	if fixed {
		var row offeredRow
		err := o.row(offeredFeed+url, &row)
		return row.Since, err
	}
	var row addedRow
	err := o.row(addedFeed+url, &row)
	return row.Offered, err
}

// row reads a small record. One that is not there changes nothing.
func (o *Feeds) row(key string, into any) error {
	value, err := o.Store.Value(store.BucketFeed, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(value, into)
	}
	if err != nil {
		return fmt.Errorf("since when a feed is offered cannot be read: %w", err)
	}
	return nil
}

// news returns entries as news where the log of their feed has some already: what
// a fetch finds then is none of a first fetch, even if nobody noted that there was
// one.
func (o *Feeds) news(f *origin, entries []feedring.Entry) []feedring.Entry {
	o.mu.Lock()
	moved := f.moved
	o.mu.Unlock()
	if moved || o.moved(f.spec()) || o.Store.LogHead(feedring.FeedRef{URL: f.url, Publisher: o.Self}).Position.IsZero() {
		return entries
	}
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].History = feedring.NoHistory
	}
	return entries
}

// anyNews reports whether not all entries are history.
func anyNews(entries []feedring.Entry) bool {
	return slices.ContainsFunc(entries, func(e feedring.Entry) bool { return e.History == feedring.NoHistory })
}
