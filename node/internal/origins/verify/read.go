package verify

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/times"
)

const (
	// rarer is how many fetches of a stand-in are followed by one reading of those who rest.
	rarer = 8

	turnWithin = time.Minute // that of the host
	readWithin = time.Minute // from then on
	busyFor    = time.Minute // until a host is tried again that others kept busy
	hearsay    = time.Hour   // a reading is put off at most because of what others say that an origin asked for
	leastEvery = time.Second
	mostEvery  = 24 * time.Hour
)

// observation is what this peer found.
type observation struct {
	began time.Time
	at    time.Time     // when it was last tried; zero: not yet
	every time.Duration // between two fetches, as this peer would plan them; 0: it is not known yet
	state fetch.State   // as readings left it, without the entries
	known []byte        // the entries of state

	missing []feedring.EntryID // that the last reading found, and that the group did not have
	since   time.Time          // of missing
}

// patience is how long a stand-in has to publish what a feed has, and may be silent: it fetches
// at its own times, which differ from this peer's.
func (v *Verifier) patience(r *observation) time.Duration { return 2*r.every + 10*v.cfg.Refresh }

// act does what is due, and returns when it is to be called again; false: the stand-in is not
// to be verified any more.
func (v *Verifier) act(r *observation, s *standIn) (next time.Time, more bool) {
	if !v.cfg.Feeds.RestsFor(s.URL, s.By) {
		return time.Time{}, false
	}
	if r.every == 0 {
		v.plan(r, s.URL)
	}
	now := time.Now()
	if at := v.due(r, s, now); at.After(now) {
		return at, !r.state.Ended()
	}
	if r.missing = v.lacking(s.URL, r.missing); len(r.missing) == 0 {
		if at := v.due(r, s, now); at.After(now) {
			return at, true
		}
	}
	select {
	case v.places <- struct{}{}:
		v.read(r, s)
		<-v.places
	case <-v.ctx.Done():
	}
	return v.due(r, s, time.Now()), !r.state.Ended()
}

// plan goes on from this peer's own last fetch.
func (v *Verifier) plan(r *observation, url string) {
	st, err := v.cfg.Feeds.State(url)
	if err == nil && st.Fetched() {
		r.known, err = v.cfg.Feeds.Known(url)
	}
	if err != nil {
		v.cfg.Log.Warn("what is known of a feed cannot be read", "url", url, "err", err)
		st = fetch.State{}
	}
	st.URL = url
	r.state = st.WithoutKnown()
	now := time.Now()
	v.cfg.Feeds.Plan(&st, fetch.Outcome{}, now)
	r.every = between(&st, now)
}

func between(s *fetch.State, now time.Time) time.Duration {
	return min(max(s.NextFetch.Sub(now), leastEvery), mostEvery)
}

// due is when the feed is to be read. Those who rest read it one after another, and when the
// group was not told of a fetch for long.
func (v *Verifier) due(r *observation, s *standIn, now time.Time) time.Time {
	at, turn, turns := r.since.Add(v.patience(r)), time.Duration(s.Check-1), time.Duration(s.Checks)
	if len(r.missing) == 0 {
		at = r.began.Add(rarer*turn*r.every + phaseOf(s.URL, rarer*r.every))
		silent := s.told.Add(v.patience(r) + turn*r.every)
		if !r.at.IsZero() {
			at = r.at.Add(rarer * turns * r.every)
			silent = times.Later(silent, r.at.Add(turns*r.every))
		}
		at = times.Earlier(at, silent)
	}
	if s.until.After(at) {
		at = times.Earlier(s.until, at.Add(hearsay))
	}
	return v.cfg.Feeds.Opens(s.URL, s.Part, times.Later(times.Later(at, r.state.NextFetch), now))
}

// phaseOf keeps the feeds of a peer from being read all at once.
func phaseOf(url string, d time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url)) // documented never to fail
	return time.Duration(h.Sum64() % uint64(d))
}

// lacking is which entries the group does not have.
func (v *Verifier) lacking(url string, ids []feedring.EntryID) []feedring.EntryID {
	return slices.DeleteFunc(ids, func(id feedring.EntryID) bool { return v.cfg.Feeds.Holds(url, id) })
}

// read reads the feed.
func (v *Verifier) read(r *observation, s *standIn) {
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	limit := time.AfterFunc(turnWithin, cancel)
	defer limit.Stop()
	st := r.state
	var answer fetch.Answer
	var failed *fetch.Error
	var held *fetch.HeldError
	err := v.cfg.Feeds.Visit(ctx, st.Asked(), func(ctx context.Context) (err error) {
		if !limit.Reset(readWithin) {
			return ctx.Err()
		}
		answer, err = v.cfg.Fetcher.Fetch(ctx, s.URL, &st)
		if err != nil && !errors.As(err, &failed) { // it was cut off, and the origin was asked
			err = &fetch.Error{URL: s.URL, Detail: "it was not read in time", Err: err}
		}
		return err
	})
	now := time.Now()
	switch {
	case v.ctx.Err() != nil:
	case errors.As(err, &failed):
		st, failed = st.Failed(failed, now)
		v.cfg.Feeds.Plan(&st, fetch.Outcome{Err: failed, Hints: answer.Hints}, now)
		r.at, r.state = now, st
	case errors.As(err, &held):
		r.state.NextFetch = held.Until
	case err != nil:
		r.state.NextFetch = now.Add(busyFor)
	default:
		v.take(r, s, answer, now)
	}
}

// take takes in what a feed has. What is missing for the second time was kept back; what left
// the feed meanwhile proves nothing, nor does a feed whose entries have other ids for each
// reader (ByLink).
func (v *Verifier) take(r *observation, s *standIn, answer fetch.Answer, now time.Time) {
	st := r.state
	if err := st.LoadKnown(r.known); err != nil {
		v.cfg.Log.Warn("what is known of a feed cannot be read", "url", s.URL, "err", err)
	}
	entries, next, outcome := st.After(answer, now)
	v.cfg.Feeds.Plan(&next, outcome, now)
	r.every = between(&next, now)
	second := len(r.missing) > 0
	was := slices.DeleteFunc(r.missing, func(id feedring.EntryID) bool { return !next.Lists(id) })
	if r.missing = nil; !second && !next.NoMirrors && !next.ByLink { // else the next reading is not sooner than usual
		r.missing, r.since = v.lacking(s.URL, v.news(&st, entries, now)), now
	}
	if known, err := next.MarshalKnown(); err == nil {
		r.at, r.state, r.known = now, next.WithoutKnown(), known
	}
	if answer.Document != nil {
		v.cfg.Feeds.WasRead(s.URL, next.NoMirrors)
	}
	if was = v.lacking(s.URL, was); len(was) > 0 && !next.NoMirrors && !next.ByLink {
		v.cfg.Log.Warn("the peer that fetches a feed keeps entries back: this peer fetches it itself for a day", "url", s.URL, "peer", s.By, "entries", len(was))
		v.cfg.Loop.Tell(s.Group, group.StandInFailed{URL: s.URL, By: s.By})
	}
}

// news are entries that the group has if somebody published them: what is older may have been
// dropped again.
func (v *Verifier) news(before *fetch.State, entries []feedring.Entry, now time.Time) (ids []feedring.EntryID) {
	recent := now.Add(-v.cfg.Freshness / 2)
	for i := range entries {
		if e := &entries[i]; e.Version == 1 && !e.Retracted && (before.LastSuccess.After(recent) || e.Published.After(recent)) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}
