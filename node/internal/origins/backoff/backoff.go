// Package backoff keeps over restarts which hosts want to be left alone, and until when.
package backoff

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// Prefix begins the keys of hosts that asked to be left alone when they were asked for
// something else than a feed: of a feed its state says it.
const Prefix = "held/"

// Host is until when a host is left alone.
type Host struct {
	Until     time.Time `json:"Until"`
	OpenEnded bool      `json:"Untold,omitempty"` // it did not say until when
}

// Hosts are those of one store.
type Hosts struct {
	Store *store.Store
	Log   *slog.Logger
}

// Holder leaves hosts alone.
type Holder interface {
	Hold(host string, until time.Time, openEnded bool)
}

// Save keeps until when a host is left alone, unless it is for longer already.
func (s Hosts) Save(host string, h Host) {
	var old Host
	if value, err := s.Store.Value(store.BucketFeed, Prefix+host); err == nil && json.Unmarshal(value, &old) == nil && old.Until.After(h.Until) {
		return
	}
	value, err := json.Marshal(h)
	if err == nil {
		err = s.Store.PutAll(context.Background(), store.BucketFeed, []store.Record{{Key: Prefix + host, Value: value}})
	}
	if err != nil {
		s.Log.Warn("a host's request to wait could not be saved: it holds until the next start only", "host", host, "err", err)
	}
}

// Restore leaves those alone that asked for it before the start, and forgets the
// others.
func (s Hosts) Restore(to Holder) {
	var over []string
	for record, err := range s.Store.ListPrefix(store.BucketFeed, Prefix) {
		var h Host
		if err == nil {
			err = json.Unmarshal(record.Value, &h)
		}
		if err != nil {
			s.Log.Warn("which hosts want to be left alone cannot be read", "err", err)
			return
		}
		if !time.Now().Before(h.Until) {
			over = append(over, record.Key)
			continue
		}
		to.Hold(strings.TrimPrefix(record.Key, Prefix), h.Until, h.OpenEnded)
	}
	for _, key := range over {
		if err := s.Store.Delete(context.Background(), store.BucketFeed, key); err != nil {
			s.Log.Warn("an old record was not removed", "key", key, "err", err)
			return
		}
	}
}
