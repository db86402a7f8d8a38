package client

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Resume is what a follower needs to go on another time. It marshals to JSON.
// The zero Resume begins. Follow keeps the one that it is given up to date, on
// the goroutine that calls back, and not after it returned.
type Resume struct {
	Began  time.Time           // when the reader began to follow
	At     time.Time           // until then nothing is missing
	Groups []GroupCursor       // in the order of themes
	Shown  []Shown             // copies shown last, oldest first
	Peers  []feedring.PeerInfo // met last, newest first
}

// GroupCursor is how far one group was shown.
type GroupCursor struct {
	Theme  feedring.Theme
	Cursor feedring.Cursor
}

// Shown is one copy of an entry that was shown, or counts as shown. See feedring.Copy.
type Shown struct {
	ID        feedring.EntryID `json:"id"`
	Version   uint32           `json:"version,omitempty"`
	Identity  string           `json:"identity,omitempty"` // hexadecimal digits; empty: kept by a version before
	Publisher uint64           `json:"publisher,omitempty"`
	Story     uint64           `json:"story,omitempty"`
	OfSite    bool             `json:"of_site,omitempty"`
}

type resumeJSON struct {
	Began  time.Time   `json:"began,omitzero"`
	At     time.Time   `json:"at,omitzero"`
	Groups []groupJSON `json:"groups,omitempty"`
	Shown  []Shown     `json:"shown,omitempty"`
	Peers  []peerJSON  `json:"peers,omitempty"`
}

type groupJSON struct {
	Theme feedring.Theme `json:"theme"`
	Feeds []feedJSON     `json:"feeds"`
}

type feedJSON struct {
	URL       string          `json:"url"`
	Publisher feedring.PeerID `json:"publisher"`
	Epoch     uint64          `json:"epoch"`
	Sequence  uint64          `json:"sequence"`
}

type peerJSON struct {
	ID    feedring.PeerID `json:"id"`
	Addrs []string        `json:"addrs,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (r Resume) MarshalJSON() ([]byte, error) {
	out := resumeJSON{Began: r.Began, At: r.At, Shown: r.Shown}
	for _, g := range r.Groups {
		group := groupJSON{Theme: g.Theme, Feeds: []feedJSON{}}
		for _, ref := range slices.SortedFunc(maps.Keys(g.Cursor), feedring.FeedRef.Compare) {
			at := g.Cursor[ref]
			group.Feeds = append(group.Feeds, feedJSON{ref.URL, ref.Publisher, at.Epoch, at.Sequence})
		}
		out.Groups = append(out.Groups, group)
	}
	for _, p := range r.Peers {
		out.Peers = append(out.Peers, peerJSON(p))
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Resume) UnmarshalJSON(b []byte) error {
	var in resumeJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Resume{Began: in.Began, At: in.At, Shown: in.Shown}
	for _, g := range in.Groups {
		cursor := make(feedring.Cursor)
		for _, f := range g.Feeds {
			cursor[feedring.FeedRef{URL: f.URL, Publisher: f.Publisher}] = feedring.Position{Epoch: f.Epoch, Sequence: f.Sequence}
		}
		r.Groups = append(r.Groups, GroupCursor{g.Theme, cursor})
	}
	for _, p := range in.Peers {
		r.Peers = append(r.Peers, feedring.PeerInfo(p))
	}
	return nil
}
