package placement

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/leases"
)

// What one coordinator may take of a group.
const (
	MaxLookupsOf = 2000 // lookups under way
	// MaxRecent is how many lookups it may have in the time that a place is reserved
	// before only peers that are less than half full make room for it. One that
	// uses its places has them free again at once and notices nothing; one that
	// does not fills no more than half of a group.
	MaxRecent = 1000
)

// maxAlternates are named by a grant beside the provider.
const maxAlternates = 3

// lookup is one under way.
type lookup struct {
	by      feedring.PeerID // the coordinator
	client  feedring.PeerID
	asked   string // the provider of the question
	since   time.Time
	feeds   []catalogue.Publication
	due     time.Time
	seeks   []seek
	missing []string
	copies  []string // no more missing: copies have it
	greedy  bool     // its coordinator had MaxRecent of late
}

func (p *lookup) miss(names ...string) {
	for _, n := range names {
		if !slices.Contains(p.missing, n) && len(p.missing) < maxItems {
			p.missing = append(p.missing, n)
		}
	}
}

// Lookup looks providers up. The manager does, and the secondary, which is
// asked when the manager is silent.
func (pl *Placer) Lookup(from feedring.PeerID, key Attempt, q Query) {
	feeds := pl.group.Index().Matches(q.Provider)
	if len(feeds) == 0 || len(pl.lookups) >= MaxLookups || pl.lookupsOf[from] >= MaxLookupsOf {
		answer := Answer{Served: len(feeds) > 0}
		if answer.Served || !pl.group.Authoritative() {
			answer.Missing = []string{string(pl.cfg.Theme)}
		}
		pl.group.Answer(from, key, answer)
		return
	}
	within := q.Within
	if within <= 0 || within > time.Minute {
		within = 5 * time.Second
	}
	p := &lookup{by: from, client: q.Client, asked: q.Provider, since: q.Since, feeds: feeds, due: pl.group.Now().Add(within)}
	p.greedy = from != pl.cfg.Self && !pl.recent.Take(from, MaxRecent, pl.group.Now(), pl.ReservedFor())
	pl.plan(p, feeds)
	pl.lookups[key] = p
	pl.lookupsOf.Add(from, 1)
	for i := range p.seeks {
		pl.askNext(key, p, i)
	}
	pl.proceed(key, p)
}

// patience is how long a peer may take to make room.
func (pl *Placer) patience() time.Duration {
	return min(pl.cfg.Refresh/4, 500*time.Millisecond)
}

// askNext asks the next candidate. The manager itself makes room at once.
func (pl *Placer) askNext(key Attempt, p *lookup, i int) {
	s := &p.seeks[i]
	s.asked = ""
	pl.rankAgain(p, s)
	for s.given == "" && s.next < len(s.peers) {
		peer := s.peers[s.next]
		s.next++
		if row := pl.row(peer); row == nil || row.Left || p.greedy && pl.LoadOf(peer) >= leases.Max/2 {
			continue
		}
		if peer == pl.cfg.Self {
			if pl.Reserve(key, p.client, pl.cfg.Self) {
				pl.choose(s, peer)
				pl.made(s, peer)
				pl.onCopies(p, s, pl.group.Whole(s.want, s.since))
			}
			continue
		}
		s.asked = peer
		pl.choose(s, peer)
		pl.countAsked(peer, 1)
		pl.group.AskRoom(peer, key, p.client, s.want, s.since)
		if !pl.group.LookupSet(key) {
			pl.group.LookupAt(key, times.Earlier(pl.group.Now().Add(pl.patience()), p.due))
		}
		return
	}
	if s.given == "" {
		p.miss(s.names...)
	}
}

// rankAgain ranks those that are left after a refusal: lookups that came at the same
// time would else turn to the same next peer, whatever the others gave it meanwhile.
func (pl *Placer) rankAgain(p *lookup, s *seek) {
	if s.next == 0 || s.next == len(s.peers) || s.own || s.cover || s.copy {
		return
	}
	left := slices.Clone(s.peers[s.next:])
	s.peers = s.peers[:s.next]
	whole, nearly := pl.able(p.feeds, times.Later(pl.cached(), p.since))
	for _, peer := range append(pl.ranked(whole), pl.ranked(nearly)...) {
		if slices.Contains(left, peer) {
			s.peers = append(s.peers, peer)
		}
	}
}

