package fleetlink

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/peer"
)

const (
	// GoneAfter is how long a peer is away before others take its slots: a restart moves
	// nothing.
	GoneAfter = 10 * time.Minute
	// forgottenAfter is when nothing that it held counts any more: what was deleted
	// meanwhile is not known either.
	forgottenAfter = fleet.Stays
	// meetWithin is how long after a start the peers that were there lately are taken to be
	// there still, if the group has not been found until then.
	meetWithin = 30 * time.Second
	saveEvery  = time.Minute
)

// Views tells what the machine knows.
type Views interface{ View() *peer.View }

// Records keeps small records. Value returns nil where there is none.
type Records interface {
	Value() ([]byte, error)
	Put(ctx context.Context, value []byte) error
}

// Capacity tells for how many personal feeds this peer has room now.
type Capacity interface{ Told() int }

// Listener is told that the members are others. It must not block.
type Listener interface{ MembersChanged() }

// MembersConfig is what Members needs.
type MembersConfig struct {
	Self     feedring.PeerID
	Capacity Capacity
	Every    time.Duration // between looks at the group
	Views    Views
	Records  Records
	Listener Listener
	Log      *slog.Logger
}

// Members are the peers of the fleet, with those that are away. It is safe for concurrent
// use.
type Members struct {
	cfg   MembersConfig
	began time.Time

	mu      sync.Mutex
	settled bool // the group was found
	known   map[feedring.PeerID]*member
	now     []fleet.Member
	saved   time.Time
}

// member is what is kept of a peer of the fleet.
type member struct {
	Capacity int       `json:"capacity"`
	Seen     time.Time `json:"seen"`
	present  bool
}

// OpenMembers reads who belonged to the fleet before.
func OpenMembers(cfg MembersConfig) (*Members, error) {
	m := &Members{cfg: cfg, began: time.Now(), known: make(map[feedring.PeerID]*member)}
	value, err := cfg.Records.Value()
	if err == nil && value != nil {
		err = json.Unmarshal(value, &m.known)
	}
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(m.known, func(p feedring.PeerID, k *member) bool { return p == "" || k == nil || p == cfg.Self })
	m.look(m.began)
	return m, nil
}

// Members lists the peers, this one among them, by id.
func (m *Members) Members() []fleet.Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Known reports whether a peer was a member within 30 days.
func (m *Members) Known(p feedring.PeerID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[p] != nil
}

// Run looks at the group until ctx ends.
func (m *Members) Run(ctx context.Context) {
	tick := time.NewTicker(m.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			m.Look(now)
			m.save(ctx, now)
		}
	}
}

// Look takes what the machine knows now.
func (m *Members) Look(now time.Time) {
	m.mu.Lock()
	before := m.now
	m.look(now)
	changed := !slices.Equal(before, m.now)
	if changed {
		m.saved = time.Time{}
	}
	m.mu.Unlock()
	if changed {
		m.cfg.Listener.MembersChanged()
	}
}

func (m *Members) look(now time.Time) {
	for _, k := range m.known {
		k.present = false
	}
	if v := m.cfg.Views.View().Fleet; v != nil && v.Settled {
		m.settled = true
		m.see(v, now)
	}
	waiting := !m.settled && now.Sub(m.began) < meetWithin
	m.now = []fleet.Member{{Peer: m.cfg.Self, Interests: m.cfg.Capacity.Told(), Present: true}}
	for p, k := range m.known {
		silent := now.Sub(k.Seen)
		if silent > forgottenAfter {
			delete(m.known, p)
			continue
		}
		if waiting && silent < GoneAfter+now.Sub(m.began) { // as when this peer stopped
			k.present = true
		}
		one := fleet.Member{Peer: p, Interests: k.Capacity, Present: k.present}
		if !k.present {
			one.Gone, one.Seen = silent >= GoneAfter, k.Seen
		}
		m.now = append(m.now, one)
	}
	sort.Slice(m.now, func(i, j int) bool { return m.now[i].Peer < m.now[j].Peer })
}

// see takes the peers that the group shows as present.
func (m *Members) see(v *group.View, now time.Time) {
	for i := range v.Members {
		one := &v.Members[i]
		if one.Row.Peer == m.cfg.Self || one.Away || one.Row.Left || one.Row.Capacity == 0 {
			continue
		}
		k := m.known[one.Row.Peer]
		if k == nil {
			k = new(member)
			m.known[one.Row.Peer] = k
		}
		k.Capacity, k.Seen, k.present = one.Row.Capacity, now, true
	}
}

// save keeps the peers for the next start: at once where they are others, else now and
// then, for when they were seen.
func (m *Members) save(ctx context.Context, now time.Time) {
	m.mu.Lock()
	due := now.Sub(m.saved) >= saveEvery
	value, err := json.Marshal(m.known)
	if due {
		m.saved = now
	}
	m.mu.Unlock()
	if !due {
		return
	}
	if err == nil {
		err = m.cfg.Records.Put(ctx, value)
	}
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.Warn("the peers of the fleet are not saved: a restart may move personal feeds", "err", err)
	}
}
