package fetch

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
)

// Diff tells which entries of doc are new or changed since state, oldest
// first, behind them which were taken back, and the state that remembers them.
// When an entry was first seen stands in for a publication date that is missing,
// or later. Seen is left to who publishes, whose times never fall. A changed entry
// keeps its id and has the next Version. What a first fetch finds may be history.
// state is not changed.
func Diff(state State, doc *document.Document, now time.Time) ([]feedring.Entry, State) {
	next := state
	next.Title, next.Feedring, next.Hub, next.Self = doc.Title, doc.Feedring, doc.Hub, doc.Self
	next.NoMirrors = doc.NoMirrors
	next.Calendar = calendarOf(doc.Timing)
	if !doc.Partial {
		next.Omitted = doc.Omitted
	}
	next.known = maps.Clone(state.known)
	if next.known == nil {
		next.known = make(map[feedring.EntryID]known, len(doc.Items))
	}
	items := recognise(&next, next.moved(doc.Items))
	current := make(map[feedring.EntryID]bool, len(items))
	var found []feedring.Entry
	for _, it := range oldestFirst(items) {
		if current[it.Entry.ID] {
			continue
		}
		current[it.Entry.ID] = true
		if e, ok := next.learn(it, now); ok {
			e.History = state.history(it.Entry.Published)
			found = append(found, e)
		}
	}
	if doc.Partial {
		next.studyPart(&state, found, now)
	} else {
		next.study(&state, items, found, current, now)
	}
	found = append(found, next.deleted(doc.Deleted, current)...)
	next.forget(current)
	return found, next
}

// history says whether what this fetch finds, dated so by its feed, was there
// before the feed was offered. After the first fetch everything is news, and so it
// is where nobody knows since when the feed is offered: its log goes on from what
// an earlier version or a backup left.
func (s *State) history(published time.Time) feedring.History {
	since := s.Offered
	if s.Fetched() || since.IsZero() {
		return feedring.NoHistory
	}
	if s.Failures == 0 && !s.LastFetch.IsZero() && s.LastFetch.Before(since) {
		since = s.LastFetch // somebody else of the group found what there was then
	}
	switch {
	case published.IsZero():
		return feedring.UndatedHistory
	case published.Before(since.Truncate(time.Second)):
		return feedring.OlderHistory
	}
	return feedring.NoHistory
}

// deletedHash stands for an entry that its feed took back.
var deletedHash = document.HashOf("deleted")

// deleted tells what the feed took back, once each: retractions. What it still
// has as well is not meant.
func (s *State) deleted(ids []feedring.EntryID, current map[feedring.EntryID]bool) (found []feedring.Entry) {
	for _, id := range ids {
		if current[id] || len(current) >= document.MaxItems { // what is remembered is bounded
			continue
		}
		current[id] = true
		if k := s.known[id]; k.hash != deletedHash {
			k.hash = deletedHash
			s.known[id] = k
			found = append(found, feedring.Entry{ID: id, Retracted: true})
		}
	}
	return found
}

// learn remembers an item, and returns it as an entry if it is news.
func (s *State) learn(it document.Item, now time.Time) (feedring.Entry, bool) {
	k, old := s.known[it.Entry.ID]
	if old && k.hash == it.Hash {
		if k.gone {
			k.gone = false
			s.known[it.Entry.ID] = k
		}
		return feedring.Entry{}, false
	}
	k.gone = false
	if !old {
		k.seen = now.Unix()
	}
	k.hash, k.link = it.Hash, linkHash(it.Link)
	k.version++
	s.known[it.Entry.ID] = k

	e := it.Entry
	e.Version = k.version
	first := time.Unix(k.seen, 0).UTC()
	if first.After(now) { // the clock was set back since
		first = now.UTC().Truncate(time.Second)
	}
	if e.Published.IsZero() || e.Published.After(first) { // nothing is published after it was seen
		e.Published = first
	}
	if e.Updated.After(now) {
		e.Updated = now.UTC().Truncate(time.Second)
	}
	return e, true
}

