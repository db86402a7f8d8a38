package feedfront

import "net/http"

// Prepare marks the header of what is asked for a feed, so that the front knows
// its own requests. What is served must be had whole: a document that is not
// there is asked for unconditionally, and none as a delta.
func (r *Room) Prepare(feed string, h http.Header) {
	h.Set("Cdn-Loop", r.loop)
	if r.held(feed) != nil {
		h.Del("A-Im")
	}
	if r.lacks(feed) {
		h.Del("If-None-Match")
		h.Del("If-Modified-Since")
	}
}
