package origins

import (
	"cmp"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
)

// serve offers a published feed to pollers. One that shares less than everything
// is not offered: its document holds the rest.
func (o *Feeds) serve(spec feedring.FeedSpec, st *fetch.State) {
	if spec.Theme == "" || cmp.Or(spec.Share, o.Share).Cuts() || spec.File == "" && o.OptOuts.Withheld(spec.URL) {
		return
	}
	o.Cache.Offer(spec.URL, spec.Provider)
	o.Cache.Present(spec.URL, o.present(spec.URL, st))
	o.Cache.Plan(spec.URL, st.NextFetch)
}

// Fetched is called by the watcher with each document, before its entries. It is put
// on disk after these were published: nobody waits for that, and what is known of the
// fetch is put on disk last, so that the next process asks for a document that is not.
func (o *Feeds) Fetched(url string, page fetch.Page) {
	came := cache.Fetched{Body: page.Body, ContentType: page.ContentType, At: time.Now()}
	if page.Partial {
		o.Cache.ShowPart(url, came)
		return
	}
	o.Cache.Show(url, came)
}
