package web

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/web/pages"
)

// viewParameter asks a stream for entries as a page shows them, and for whom this
// peer does not reach.
const viewParameter, pageView = "view", "page"

// pageEntry is an entry as a page shows it, with what it is compared by there.
func (s *site) pageEntry(e *feedring.Entry) pages.Entry {
	return pages.NewEntry(e, duplicate.KeysOf(e, s.Backend.Site(e)).String())
}

// onceEach is entries as a page shows them, each story once.
func (s *site) onceEach(entries []feedring.Entry) (shown []pages.Entry) {
	for _, e := range duplicate.Fold(entries, s.Backend.Site) {
		shown = append(shown, s.pageEntry(&e))
	}
	return shown
}
