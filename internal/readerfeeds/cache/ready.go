package cache

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/feedring/feedring/internal/origin/decode"
)

// ready is a version as it is sent, whole and as deltas.
type ready struct {
	of   *doc
	tag  string // without quotes and coding
	full *packed

	etags        [codings][]string
	contentType  []string
	lastModified []string
	link         []string
	heads        [answeredUnchanged + 1][codings]atomic.Pointer[[]byte] // of Plain; nil: not asked for yet

	layout    layout
	body      []byte // as it came, for deltas
	charset   string
	hub, self string

	mu     sync.Mutex
	deltas map[tag]*packed // by the version that the poller has; nil: the whole is no longer
}

// newReady makes a document ready, with links to hub and self.
func newReady(d *doc, body []byte, hub, self string) *ready {
	charset := decode.Charset(body, d.ContentType)
	r := &ready{of: d, body: body, charset: charset, layout: layOut(body, charset), hub: hub, self: self, deltas: make(map[tag]*packed)}
	r.tag = string(d.Tag) + "." + linksTag(hub, self)
	for c := range r.etags {
		r.etags[c] = []string{`"` + r.tag + endings[c] + `"`}
	}
	whole, _ := r.layout.linked(body, charset, hub, self)
	r.full = pack(whole)
	r.contentType = []string{d.mediaType(r.layout.format, charset)}
	r.lastModified = []string{d.Modified.Format(http.TimeFormat)}
	r.link = []string{linkHeader(&r.layout, hub, self)}
	return r
}

// linkHeader tells of the same links as the document.
func linkHeader(l *layout, hub, self string) string {
	if l.self != "" && isHeaderSafe(l.self) {
		self = l.self
	}
	header := "<" + self + `>; rel="self"`
	if hub != "" {
		header += ", <" + hub + `>; rel="hub"`
	}
	return header
}

// isHeaderSafe reports whether a link of a document can stand in a header.
func isHeaderSafe(link string) bool {
	for _, c := range []byte(link) {
		if c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			return false
		}
	}
	return true
}

// delta returns the document without the entries that a version has had, nil
// where that is not known or the whole is no longer.
func (r *ready) delta(had tag) *packed {
	ids, ok := r.of.had(had)
	if !ok || len(r.layout.items) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if made, ok := r.deltas[had]; ok {
		return made
	}
	old := make(map[itemID]bool, len(ids))
	for _, id := range ids {
		old[id] = true
	}
	now := r.of.IDs
	kept := 0
	part := r.layout.only(r.body, func(i int) bool {
		if old[now[i]] {
			return false
		}
		kept++
		return true
	})
	r.deltas[had] = nil
	if kept < len(now) {
		l := layOut(part, r.charset)
		part, _ = l.linked(part, r.charset, r.hub, r.self)
		r.deltas[had] = pack(part)
	}
	return r.deltas[had]
}

func (d *doc) had(t tag) ([]itemID, bool) {
	if t == d.Tag { // the same document with other links
		return d.IDs, true
	}
	for _, v := range d.Past {
		if v.Tag == t {
			return v.IDs, true
		}
	}
	return nil, false
}

// weight is what r holds in memory, but for deltas to come: those are parts of
// the whole, and at most maxPast.
func (r *ready) weight() int { return r.full.weight() + cap(r.body) }
