package personal

import "github.com/feedring/feedring/internal/readerfeeds/personal/rows"

func encodeFeed(f *feed) []byte {
	return rows.Encode(rows.FeedRow{
		URL: f.ref.URL, Publisher: f.ref.Publisher, Theme: f.theme, Private: f.private, Epoch: f.at.Epoch, Sequence: f.at.Sequence,
	})
}

func encodeHeld(h *held) []byte {
	var base []byte
	if h.base != (identity{}) {
		base = h.base[:]
	}
	return rows.Encode(rows.EntryRow{
		Base: base, Story: h.story, ID: h.id[:], Feed: h.feed, Epoch: h.at.Epoch, Sequence: h.at.Sequence, Version: h.version, Changed: h.changed,
		Link: h.link, Content: h.content, Origin: h.origin, Size: h.size, Short: h.short, Given: h.given,
		Claim: h.claim, Authoritative: h.sure, Taken: h.retracted, Published: h.published, News: h.news,
	})
}

func (r *Reflector) encodeInterest(in *interest) []byte {
	q := in.query()
	row := rows.InterestRow{
		Theme: q.Theme, Provider: q.Provider, Words: q.Words, Since: q.Since, Until: q.Until, Limit: q.Limit, Stem: in.stem, Public: in.public,
		Modified: in.modified, Filled: in.filled, Attempts: int(in.attempts), Through: in.through,
	}
	before := uint64(0)
	for _, s := range in.items {
		n := r.table.all[s].number
		row.Items = row.Items.Append(n, before)
		before = n
	}
	return rows.Encode(row)
}
