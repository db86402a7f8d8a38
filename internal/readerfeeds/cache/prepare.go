package cache

import "net/http"

// Prepare marks the header of what is asked for a feed, so that the front knows
// its own requests. What is served must be had whole: a document that is not
// there, or that a delta did not fit in, is asked for unconditionally, and one
// whose entries are not known by their bytes not as a delta.
func (r *Cache) Prepare(feed string, h http.Header) {
	h.Set("Cdn-Loop", r.loop)
	served := r.held(feed)
	if served == nil {
		return
	}
	d := served.doc.Load()
	if d == nil || served.whole.Load() {
		h.Del("If-None-Match")
		h.Del("If-Modified-Since")
	}
	if d == nil || served.whole.Load() || len(d.IDs) == 0 {
		h.Del("A-Im")
	}
}