// moved gives items the ids they had where their feed had another address, if
// they are known by these alone.
func (s *State) moved(items []document.Item) []document.Item {
	if len(s.known) == 0 {
		return items
	}
	var taken map[feedring.EntryID]bool // by items of this document
	for i := range items {
		if _, ok := s.known[items[i].Entry.ID]; ok {
			continue
		}
		for _, key := range items[i].Former() {
			id := feedring.NewEntryID(items[i].Entry.Feed, key, "", "")
			if _, ok := s.known[id]; !ok {
				continue
			}
			if taken == nil {
				items, taken = slices.Clone(items), idsOf(items)
			}
			if !taken[id] {
				taken[id] = true
				items[i].Entry.ID, items[i].Entry.Key = id, key
				break
			}
		}
	}
	return items
}

func idsOf(items []document.Item) map[feedring.EntryID]bool {
	ids := make(map[feedring.EntryID]bool, len(items))
	for i := range items {
		ids[items[i].Entry.ID] = true
	}
	return ids
}

// recognise gives items the ids they had before where a feed makes up new
// guids on each run: of the items whose link is known, four in five have a
// guid that is not.
func recognise(s *State, items []document.Item) []document.Item {
	byLink := s.linkIndex(items)
	recognised, strange := 0, 0
	for _, it := range items {
		if _, ok := byLink[linkHash(it.Link)]; ok {
			recognised++
			if _, ok := s.known[it.Entry.ID]; !ok {
				strange++
			}
		}
	}
	if recognised >= 3 && strange*5 >= recognised*4 {
		s.ByLink = true
	}
	if !s.ByLink {
		return items
	}
	items = slices.Clone(items)
	for i := range items {
		if id, ok := byLink[linkHash(items[i].Link)]; ok && items[i].Entry.ID != id {
			items[i].Entry.ID, items[i].Entry.Key = id, "" // the version before has it
		}
	}
	return items
}

// linkIndex returns the known ids by link, for the links that name one item
// and one known entry only.
func (s *State) linkIndex(items []document.Item) map[document.Hash]feedring.EntryID {
	uses := make(map[document.Hash]int, len(items))
	for _, it := range items {
		uses[linkHash(it.Link)]++
	}
	index := make(map[document.Hash]feedring.EntryID, len(items))
	for id, k := range s.known {
		switch uses[k.link] {
		case 0: // not in this document
		case 1:
			if _, twice := index[k.link]; twice {
				uses[k.link] = 2
				delete(index, k.link)
				continue
			}
			index[k.link] = id
		}
	}
	delete(index, document.Hash{})
	return index
}

func linkHash(link string) document.Hash {
	if link == "" {
		return document.Hash{}
	}
	return document.HashOf(link)
}

// oldestFirst orders items by date if all have one, else as the usual document
// does: the newest stands first.
func oldestFirst(items []document.Item) []document.Item {
	ordered := slices.Clone(items)
	slices.Reverse(ordered)
	for _, it := range ordered {
		if it.Entry.Published.IsZero() {
			return ordered
		}
	}
	sort.SliceStable(ordered, func(i, j int) bool { return ordered[i].Entry.Published.Before(ordered[j].Entry.Published) })
	return ordered
}

// forget keeps the entries of the current document and the newest of the
// others.
func (s *State) forget(current map[feedring.EntryID]bool) {
	if len(s.known)-len(current) <= maxKnown {
		return
	}
	type old struct {
		id   feedring.EntryID
		seen int64
	}
	var others []old
	for id, k := range s.known {
		if !current[id] {
			others = append(others, old{id, k.seen})
		}
	}
	sort.Slice(others, func(i, j int) bool {
		return cmp.Or(cmp.Compare(others[j].seen, others[i].seen), cmp.Compare(others[i].id, others[j].id)) < 0
	})
	for _, o := range others[maxKnown:] {
		delete(s.known, o.id)
	}
}
