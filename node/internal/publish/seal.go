package publish

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/readerfeeds/render"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// seal makes items of what is news to the store.
func (p *Publisher) seal(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry, first feedring.Position) ([]store.Item, error) {
	at := first
	previous, seen, err := p.follows(feedring.FeedRef{URL: spec.URL, Publisher: p.Self}, first)
	if err != nil {
		return nil, err
	}
	var others []feedring.PeerID
	if p.Mirrors != nil && spec.Theme != "" {
		others = p.Mirrors.Mirrors(spec.URL)
	}
	items := make([]store.Item, 0, len(entries))
	add := func(e *feedring.Entry) error {
		e.Position = at
		payload, err := wire.EncodeEntry(e, previous)
		if err != nil {
			return err
		}
		site := ""
		if p.Names != nil {
			site = p.Names.Bearing(e.Ref(), e.Provider)
		}
		item := sealed.Item(p.Sealer.Seal(wire.KindEntry, payload), e, site)
		item.Private = spec.Theme == ""
		previous = item.Hash
		at.Sequence++
		items = append(items, item)
		return nil
	}
	again, err := p.hiddenRetractions(ctx, spec, seen)
	if err != nil {
		return nil, err
	}
	for i := range again {
		if err := add(&again[i]); err != nil {
			return nil, err
		}
	}
	known := false // what follows an entry that the group has is news, whoever looks for the first time
	for i := range entries {
		e := entries[i]
		e.Feed, e.Provider, e.Theme = spec.URL, spec.Provider, spec.Theme
		e.Publisher, e.Seen, e.Position = p.Self, seen, at
		versions, held, err := p.versions(ctx, &e, cmp.Or(spec.Share, p.Share), others)
		if err != nil {
			return nil, err
		}
		known = known || held
		for i := range versions {
			if e := &versions[i]; known || e.Version > 1 {
				e.History = feedring.NoHistory
			}
			if err := add(&versions[i]); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// hiddenRetractions makes the retractions anew that came after a fork of this peer's log: nobody obeys those, and what
// they took back may have come before. The origin does not tell of them again.
func (p *Publisher) hiddenRetractions(ctx context.Context, spec feedring.FeedSpec, seen time.Time) (all []feedring.Entry, err error) {
	ref := feedring.FeedRef{URL: spec.URL, Publisher: p.Self}
	if p.Forks == nil || spec.Theme == "" {
		return nil, nil
	}
	versions := make(map[feedring.EntryID]uint32)
	for _, fork := range p.Forks.Of(ref) {
		for after := (feedring.Position{Epoch: fork.Epoch, Sequence: fork.Sequence - 1}); after.Epoch == fork.Epoch; {
			items, err := p.Store.Scan(ctx, ref, after, 0, 0)
			if err != nil {
				return nil, err
			}
			if len(items) == 0 {
				hole, holed := p.Store.NextHole(ref, after)
				if !holed {
					break
				}
				after = hole // of what is damaged
				continue
			}
			for i := range items {
				it := &items[i]
				if after = it.Position; after.Epoch != fork.Epoch || !it.Retraction || it.Theme != spec.Theme {
					continue
				}
				latest, found, err := p.Store.Latest(ref, it.ID)
				if err != nil {
					return nil, err
				}
				if found && !p.Forks.Hides(ref, latest.Position) {
					continue // it was made anew
				}
				e, _, err := wire.DecodeEntry(sealed.Seal(it))
				if err != nil {
					return nil, err
				}
				versions[it.ID] = max(versions[it.ID], latest.Version) + 1
				e.Version, e.Seen, e.Provider = versions[it.ID], seen, spec.Provider
				all = append(all, *e)
			}
		}
	}
	return all, nil
}

// versions is what of e, which was found at its origin, goes to the log: the
// next version, or nothing where it is there already or was taken back, which
// holds for good, or its retractions where it is to be taken back. Nor does what
// others published of the feed just so: then it is held.
func (p *Publisher) versions(ctx context.Context, e *feedring.Entry, share feedring.Share, others []feedring.PeerID) (_ []feedring.Entry, held bool, _ error) {
	latest, found, err := p.Store.Latest(e.Ref(), e.ID)
	if err != nil || found && latest.Retraction {
		return nil, false, err
	}
	if e.Retracted {
		all, err := p.retractions(ctx, e, &latest)
		return all, false, err
	}
	if e.Published.IsZero() || e.Published.After(e.Seen) {
		e.Published = e.Seen.Truncate(time.Second)
	}
	if e.Theme != "" {
		share.Cut(e)
	}
	if held, err := p.adopted(e, others); held || err != nil {
		if held {
			p.Mirrors.Adopted(e.Feed)
		}
		return nil, held, err
	}
	if found && p.Forks != nil && p.Forks.Hides(e.Ref(), latest.Position) { // nobody is shown it
		e.Version = max(e.Version, latest.Version)
		return []feedring.Entry{*e}, false, nil
	}
	if !found || latest.Theme != e.Theme {
		return []feedring.Entry{*e}, false, nil
	}
	// Whoever found e may have forgotten what was published before: a crash may
	// come between storing entries and noting them, and the note may be lost.
	// And of what changed nothing may be shared.
	forgotten := e.Version <= latest.Version
	if forgotten {
		e.Version = latest.Version + 1
	}
	prior, _, err := wire.DecodeEntry(sealed.Seal(&latest))
	if err != nil {
		return nil, false, err
	}
	if e.Key == "" { // it was recognised by its link
		e.Key = prior.Key
	}
	if forgotten || share.Cuts() {
		if _, err := wire.EncodeEntry(e, [32]byte{}); err != nil { // as it will be seen
			return nil, false, err
		}
		if sameContent(e, prior) {
			return nil, false, nil
		}
	}
	correct(e, prior)
	return []feedring.Entry{*e}, false, nil
}

// correct dates a version that its origin gave no later date than the one before:
// readers that go by dates would not notice it.
func correct(e, prior *feedring.Entry) {
	before := render.UpdatedOf(prior)
	if render.UpdatedOf(e).Truncate(time.Second).After(before) {
		return
	}
	if e.Updated = e.Seen.Truncate(time.Second); !e.Updated.After(before) {
		e.Updated = before.Add(time.Second)
	}
}

// retractions takes every version of e back that is stored: one retraction,
// unless there are very many.
func (p *Publisher) retractions(ctx context.Context, e *feedring.Entry, latest *store.Item) (all []feedring.Entry, err error) {
	taken, err := p.Store.Versions(ctx, e.Ref(), e.ID)
	if err != nil {
		return nil, err
	}
	if len(taken) == 0 {
		return nil, nil
	}
	prior, _, err := wire.DecodeEntry(sealed.Seal(latest))
	if err != nil {
		return nil, err
	}
	version := latest.Version
	for some := range slices.Chunk(taken, feedring.MaxTaken) {
		version++
		all = append(all, feedring.Entry{
			ID: e.ID, Key: prior.Key, Feed: e.Feed, Provider: e.Provider, Theme: e.Theme, Publisher: e.Publisher,
			Published: latest.Published, Seen: e.Seen, Version: version, Retracted: true, Takes: some,
		})
	}
	return all, nil
}

// sameContent reports whether a reader would see no difference. Dates do not
// count: where the origin gives none they are those of the fetch.
func sameContent(a, b *feedring.Entry) bool {
	return a.Title == b.Title && a.URL == b.URL && a.Summary == b.Summary && a.ContentHTML == b.ContentHTML &&
		a.Language == b.Language && a.Provider == b.Provider && slices.Equal(a.Authors, b.Authors) &&
		slices.Equal(a.Tags, b.Tags) && slices.EqualFunc(a.Attachments, b.Attachments, feedring.Attachment.SameFile)
}

// mostAdopted is the highest version of others that counts on: nobody's entry has so
// many.
const mostAdopted = 1 << 16

// adopted reports whether e, as it was found, is held of one of others, who publish
// the same feed. If not, and theirs agrees with it, it becomes the version after theirs:
// readers take theirs for it. One that differs is a copy of its own, or whoever signed
// the entry first would keep it from readers. News that they call history, so that who
// follows since before it is not told of it, is not held.
func (p *Publisher) adopted(e *feedring.Entry, others []feedring.PeerID) (bool, error) {
	for _, other := range others {
		item, found, err := p.Store.Latest(feedring.FeedRef{URL: e.Feed, Publisher: other}, e.ID)
		if err != nil {
			return false, err
		}
		if !found || item.Theme != e.Theme || item.Private || item.Retraction {
			continue
		}
		theirs, _, err := wire.DecodeEntry(sealed.Seal(&item))
		if err != nil {
			return false, err
		}
		if _, err := wire.EncodeEntry(e, [32]byte{}); err != nil { // as it will be seen
			return false, err
		}
		same := sameContent(e, theirs)
		switch {
		case same && (e.History != feedring.NoHistory || theirs.NewSince(e.Published)):
			return true, nil
		case duplicate.CopyOf(e).Story != duplicate.CopyOf(theirs).Story || item.Version > mostAdopted:
			continue
		case !same:
			correct(e, theirs)
		}
		e.Version = max(e.Version, item.Version+1)
	}
	return false, nil
}
