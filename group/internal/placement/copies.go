package placement

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// unserved is a feed that no publisher serves, under whichever address copies of it
// may be.
type unserved struct {
	name string
	refs []feedring.FeedRef
}

// unserved lists the feeds of a lookup that make its answer incomplete.
func (pl *Placer) unserved(p *lookup) (all []unserved) {
	feeds := p.feeds
	serving, missing := map[feedring.PeerID]bool{}, map[string]bool{}
	for _, name := range p.missing {
		missing[name] = true
	}
	for i := range p.seeks {
		switch s := &p.seeks[i]; {
		case s.given == "" || s.copy:
		case s.whole:
			feeds = pl.Lacking(s.given, p.feeds)
		case s.own:
			serving[s.given] = true
		}
	}
	for len(feeds) > 0 {
		n := 1
		for n < len(feeds) && feeds[n].Ref.URL == feeds[0].Ref.URL {
			n++
		}
		for _, f := range pl.preferred(feeds[:n]) {
			name := string(pl.cfg.Theme) + "/" + string(f.Provider)
			if serving[f.Ref.Publisher] || !missing[name] {
				continue
			}
			l := unserved{name, []feedring.FeedRef{f.Ref}}
			if f.Away { // and so are all, but for who carries it
				l.refs = mirrors(feeds[:n])
			}
			all = append(all, l)
		}
		feeds = feeds[n:]
	}
	return all
}

func mirrors(feeds []catalogue.Publication) []feedring.FeedRef {
	refs := make([]feedring.FeedRef, 0, len(feeds))
	for i := range feeds {
		if feeds[i].Carried == 0 || len(feeds) == 1 {
			refs = append(refs, feeds[i].Ref)
		}
	}
	return refs
}

// copy asks a keeper for what the publishers do not serve, one after the other
// while something is left. It returns false where there is nobody to ask.
func (pl *Placer) copy(key Attempt, p *lookup) bool {
	keepers := pl.keepers(p)
	if len(keepers) == 0 {
		return false
	}
	s := seek{copy: true, peers: pl.leastLoaded(keepers), since: p.since}
	if s.since.IsZero() {
		s.since = pl.cached() // whatever is cached was asked for
	}
	size := 0
	for _, l := range pl.unserved(p) {
		if p.has(l) {
			continue
		}
		for _, ref := range l.refs {
			if size += len(ref.URL) + 2*catalogue.Part; size <= catalogue.MaxBytes && len(s.want) < maxItems {
				s.want = append(s.want, ref)
			}
		}
	}
	if len(s.want) == 0 {
		return false
	}
	p.seeks = append(p.seeks, s)
	pl.askNext(key, p, len(p.seeks)-1)
	return true
}

// keepers lists the peers that keep copies and were not asked for any yet.
func (pl *Placer) keepers(p *lookup) []feedring.PeerID {
	asked := 0
	keepers := slices.DeleteFunc(pl.candidates(), func(peer feedring.PeerID) bool {
		return pl.row(peer).Keep <= 0
	})
	for i := range p.seeks {
		if s := &p.seeks[i]; s.copy {
			asked += s.next
			keepers = slices.DeleteFunc(keepers, func(peer feedring.PeerID) bool { return slices.Contains(s.peers[:s.next], peer) })
		}
	}
	if asked >= MaxCandidates {
		return nil
	}
	return keepers
}

// onCopies takes what a keeper says that it has. What nobody else lacks then is no
// more missing.
func (pl *Placer) onCopies(p *lookup, s *seek, got []feedring.FeedRef) {
	if !s.copy || len(got) > len(s.want) {
		return
	}
	s.got = make(map[feedring.FeedRef]bool, len(got))
	for _, ref := range got { // what was not asked for is never looked up
		s.got[ref] = true
	}
	complete := map[string]bool{}
	for _, l := range pl.unserved(p) {
		before, met := complete[l.name]
		complete[l.name] = p.has(l) && (before || !met)
	}
	p.missing = slices.DeleteFunc(p.missing, func(name string) bool {
		if complete[name] {
			p.copies = append(p.copies, name)
		}
		return complete[name]
	})
}

// has reports whether a keeper has a feed whole.
func (p *lookup) has(l unserved) bool {
	return slices.ContainsFunc(p.seeks, func(s seek) bool {
		return slices.ContainsFunc(l.refs, func(ref feedring.FeedRef) bool { return s.got[ref] })
	})
}

// redundant reports whether the answer does without what s found: a keeper that has
// nothing whole, unless something is missing of which it may have a part; and
// whoever serves copies anyway, its own feeds with them.
func (p *lookup) redundant(s *seek) bool {
	useful := func(s *seek) bool { return s.copy && (len(s.got) > 0 || len(p.missing) > 0) }
	if s.copy {
		return !useful(s)
	}
	for i := range p.seeks {
		if o := &p.seeks[i]; o.given == s.given && useful(o) {
			return true
		}
	}
	return false
}

// withdraw takes back what s promised: the answer has no room for it.
func (p *lookup) withdraw(s *seek) {
	p.miss(s.names...)
	if s.copy {
		p.miss(p.copies...)
		p.copies = nil
	}
}
