package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/render"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// seal makes items of what is news to the store.
func (p *publisher) seal(ctx context.Context, b *batch, ref feedring.FeedRef, first feedring.Position) ([]store.Item, error) {
	at, previous, seen, err := p.follows(ref, first)
	if err != nil {
		return nil, err
	}
	var others []feedring.PeerID
	if p.mirrors != nil && b.spec.Theme != "" {
		others = p.mirrors(b.spec.URL)
	}
	items := make([]store.Item, 0, len(b.entries))
	known := false // what follows an entry that the group has is news, whoever looks for the first time
	for i := range b.entries {
		e := b.entries[i]
		e.Feed, e.Provider, e.Theme = b.spec.URL, b.spec.Provider, b.spec.Theme
		e.Publisher, e.Seen, e.Position = p.self, seen, at
		versions, held, err := p.versions(ctx, &e, cmp.Or(b.spec.Share, p.share), others)
		if err != nil {
			return nil, err
		}
		known = known || held
		for i := range versions {
			e := &versions[i]
			if e.Position = at; known || e.Version > 1 {
				e.History = feedring.NoHistory
			}
			payload, err := wire.EncodeEntry(e, previous)
			if err != nil {
				return nil, err
			}
			item := sealed.Item(p.sealer.Seal(wire.KindEntry, payload), e)
			item.Private = b.spec.Theme == ""
			previous = item.Hash
			at.Sequence++
			items = append(items, item)
		}
	}
	return items, nil
}

// versions is what of e, which was found at its origin, goes to the log: the
// next version, or nothing where it is there already or was taken back, which
// holds for good, or its retractions where it is to be taken back. Nor does what
// others published of the feed just so: then it is held.
func (p *publisher) versions(ctx context.Context, e *feedring.Entry, share feedring.Share, others []feedring.PeerID) (_ []feedring.Entry, held bool, _ error) {
	latest, found, err := p.store.Latest(e.Ref(), e.ID)
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
		if held && p.adopts != nil {
			p.adopts(e.Feed)
		}
		return nil, held, err
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
func (p *publisher) retractions(ctx context.Context, e *feedring.Entry, latest *store.Item) (all []feedring.Entry, err error) {
	taken, err := p.store.Versions(ctx, e.Ref(), e.ID)
	if err != nil {
		return nil, err
	}
	version := latest.Version
	for some := range slices.Chunk(taken, feedring.MaxTaken) {
		version++
		all = append(all, feedring.Entry{
			ID: e.ID, Feed: e.Feed, Provider: e.Provider, Theme: e.Theme, Publisher: e.Publisher,
			Published: latest.Published, Seen: e.Seen, Version: version, Retracted: true, Takes: some,
		})
	}
	return all, nil
}

// sameContent reports whether a reader would see no difference. Dates do not
// count: where the origin gives none they are those of the look.
func sameContent(a, b *feedring.Entry) bool {
	return a.Title == b.Title && a.URL == b.URL && a.Summary == b.Summary && a.ContentHTML == b.ContentHTML &&
		a.Language == b.Language && a.Provider == b.Provider && slices.Equal(a.Authors, b.Authors) &&
		slices.Equal(a.Tags, b.Tags) && slices.EqualFunc(a.Attachments, b.Attachments, feedring.Attachment.SameFile)
}
