package web

import (
	"context"
	"slices"
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

// sendReach tells a page whom this peer does not reach.
func (f *following) sendReach(note string) error {
	return f.out.send("reach", "", map[string]string{"note": note})
}

// watchReach tells a page when that changes.
func (f *following) watchReach(ctx context.Context, told string, cancel context.CancelFunc) {
	ticker := time.NewTicker(reachEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		note := f.reachNote(f.ask.Theme)
		if note == told {
			continue
		}
		if told = note; f.sendReach(note) != nil {
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