// proceed ends the lookup when no answer is awaited any more.
func (pl *Placer) proceed(key Attempt, p *lookup) {
	for i := range p.seeks {
		if p.seeks[i].asked != "" {
			return
		}
	}
	if pl.supplement(key, p) {
		pl.proceed(key, p)
		return
	}
	if len(p.missing) > 0 && pl.group.Now().Before(p.due) && (pl.copy(key, p) || pl.cover(key, p)) {
		pl.proceed(key, p)
		return
	}
	pl.group.LookupEnds(key)
	delete(pl.lookups, key)
	pl.lookupsOf.Add(p.by, -1)
	grants := pl.grants(key, p) // it may lose some
	pl.group.Answer(p.by, key, Answer{Served: true, Grants: grants, Missing: p.missing, Copies: p.copies})
}

// supplement asks the publishers of what a peer lacks that serves all feeds. It
// returns false where there is nothing to ask for.
func (pl *Placer) supplement(key Attempt, p *lookup) bool {
	i := slices.IndexFunc(p.seeks, func(s seek) bool { return s.given != "" && !s.own && !s.cover && !s.copy && !s.whole })
	if i < 0 {
		return false
	}
	p.seeks[i].whole = true
	first := len(p.seeks)
	pl.planPublishers(p, pl.Lacking(p.seeks[i].given, p.feeds))
	for n := first; n < len(p.seeks); n++ {
		if s := &p.seeks[n]; p.tried(s.peers[0]) { // it had no room, or did not answer
			s.next = len(s.peers)
		}
		pl.askNext(key, p, n)
	}
	return true
}

// tried reports whether a peer was asked for room.
func (p *lookup) tried(peer feedring.PeerID) bool {
	return slices.ContainsFunc(p.seeks, func(s seek) bool { return slices.Contains(s.peers[:s.next], peer) })
}

// grants makes the grants of a lookup, as many as one message has room for.
func (pl *Placer) grants(key Attempt, p *lookup) []feedring.Grant {
	var grants []feedring.Grant
	size := 0
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.given == "" {
			continue
		}
		if p.redundant(s) {
			pl.conclude(s, s.given, false)
			continue
		}
		g := pl.grant(key, p, s)
		if size += GrantSize(&g); size > MaxGranted {
			pl.conclude(s, s.given, false)
			p.withdraw(s)
			continue
		}
		pl.conclude(s, s.given, true)
		grants = append(grants, g)
	}
	return grants
}

// cover has what others cached of missing publishers served: by a publisher
// that serves anyway and holds it, else by the least loaded peer that does. It
// returns false where there is nothing left to try.
func (pl *Placer) cover(key Attempt, p *lookup) bool {
	if slices.ContainsFunc(p.seeks, func(s seek) bool { return s.cover }) {
		return false
	}
	peers := pl.Able(p.feeds, pl.cached())
	if len(peers) == 0 {
		peers = pl.leastLoaded(pl.candidates())
	}
	for i := range p.seeks {
		if s := &p.seeks[i]; s.copy && s.given != "" && (len(s.got) > 0 || slices.Contains(peers, s.given)) {
			s.cover = true
			return true
		}
	}
	for i := range p.seeks {
		if s := &p.seeks[i]; s.given != "" && (!s.own || slices.Contains(peers, s.given)) {
			if s.cover = true; s.own {
				s.own = false
				pl.choose(s, s.given)
			}
			return true
		}
	}
	tried := func(peer feedring.PeerID) bool {
		return slices.ContainsFunc(p.seeks, func(s seek) bool { return slices.Contains(s.peers, peer) })
	}
	peers = slices.DeleteFunc(peers, tried)
	if len(peers) == 0 { // who says that it is complete need not serve
		peers = slices.DeleteFunc(pl.leastLoaded(pl.candidates()), tried)
	}
	p.seeks = append(p.seeks, seek{cover: true, peers: peers})
	pl.askNext(key, p, len(p.seeks)-1)
	return true
}

// Late: those who were asked did not answer in time.
func (pl *Placer) Late(key Attempt) {
	p := pl.lookups[key]
	if p == nil {
		return
	}
	over := !pl.group.Now().Before(p.due)
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.asked == "" {
			continue
		}
		pl.countAsked(s.asked, -1)
		pl.conclude(s, s.asked, false)
		if over {
			s.asked, s.next = "", len(s.peers)
		}
		pl.askNext(key, p, i)
	}
	pl.proceed(key, p)
}

// choose counts a peer that is asked to serve what it caches.
func (pl *Placer) choose(s *seek, p feedring.PeerID) {
	if s.open = !s.own; s.open {
		pl.shares.choose(p, 1)
	}
}

