package node

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// maxMeant is how many entries one address names at most, so that what is signed of them is
// no more than is taken over at once.
const maxMeant = 16

// Meant implements web.Network. Of an address that is no feed's all entries are read.
func (m *membersAPI) Meant(ctx context.Context, text string) (web.Meant, error) {
	var what web.Meant
	held := func(want func(*store.Head) bool) (refs []web.MeantFeed) {
		for _, h := range m.of.store.HeadsWhere(func(h *store.Head) bool { return !h.Private && want(h) }) {
			refs = append(refs, web.MeantFeed(h.Ref))
		}
		return refs
	}
	url, err := feedring.ParseFeedURL(text)
	if err != nil { // an entry's id, or a peer
		if raw, err := hex.DecodeString(text); err == nil && len(raw) == 16 {
			text = strings.ToLower(text)
		}
		what.Targets = []string{text}
		what.Feeds = held(func(h *store.Head) bool { return string(h.Ref.Publisher) == text })
		for _, it := range m.of.store.LatestByOthers(feedring.EntryID(text), "", "") {
			what.Feeds = append(what.Feeds, web.MeantFeed(it.Ref))
		}
		what.Known = len(what.Feeds) > 0 || m.keeper.Roll() != nil && m.keeper.Roll().Knows(feedring.PeerID(text))
		return what, nil
	}
	url = m.of.origins.FirstAddress(url)
	what.Targets = []string{url}
	what.Feeds = held(func(h *store.Head) bool { return charter.FeedTarget(h.Ref.URL) == charter.FeedTarget(url) })
	if spec, own := m.of.origins.Spec(url); own && spec.Theme != "" && len(what.Feeds) == 0 {
		what.Feeds = []web.MeantFeed{{URL: url, Publisher: m.of.ID()}}
	}
	if what.Known = len(what.Feeds) > 0; what.Known {
		return what, nil
	}
	var entries []string
	for _, address := range slices.Compact([]string{url, text}) {
		found, err := m.of.retractor.ByAddress(ctx, address)
		if err != nil {
			return what, err
		}
		for i := range found {
			if it := &found[i]; !it.Private && !slices.Contains(entries, string(it.ID)) {
				entries, what.Feeds = append(entries, string(it.ID)), append(what.Feeds, web.MeantFeed(it.Ref))
			}
		}
	}
	if len(entries) > maxMeant {
		return what, &web.ManyEntriesError{URL: text, Count: len(entries)}
	}
	if len(entries) > 0 {
		what.Targets, what.Known = entries, true
	}
	return what, nil
}
