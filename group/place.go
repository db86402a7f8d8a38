package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/leases"
)

// What one coordinator may take of a group.
const (
	maxPlacingFor = 2000 // lookups under way
	// maxPlaced is how many lookups it may have in the time that a place is kept
	// before only peers that are less than half full make room for it. One that
	// uses its places has them free again at once and notices nothing; one that
	// does not fills no more than half of a group.
	maxPlaced = 1000
)

// placement is a lookup under way.
type placement struct {
	by      feedring.PeerID // the coordinator
	client  feedring.PeerID
	since   time.Time
	feeds   []catalogue.Publication
	due     time.Time
	seeks   []seek
	missing []string
	copies  []string // no more missing: copies have it
	greedy  bool     // its coordinator had maxPlaced of late
}

func (p *placement) miss(names ...string) {
	for _, n := range names {
		if !slices.Contains(p.missing, n) && len(p.missing) < maxTold {
			p.missing = append(p.missing, n)
		}
	}
}

// onPlace looks providers up. The manager does, and the secondary, which is
// asked when the manager is silent.
func (m *Machine) onPlace(from feedring.PeerID, q Place) {
	key := ask{q.ID, q.Attempt}
	if m.placing[key] != nil || m.leaving {
		return
	}
	if !m.serving && m.lead.secondary != m.cfg.Self {
		m.stale(from)
		return
	}
	feeds := m.matches(q.Provider)
	answer := Placed{Header: m.header(), ID: q.ID, Attempt: q.Attempt, Served: len(feeds) > 0}
	if len(feeds) == 0 || len(m.placing) >= maxPlacing || m.placingFor[from] >= maxPlacingFor {
		if answer.Served || !m.Sure() {
			answer.Missing = []string{string(m.cfg.Theme)}
		}
		m.send(from, answer)
		return
	}
	within := q.Within
	if within <= 0 || within > time.Minute {
		within = 5 * time.Second
	}
	p := &placement{by: from, client: q.Client, since: q.Since, feeds: feeds, due: m.now.Add(within)}
	p.greedy = from != m.cfg.Self && !m.coordinate.Take(from, maxPlaced, m.now, m.keepFor())
	m.plan(p, feeds)
	m.placing[key] = p
	m.placingFor.Add(from, 1)
	for i := range p.seeks {
		m.seekNext(key, p, i)
	}
	m.placeOn(key, p)
}

// patience is how long a peer may take to make room.
func (m *Machine) patience() time.Duration {
	return min(m.cfg.Refresh/4, 500*time.Millisecond)
}

// seekNext asks the next candidate. The manager itself makes room at once.
func (m *Machine) seekNext(key ask, p *placement, i int) {
	s := &p.seeks[i]
	s.asked = ""
	for s.given == "" && s.next < len(s.peers) {
		peer := s.peers[s.next]
		s.next++
		if mem := m.members[peer]; mem == nil || mem.row.Left || p.greedy && m.loadOf(peer) >= leases.Max/2 {
			continue
		}
		if peer == m.cfg.Self {
			if m.keep(key, p.client, m.cfg.Self) {
				s.given = peer
				m.copied(p, s, m.replicator.Whole(s.want, s.since))
			}
			continue
		}
		s.asked = peer
		m.members[peer].asked++
		m.send(peer, Assign{
			Header: m.header(), ID: key.id, Attempt: key.attempt, Client: p.client,
			Expiry: m.now.Add(m.ticketAge()), Copies: s.want, Since: s.since,
		})
		if b := (bell{chime: chimePlace, ask: key}); !m.timers.IsSet(b) {
			m.timers.Set(b, earlier(m.now.Add(m.patience()), p.due))
		}
		return
	}
	if s.given == "" {
		p.miss(s.names...)
	}
}

// placeOn ends the lookup when nobody must answer any more.
func (m *Machine) placeOn(key ask, p *placement) {
	for i := range p.seeks {
		if p.seeks[i].asked != "" {
			return
		}
	}
	if m.supplement(key, p) {
		m.placeOn(key, p)
		return
	}
	if len(p.missing) > 0 && m.now.Before(p.due) && (m.copy(key, p) || m.cover(key, p)) {
		m.placeOn(key, p)
		return
	}
	m.timers.Cancel(bell{chime: chimePlace, ask: key})
	delete(m.placing, key)
	m.placingFor.Add(p.by, -1)
	answer := Placed{Header: m.header(), ID: key.id, Attempt: key.attempt, Served: true}
	answer.Grants = m.grants(key, p)
	answer.Missing, answer.Copies = p.missing, p.copies
	m.send(p.by, answer)
}

// supplement asks the publishers of what a peer lacks that serves all feeds. It
// returns false where there is nothing to ask for.
func (m *Machine) supplement(key ask, p *placement) bool {
	i := slices.IndexFunc(p.seeks, func(s seek) bool { return s.given != "" && !s.own && !s.cover && !s.copy && !s.whole })
	if i < 0 {
		return false
	}
	p.seeks[i].whole = true
	first := len(p.seeks)
	m.planPublishers(p, m.lacking(p.seeks[i].given, p.feeds))
	for n := first; n < len(p.seeks); n++ {
		if s := &p.seeks[n]; p.tried(s.peers[0]) { // it had no room, or did not answer
			s.next = len(s.peers)
		}
		m.seekNext(key, p, n)
	}
	return true
}