// made: a peer made room.
func (pl *Placer) made(s *seek, p feedring.PeerID) {
	s.given = p
	pl.shares.turn(pl.group.Now(), pl.cfg.Refresh)
	pl.shares.madeRoom(p)
}

// conclude ends what choose began.
func (pl *Placer) conclude(s *seek, p feedring.PeerID, given bool) {
	if s.open {
		s.open = false
		pl.shares.conclude(p, given)
	}
}

// countAsked counts assignments under way of a member.
func (pl *Placer) countAsked(peer feedring.PeerID, n int) {
	if l := pl.loads[peer]; pl.row(peer) != nil {
		l.asked = max(0, l.asked+n)
		pl.setLoad(peer, l)
	}
}

// OnAssigned takes the word of a peer that was asked for room: it reserved a place, and has copies whole.
func (pl *Placer) OnAssigned(from feedring.PeerID, key Attempt, ok bool, copies []feedring.FeedRef) {
	p := pl.lookups[key]
	if p == nil {
		return
	}
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.asked != from {
			continue
		}
		pl.countAsked(from, -1)
		s.asked = ""
		if ok {
			pl.made(s, from)
			pl.onCopies(p, s, copies)
		} else {
			pl.conclude(s, from, false)
			pl.askNext(key, p, i)
		}
		pl.proceed(key, p)
		return
	}
}

// TicketAge is how long a ticket holds. It is long, so that a follower whose
// provider is lost goes on at an alternate without asking anybody; the place
// that it keeps is free after ReservedFor.
func (pl *Placer) TicketAge() time.Duration { return max(10*pl.cfg.Refresh, time.Hour) }

// grant names the provider and up to three alternates, with the ticket that
// the driver seals.
func (pl *Placer) grant(key Attempt, p *lookup, s *seek) feedring.Grant {
	g := feedring.Grant{Theme: pl.cfg.Theme, Provider: pl.info(s.given), Own: s.own}
	g.Ticket = feedring.Ticket{
		ID: key.ID, Attempt: key.Number, Group: pl.cfg.Group, Client: p.client,
		Peers: []feedring.PeerID{s.given}, Expiry: pl.group.Now().Add(pl.TicketAge()).UTC().Truncate(time.Second),
	}
	if !s.own && !s.copy && !s.cover { // what each of the others promises to have
		g.Hints = &feedring.Hints{Provider: p.asked, Since: p.since, Held: times.Later(pl.cached(), p.since)}
	}
	others := s.peers
	switch {
	case s.copy: // nobody else said that it has them
		others = nil
	case s.own || s.cover:
		others = pl.Able(p.feeds, pl.cached())
	}
	more := pl.lacksMore(p, s)
	add := func(peer feedring.PeerID) {
		g.Alternates = append(g.Alternates, pl.info(peer))
		g.Ticket.Peers = append(g.Ticket.Peers, peer)
	}
	// A client asks the last alternate whether an empty answer is true. That is the manager
	// where it may serve: whoever tells no load to be asked may not be alone in that, and the
	// manager is trusted with the grant already.
	most, me := maxAlternates, pl.row(pl.cfg.Self)
	self := !s.copy && s.given != pl.cfg.Self && !pl.group.Leaving() &&
		!me.From.After(times.Later(pl.cached(), p.since)) && !me.Lacks(more)
	if self {
		most--
	}
	for _, peer := range others {
		mem := pl.group.Member(peer)
		if peer == s.given || self && peer == pl.cfg.Self || len(g.Alternates) == most || mem.Row == nil || mem.Away || mem.Row.Left || mem.Row.Lacks(more) {
			continue
		}
		add(peer)
	}
	if self {
		add(pl.cfg.Self)
	}
	return g
}

// lacksMore tells exceptions of what was asked that are none of the peer's that
// serves: with one of them another peer is no alternate.
func (pl *Placer) lacksMore(p *lookup, s *seek) func(feedring.FeedRef) bool {
	var asked, excused map[feedring.FeedRef]bool
	return func(ref feedring.FeedRef) bool {
		if asked == nil {
			asked, excused = refsOf(p.feeds), excepted(pl.row(s.given))
		}
		return asked[ref] && !excused[ref] && !excused[catalogue.AllOf(ref.Publisher)]
	}
}

func (pl *Placer) info(p feedring.PeerID) feedring.PeerInfo {
	return feedring.PeerInfo{ID: p, Addrs: pl.row(p).Addrs}
}
