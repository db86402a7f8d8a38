package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Reach says whether this peer is cut off from others.
type Reach struct {
	CutOff bool             // it has a network, and reaches no other peer of it
	Groups []feedring.Theme // of which it is a member, and hears no manager
}

// reachEvery is how often a stream looks whether that changed.
const reachEvery = 2 * time.Second

// reachNote says to a reader of a theme, empty for all, what is not reached;
// empty: nothing that is known of.
func (s *site) reachNote(theme feedring.Theme) string {
	r := s.Backend.Reach()
	switch {
	case r.CutOff:
		return "This peer reaches no other peer of its network. It shows what it holds itself, and goes on trying."
	case theme != "" && slices.Contains(r.Groups, theme):
		return "The group " + string(theme) + " has no manager that this peer hears. It shows what it holds itself, and goes on trying."
	default:
		return ""
	}
}

// reachEvent tells a page what it does not get. The state is for a few words of
// space; with an empty note all is well.
type reachEvent struct {
	State string `json:"state,omitempty"`
	Note  string `json:"note"`
}

// reachNow is what a page is told now.
func (f *following) reachNow() reachEvent {
	if note := f.reachNote(f.ask.Theme); note != "" {
		return reachEvent{"Cut off", note}
	}
	if u := f.unserved.Load(); u != nil && len(u.Themes) > 0 {
		names := make([]string, min(len(u.Themes), maxNamed))
		for i := range names {
			names[i] = string(u.Themes[i])
		}
		return reachEvent{"Waiting", "Nobody who serves " + strings.Join(names, ", ") + " is reached. New entries of it come as soon as somebody is."}
	}
	return reachEvent{}
}

// watchReach tells a page when that changes.
func (f *following) watchReach(ctx context.Context, told reachEvent, cancel context.CancelFunc) {
	ticker := time.NewTicker(reachEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := f.reachNow()
		if now == told {
			continue
		}
		if told = now; f.out.send("reach", "", now) != nil {
			cancel()
			return
		}
	}
}

// heldHere adds to the entries of an answer what this peer holds itself: for
// an answer that is not whole, as others are not reached.
func (s *site) heldHere(ctx context.Context, ask Ask, entries []feedring.Entry) []feedring.Entry {
	held, err := s.Backend.Held(ctx, ask)
	if err != nil {
		s.Logger.Warn("what this peer holds cannot be read", "err", err)
		return entries
	}
	for i := range held {
		e := &held[i]
		if !slices.ContainsFunc(entries, func(o feedring.Entry) bool { return o.ID == e.ID && o.Feed == e.Feed }) {
			entries = append(entries, *e)
		}
	}
	slices.SortStableFunc(entries, func(a, b feedring.Entry) int { return b.Published.Compare(a.Published) })
	return entries[:min(len(entries), ask.Limit)]
}
