package hub

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

const subscriptions = "s " // the rows' prefix

// row is a subscription on disk.
type row struct {
	Topic    string `json:"topic"`
	Callback string `json:"callback"`
	Secret   string `json:"secret,omitempty"`
	Expires  int64  `json:"expires"` // Unix seconds
	Sent     uint64 `json:"sent,omitempty"`
}

func rowKey(key ledger.Key) string { return subscriptions + hex.EncodeToString(key[:]) }

func encode(s *ledger.Subscription) []byte {
	value, _ := json.Marshal(row{ // strings and numbers: it cannot fail
		Topic: s.Topic, Callback: s.Callback, Secret: s.Secret, Expires: s.Expires.Unix(), Sent: s.Sent,
	})
	return value
}

// load takes all that is on disk and not over. What is of a feed that is not
// there now stays on disk until its lease ends: the feed may come back.
func (h *Hub) load() error {
	var over []store.Change
	now := time.Now()
	for record, err := range h.cfg.Store.ListPrefix(store.BucketHub, subscriptions) {
		if err != nil {
			return fmt.Errorf("hub: %w", err)
		}
		var r row
		if json.Unmarshal(record.Value, &r) != nil || r.Expires <= now.Unix() {
			over = append(over, store.Change{Key: record.Key})
			continue
		}
		callback, err := url.Parse(r.Callback)
		if err != nil {
			over = append(over, store.Change{Key: record.Key})
			continue
		}
		resource, ok := h.cfg.Topics.Find(r.Topic)
		if !ok {
			continue
		}
		s := ledger.Subscription{
			Topic: r.Topic, Resource: resource, Callback: r.Callback, Host: strings.ToLower(callback.Hostname()), Secret: r.Secret,
			Expires: time.Unix(r.Expires, 0), Sent: r.Sent,
		}
		replaced, err := h.ledger.Put(&s)
		if replaced != nil {
			key := ledger.KeyOf(replaced.Topic, replaced.Callback)
			over = append(over, store.Change{Key: rowKey(key)})
		}
		if err == nil {
			h.cfg.Topics.Watch(resource, true)
		}
	}
	return h.cfg.Store.Write(context.Background(), store.BucketHub, over)
}

// save writes what changed. What cannot be written is tried again.
func (h *Hub) save(ctx context.Context) {
	h.mu.Lock()
	unsaved := h.unsaved
	h.unsaved = make(map[ledger.Key]bool)
	changes := make([]store.Change, 0, len(unsaved))
	for key := range unsaved {
		c := store.Change{Key: rowKey(key)}
		if s, ok := h.ledger.Get(key); ok {
			c.Value = encode(&s)
		}
		changes = append(changes, c)
	}
	h.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	if err := h.cfg.Store.Write(ctx, store.BucketHub, changes); err != nil {
		h.cfg.Log.Warn("what subscribers were told is not saved: tried again until it is", "err", err)
		h.mu.Lock()
		defer h.mu.Unlock()
		for key := range unsaved {
			h.unsaved[key] = true
		}
	}
}

// Restore takes a subscription that another peer kept. Its subscriber is told what is there,
// unless this peer has told it so before. False: nothing is at the topic yet.
func (h *Hub) Restore(s ledger.Subscription) bool {
	resource, ok := h.cfg.Topics.Find(s.Topic)
	if !ok {
		return false
	}
	version, ok := h.cfg.Topics.Version(s.Topic)
	callback, err := url.Parse(s.Callback)
	if !ok || err != nil {
		return ok // one whose callback cannot be read is passed over
	}
	s.Resource, s.Host = resource, strings.ToLower(callback.Hostname())
	key := ledger.KeyOf(s.Topic, s.Callback)
	for record, err := range h.cfg.Store.ListPrefix(store.BucketHub, rowKey(key)) {
		var r row
		if err == nil && json.Unmarshal(record.Value, &r) == nil {
			s.Sent = r.Sent
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.awake()
	if _, err := h.ledger.Put(&s); err != nil {
		h.cfg.Log.Warn("a subscription that another peer kept has no place here", "err", err)
		return true
	}
	h.cfg.Topics.Watch(resource, true)
	h.ledger.Behind(time.Now(), s.Topic, version)
	return true
}

// Drop forgets who subscribes to a resource, and tells nobody: another peer does now.
func (h *Hub) Drop(resource string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ledger.Gone(resource)
	h.cfg.Topics.Watch(resource, false)
}

// keep puts a subscription on disk and then into the ledger.
func (h *Hub) keep(ctx context.Context, s *ledger.Subscription) error {
	key := ledger.KeyOf(s.Topic, s.Callback)
	h.mu.Lock()
	if old, ok := h.ledger.Get(key); ok {
		s.Sent = old.Sent
	}
	h.mu.Unlock()
	if err := h.cfg.Store.Put(ctx, store.BucketHub, rowKey(key), encode(s)); err != nil {
		return err
	}
	if err := h.cfg.Shared.Keep(ctx, s); err != nil {
		return err
	}
	defer h.awake() // to see when it expires
	h.mu.Lock()
	defer h.mu.Unlock()
	fresh := !h.ledger.Has(s.Resource)
	replaced, err := h.ledger.Put(s)
	if replaced != nil {
		h.unsaved[ledger.KeyOf(replaced.Topic, replaced.Callback)] = true
		h.cfg.Shared.Ended(replaced)
	}
	if err != nil {
		h.unsaved[key] = true
		h.cfg.Shared.Ended(s)
		return err
	}
	if fresh {
		h.cfg.Topics.Watch(s.Resource, true)
	}
	return nil
}
