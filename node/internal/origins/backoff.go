package origins

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/store"
)

const heldHost = "held/" // hosts that asked to be left alone when they were asked for something else than a feed

// hostBackoff is until when a host is left alone.
type hostBackoff struct {
	Until     time.Time `json:"Until"`
	OpenEnded bool      `json:"Untold,omitempty"` // it did not say until when
}

// SiteBackoff is for what is asked of sites beside feeds. A host that wants to be
// left alone means all of it.
type SiteBackoff struct{ Feeds *Feeds }

// Opens implements vouch.HostPolicy.
func (s SiteBackoff) Opens(host string) time.Time { return s.Feeds.watcher.Opens(host) }

// ApplyHints implements vouch.HostPolicy. What a host asks for is kept over a restart: no
// feed's state says it.
func (s SiteBackoff) ApplyHints(host string, status int, header http.Header) {
	if until, openEnded := s.Feeds.watcher.ApplyHints(host, status, header); !until.IsZero() {
		s.Feeds.saveBackoff(host, hostBackoff{until, openEnded})
	}
}

// keepBackoff keeps what the origin of a feed asked for that is removed: its host is left
// alone all the same.
func (o *Feeds) keepBackoff(f *origin) {
	st, err := o.State(f.url)
	if err == nil && st.Held != "" && time.Now().Before(st.NotBefore) && !o.assignments.fetchedElsewhere(f.spec()) {
		o.saveBackoff(st.Held, hostBackoff{st.NotBefore, st.HeldOpenEnded})
	}
}

// saveBackoff keeps until when a host is left alone, unless it is for longer already.
func (o *Feeds) saveBackoff(host string, h hostBackoff) {
	var old hostBackoff
	if value, err := o.Store.Value(store.BucketFeed, heldHost+host); err == nil && json.Unmarshal(value, &old) == nil && old.Until.After(h.Until) {
		return
	}
	value, err := json.Marshal(h)
	if err == nil {
		err = o.Store.PutAll(context.Background(), store.BucketFeed, []store.Record{{Key: heldHost + host, Value: value}})
	}
	if err != nil {
		o.Log.Warn("a host's request to wait could not be saved: it holds until the next start only", "host", host, "err", err)
	}
}

// backOffHosts leaves those alone that asked for it before the start, and forgets the
// others.
func (o *Feeds) backOffHosts() {
	var over []string
	for record, err := range o.Store.ListPrefix(store.BucketFeed, heldHost) {
		var h hostBackoff
		if err == nil {
			err = json.Unmarshal(record.Value, &h)
		}
		if err != nil {
			o.Log.Warn("which hosts want to be left alone cannot be read", "err", err)
			return
		}
		if !time.Now().Before(h.Until) {
			over = append(over, record.Key)
			continue
		}
		o.watcher.Hold(strings.TrimPrefix(record.Key, heldHost), h.Until, h.OpenEnded)
	}
	for _, key := range over {
		if err := o.Store.Delete(context.Background(), store.BucketFeed, key); err != nil {
			o.Log.Warn("an old record was not removed", "key", key, "err", err)
			return
		}
	}
}
