package origins

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// goOn watches a feed as its turn is: from the last fetch that this peer or the
// group knows of, and a moment after another peer ceased. One that is watched
// stays as it is, but for what the origin asked another of those in turn.
func (o *Feeds) goOn(f *origin, own fetch.State) {
	url, st, entries := f.url, own, uint64(0)
	t := o.assignments.of(url)
	if t.Slot == 0 {
		o.watcher.Add(url, st)
		return
	}
	if last := t.last; last.At.After(own.LastFetch) && f.file() == "" && (last.Holds(time.Now()) || !o.watcher.Ours(url)) {
		entries = t.entries
		st = own.ApplyLast(t.last, entries != 0 && entries == o.assignments.watched.entriesNamed(f.spec()), time.Now())
		o.remember(url, &st)
	}
	if t.takenOver {
		o.watcher.Rest(url, st)
	}
	o.watcher.Add(url, st)
	if f.file() == "" {
		o.watcher.Leave(url, t.last)
	}
	o.assignments.left(f.spec(), &st, entries)
}

// applyPeerHints keeps what the origin of a feed asked the peer that fetches it while it rests
// here: that it is gone, or that a host is to be left alone. So it is not forgotten
// where all the group's peers stop.
func (o *Feeds) applyPeerHints(f *origin) {
	last := o.assignments.of(f.url).last
	if !last.Gone && !last.Holds(time.Now()) || f.moved || f.file() != "" {
		return
	}
	o.watcher.ApplyPeerHints(f.url, last)
	own, err := o.State(f.url)
	if err != nil {
		o.Log.Warn("what is known of a feed cannot be read", "url", f.url, "err", err)
		return
	}
	if st := own.ApplyLast(last, false, time.Now()); st.LastFetch.Sub(own.LastFetch) > heldLong { // else it was told before
		o.remember(f.url, &st)
	}
}

// remember keeps a state that no fetch of this peer left.
func (o *Feeds) remember(url string, st *fetch.State) {
	o.mu.Lock()
	f := o.feeds.Get(url)
	due := f != nil && o.remembers(f, st)
	o.mu.Unlock()
	if !due {
		return
	}
	if err := o.save(context.Background(), url); err != nil {
		o.Log.Warn("what another peer told of the last fetch of a feed was not saved", "url", url, "err", err)
	}
}

// lastToTell is what a fetch left, as the group tells it; false: there was none.
func lastToTell(l fetch.Last, entries uint64, now time.Time) (group.LastFetch, bool) {
	if l.At.IsZero() && !now.Before(l.Until) {
		return group.LastFetch{}, false
	}
	if l.At.IsZero() { // nobody was reached, but somebody on the way asked to wait
		l.At = now
	}
	return group.LastFetch{
		Ago: max(0, now.Sub(l.At)), Wait: max(0, l.Until.Sub(now)), Host: l.Host,
		ETag: string(l.Validators.ETag), LastModified: string(l.Validators.LastModified), Entries: entries,
		Failures: l.Failures, Again: max(0, l.Again.Sub(now)), Gone: l.Gone,
	}, true
}

// lastTold is the opposite.
func lastTold(l *group.LastFetch, now time.Time) (last fetch.Last, entries uint64) {
	if l == nil {
		return fetch.Last{}, 0
	}
	last = fetch.Last{
		At: now.Add(-l.Ago).UTC(), Until: now.Add(l.Wait).UTC(), Host: l.Host,
		Validators: fetch.Validators{ETag: fetch.Opaque(l.ETag), LastModified: fetch.Opaque(l.LastModified)},
		Failures:   l.Failures, Again: now.Add(l.Again).UTC(), Gone: l.Gone,
	}
	return last, l.Entries
}

// entriesNamed names what is held of a feed: peers that hold the same entries of
// the same publishers name it alike. 0: nothing is.
func (o *Feeds) entriesNamed(spec feedring.FeedSpec) uint64 {
	publishers := o.Store.Publishers(spec.URL)
	if len(publishers) == 0 {
		return 0
	}
	h := fnv.New64a()
	for _, p := range publishers {
		at := o.Store.LogHead(feedring.FeedRef{URL: spec.URL, Publisher: p}).Position
		_, _ = h.Write([]byte(string(p) + " " + strconv.FormatUint(at.Epoch, 16) + " " + strconv.FormatUint(at.Sequence, 16) + "\n")) // documented never to fail
	}
	return h.Sum64()
}
