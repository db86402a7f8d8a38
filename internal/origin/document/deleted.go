package document

import (
	"maps"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/htmltext"
	ext "github.com/mmcdole/gofeed/extensions"
)

// deleted reads the tombstones of a feed (RFC 6721), whatever prefix their
// namespace has. Each names an entry by its id, which is its guid.
func deleted(feedURL string, extensions ext.Extensions) (ids []feedring.EntryID) {
	named := make(map[feedring.EntryID]bool)
	for _, prefix := range slices.Sorted(maps.Keys(extensions)) {
		for _, e := range extensions[prefix]["deleted-entry"] {
			guid := htmltext.Cut(strings.TrimSpace(e.Attrs["ref"]), maxGUID)
			id := feedring.NewEntryID(feedURL, guid, "", "")
			if guid != "" && !named[id] && len(ids) < MaxItems {
				named[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}
