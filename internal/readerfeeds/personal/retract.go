package personal

import (
	"time"

	"github.com/feedring/feedring/internal/store"
)

// Retract drops what a retraction names that Stored will not come to: its log
// was not here for so long that it goes on after it.
func (r *Reflector) Retract(it *store.Item) {
	r.changing.Lock()
	defer r.changing.Unlock()
	if n, ok := r.byRef[it.Ref]; ok {
		r.retract(n, &arrival{
			ref: it.Ref, at: it.Position, id: it.ID, version: it.Version, theme: it.Theme, provider: it.Provider,
			site: r.siteOf(it.Theme, it.Ref, ""),
		})
	}
}

// retract drops an entry that its publisher took back. Lists go on holding its
// place, so that one row says it however many they are, and show nothing there.
// What is not known here may be on its way from a peer that does not know: it
// is remembered for a while.
func (r *Reflector) retract(feed uint32, a *arrival) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := identityOf(a.ref.URL, a.id)
	s, known := r.table.byID[id]
	switch {
	case !known:
		s = r.learn(held{id: id, at: a.at, version: a.version, feed: feed, origin: originOf(a.theme, a.provider), sure: a.site != ""})
	case r.table.all[s].feed != feed || r.table.all[s].retracted:
		return // another publisher's, which is not this one's to take back
	}
	h := &r.table.all[s]
	r.table.count(h, -1) // what tells the same is not held any more
	h.link, h.content = 0, 0
	h.retracted, h.version, h.changed = true, max(a.version, h.version+1), time.Now().Unix()
	if h.kept {
		r.uncopy(h)
		r.writing.put(entryKey(h.number), encodeHeld(h))
	}
}

// known finds an entry that comes from a feed, for which a site stands if sure.
// One that another publisher took back is not known any more, else anybody's
// mirror could keep the site's own entries from readers; unless the site took it
// back, and a mirror goes on.
func (r *Reflector) known(id identity, feed uint32, sure bool) (slot, bool) {
	s, ok := r.table.byID[id]
	if ok && r.table.all[s].retracted && r.table.all[s].feed != feed && (sure || !r.table.all[s].sure) {
		delete(r.table.byID, id)
		return 0, false
	}
	return s, ok
}