// tried reports whether a peer was asked for room.
func (p *placement) tried(peer feedring.PeerID) bool {
	return slices.ContainsFunc(p.seeks, func(s seek) bool { return slices.Contains(s.peers[:s.next], peer) })
}

// grants makes the grants of a lookup, as many as one message has room for.
func (m *Machine) grants(key ask, p *placement) []feedring.Grant {
	var grants []feedring.Grant
	size := 0
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.given == "" || p.spare(s) {
			continue
		}
		g := m.grant(key, p, s)
		if size += GrantSize(&g); size > MaxGranted {
			p.lose(s)
			continue
		}
		grants = append(grants, g)
	}
	return grants
}

// cover has what others cached of missing publishers served: by a publisher
// that serves anyway and holds it, else by the least loaded peer that does. It
// returns false where there is nothing left to try.
func (m *Machine) cover(key ask, p *placement) bool {
	if slices.ContainsFunc(p.seeks, func(s seek) bool { return s.cover }) {
		return false
	}
	peers := m.able(p.feeds, m.cached())
	if len(peers) == 0 {
		peers = m.leastLoaded(m.candidates())
	}
	for i := range p.seeks {
		if s := &p.seeks[i]; s.copy && s.given != "" && (len(s.got) > 0 || slices.Contains(peers, s.given)) {
			s.cover = true
			return true
		}
	}
	for i := range p.seeks {
		if s := &p.seeks[i]; s.given != "" && (!s.own || slices.Contains(peers, s.given)) {
			s.own, s.cover = false, true
			return true
		}
	}
	tried := func(peer feedring.PeerID) bool {
		return slices.ContainsFunc(p.seeks, func(s seek) bool { return slices.Contains(s.peers, peer) })
	}
	peers = slices.DeleteFunc(peers, tried)
	if len(peers) == 0 { // who says that it is complete need not serve
		peers = slices.DeleteFunc(m.leastLoaded(m.candidates()), tried)
	}
	p.seeks = append(p.seeks, seek{cover: true, peers: peers})
	m.seekNext(key, p, len(p.seeks)-1)
	return true
}

// placeLate: those who were asked did not answer in time.
func (m *Machine) placeLate(key ask) {
	p := m.placing[key]
	if p == nil {
		return
	}
	over := !m.now.Before(p.due)
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.asked == "" {
			continue
		}
		m.unasked(s.asked)
		if over {
			s.asked, s.next = "", len(s.peers)
		}
		m.seekNext(key, p, i)
	}
	m.placeOn(key, p)
}

func (m *Machine) unasked(peer feedring.PeerID) {
	if mem := m.members[peer]; mem != nil {
		mem.asked = max(0, mem.asked-1)
	}
}

func (m *Machine) onAssigned(from feedring.PeerID, a Assigned) {
	if mem := m.members[from]; mem != nil && a.OK {
		m.loadTold(mem, a.Leases)
	}
	key := ask{a.ID, a.Attempt}
	p := m.placing[key]
	if p == nil {
		return
	}
	for i := range p.seeks {
		s := &p.seeks[i]
		if s.asked != from {
			continue
		}
		m.unasked(from)
		s.asked = ""
		if a.OK {
			s.given = from
			m.copied(p, s, a.Copies)
		} else {
			m.seekNext(key, p, i)
		}
		m.placeOn(key, p)
		return
	}
}

// ticketAge is how long a ticket holds. It is long, so that a follower whose
// provider is lost goes on at an alternate without asking anybody; the place
// that it keeps is free after keepFor.
func (m *Machine) ticketAge() time.Duration { return max(10*m.cfg.Refresh, time.Hour) }

// grant names the provider and up to three alternates, with the ticket that
// the driver seals.
func (m *Machine) grant(key ask, p *placement, s *seek) feedring.Grant {
	g := feedring.Grant{Theme: m.cfg.Theme, Provider: m.info(s.given), Own: s.own}
	g.Ticket = feedring.Ticket{
		ID: key.id, Attempt: key.attempt, Group: m.group, Client: p.client,
		Peers: []feedring.PeerID{s.given}, Expiry: m.now.Add(m.ticketAge()).UTC().Truncate(time.Second),
	}
	others := s.peers
	switch {
	case s.copy: // nobody else said that it has them
		others = nil
	case s.own || s.cover:
		others = m.able(p.feeds, m.cached())
	}
	more := m.lacksMore(p, s)
	for _, peer := range others {
		mem := m.members[peer]
		if peer == s.given || len(g.Alternates) == 3 || mem == nil || mem.away || mem.row.Left || mem.row.Lacks(more) {
			continue
		}
		g.Alternates = append(g.Alternates, m.info(peer))
		g.Ticket.Peers = append(g.Ticket.Peers, peer)
	}
	return g
}

// lacksMore tells exceptions of what was asked that are none of the peer's that
// serves: with one of them another peer is no alternate.
func (m *Machine) lacksMore(p *placement, s *seek) func(feedring.FeedRef) bool {
	var asked, excused map[feedring.FeedRef]bool
	return func(ref feedring.FeedRef) bool {
		if asked == nil {
			asked, excused = refsOf(p.feeds), excepted(m.members[s.given].row)
		}
		return asked[ref] && !excused[ref] && !excused[catalogue.AllOf(ref.Publisher)]
	}
}

func (m *Machine) info(p feedring.PeerID) feedring.PeerInfo {
	return feedring.PeerInfo{ID: p, Addrs: m.members[p].row.Addrs}
}
