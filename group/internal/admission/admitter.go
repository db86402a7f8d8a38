// Package admission decides who gets a place in a group's catalogue: whom its manager takes
// in, when, on whose word a peer takes rows of others, and who gives way where the catalogue is full.
package admission

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

// Membership is the group as admission sees it.
type Membership interface {
	Now() time.Time
	// Admission returns what is known of a member; false: it is none.
	Admission(feedring.PeerID) (Member, bool)
	// Admissions lists all members, and Count counts them.
	Admissions() []Member
	Count() int
	// Follows reports whether this peer takes the catalogue from p: its manager.
	Follows(p feedring.PeerID) bool
	// Joining reports whether this peer looks for a group.
	Joining() bool
	// Merging reports whether members may tell of peers that the manager does not know: this peer manages, or
	// nobody is known to.
	Merging() bool
	// Evict forgets a member.
	Evict(feedring.PeerID)
}

// Member is what the group knows of one.
type Member struct {
	Peer   feedring.PeerID
	Named  bool      // a site names it
	First  time.Time // when this peer first knew it
	Away   bool      // or it has left
	Since  time.Time // when that began; of who is there, First
	Probed time.Time // when an absent one was last sent a beacon
	Needed bool      // it is this peer, the manager or the secondary, which never give way
}

// Config is what is told once.
type Config struct {
	Refresh   time.Duration
	Freshness time.Duration
	Rows      int // how many the catalogue holds
}

// Admitter is one peer's admission to one group. Use New.
type Admitter struct {
	cfg       Config
	group     Membership `state:"the machine that this is part of"`
	newcomers newcomers
	accounts  accounts
	places    map[feedring.PeerID]place // of members that have a prefix, or of which one other told
	trusted   map[feedring.PeerID]bool  // by hand; replaced as a whole
}

// New returns that of an empty catalogue.
func New(cfg Config, group Membership) *Admitter {
	return &Admitter{cfg: cfg, group: group, newcomers: newNewcomers(cfg.Refresh), accounts: newAccounts(), places: map[feedring.PeerID]place{}}
}

// Clone returns an independent copy for another membership.
func (a *Admitter) Clone(group Membership) *Admitter {
	return &Admitter{a.cfg, group, a.newcomers.clone(), a.accounts.clone(), maps.Clone(a.places), a.trusted}
}

// Rebase lets time pass unseen: no newcomer gets nearer to being forgotten.
func (a *Admitter) Rebase() { a.newcomers.rebase(a.group.Now()) }

// Ask takes the request of a newcomer over its own connection; known: it was a member that is forgotten since. It
// returns the rows of those that are admitted now, and if the newcomer is not, when it should ask again.
func (a *Admitter) Ask(r *catalogue.Row, prefix standing.Prefix, known bool) (in []*catalogue.Row, again time.Duration) {
	n := newcomer{Row: r, Prefix: prefix, Since: a.group.Now()}
	if prefix == "" || a.trusted[r.Peer] || a.Admitted(r.Peer) != nil {
		if a.newcomers.ask(n, true) {
			return []*catalogue.Row{r}, 0
		}
		return nil, a.cfg.Refresh
	}
	all := a.holders()
	held := a.occupied(all)
	if p := absent(all, prefix); p != "" && !held.Free(prefix) {
		a.group.Evict(p)
		held = a.occupied(slices.DeleteFunc(all, func(h holder) bool { return h.Peer == p }))
	}
	if a.newcomers.ask(n, known && held.Free(prefix)) {
		return []*catalogue.Row{r}, 0
	}
	in = a.draw(held)
	if a.Admitted(r.Peer) == nil {
		again = a.newcomers.again(prefix, held)
	}
	return in, again
}

// Draw admits those of the waiting whose turn has come, and returns their rows.
func (a *Admitter) Draw() []*catalogue.Row {
	if len(a.newcomers.waiting) == 0 {
		return nil
	}
	return a.draw(a.occupied(a.holders()))
}

func (a *Admitter) draw(held *standing.Occupancy) (in []*catalogue.Row) {
	for _, p := range a.newcomers.draw(a.group.Now(), held) {
		in = append(in, a.Admitted(p))
	}
	return in
}

// Admitted returns the row of a newcomer that was told that it is admitted, and has not entered the catalogue; nil:
// there is none.
func (a *Admitter) Admitted(p feedring.PeerID) *catalogue.Row {
	if n := a.newcomers.admitted[p]; n != nil {
		return n.Row
	}
	return nil
}

// Entered takes a newcomer out that entered the catalogue, or was refused there.
func (a *Admitter) Entered(p feedring.PeerID) { delete(a.newcomers.admitted, p) }

// Unanswered lists the admitted that have not answered yet, in order, and forgets those that had long enough. It is
// called once a beat.
func (a *Admitter) Unanswered() []feedring.PeerID { return a.newcomers.unanswered(a.group.Now()) }

// ForgetNewcomers forgets all newcomers: another manages.
func (a *Admitter) ForgetNewcomers() {
	clear(a.newcomers.waiting)
	clear(a.newcomers.admitted)
}

// Call reports whether a newcomer of whom another told may be called: it may be one that
// cannot reach the manager.
func (a *Admitter) Call() bool {
	a.newcomers.called++
	return a.newcomers.called <= maxCalled
}

// Take gives the peer of a row a place that is not in the catalogue, on from's word, or reports that it does not.
// On the word of a member a peer counts as away until it is heard.
func (a *Admitter) Take(r *catalogue.Row, from feedring.PeerID) (away, ok bool) {
	teller, known := a.group.Admission(from)
	at := place{}
	switch n := a.newcomers.admitted[from]; {
	case from == r.Peer && n != nil:
		at.prefix = n.Prefix
	case from == r.Peer && a.group.Joining():
	case a.group.Follows(from):
		at.prefix = a.unmet(from)
	case known && a.group.Merging() && a.accounts.tell(from, a.class(&teller)):
		at, away = place{a.unmet(from), from}, true
	default:
		return false, false
	}
	if !a.trusted[r.Peer] && !a.accounts.fits(at, 0, r.Size()) || a.group.Count() >= a.cfg.Rows && !a.makeRoom(r.Peer, at) {
		a.accounts.leave(at, 0)
		return false, false
	}
	a.accounts.replace(at, 0, r.Size())
	a.put(r.Peer, at)
	return away, true
}

// unmet is the prefix of one who is known by the word of a teller only.
func (a *Admitter) unmet(teller feedring.PeerID) standing.Prefix {
	if a.places[teller].prefix == "" {
		return ""
	}
	return standing.Unmet
}

// put notes a member's place; most have none that counts.
func (a *Admitter) put(p feedring.PeerID, at place) {
	if at == (place{}) {
		delete(a.places, p)
	} else {
		a.places[p] = at
	}
}

// makeRoom has somebody give its place up to a newcomer.
func (a *Admitter) makeRoom(p feedring.PeerID, at place) bool {
	now := a.group.Now()
	newcomer := holder{Member: Member{Peer: p, First: now, Since: now, Away: at.told != ""}, class: standing.New, prefix: at.prefix}
	switch {
	case a.trusted[p]:
		newcomer.class = standing.Vouched
	case at.prefix == "":
		newcomer.class = standing.Settled
	}
	all := slices.DeleteFunc(append(a.holders(), newcomer), func(h holder) bool { return h.Needed })
	gives := victim(all, a.cfg.Rows)
	if gives == "" || gives == p {
		return false
	}
	a.group.Evict(gives)
	return true
}

// Met notes from where a member connects that spoke itself. Its prefix is that of its first connection: by moving
// on nobody frees its place there.
func (a *Admitter) Met(r *catalogue.Row, prefix standing.Prefix) {
	if prefix == "" && len(a.places) == 0 {
		return
	}
	at := a.places[r.Peer]
	if at.told == "" && (at.prefix == prefix || at.prefix != "" && at.prefix != standing.Unmet) {
		return
	}
	a.accounts.leave(at, r.Size())
	at = place{prefix: prefix}
	a.accounts.replace(at, 0, r.Size())
	a.put(r.Peer, at)
}

// Prefix is the network from which a member connects; empty: it has none.
func (a *Admitter) Prefix(p feedring.PeerID) standing.Prefix { return a.places[p].prefix }

// Quota is what a publisher may put on this peer's disk. One without a prefix is of this machine or local network: it
// and its owner are known.
func (a *Admitter) Quota(p feedring.PeerID) standing.Quota {
	if a.places[p].prefix == "" {
		return standing.Quota{}
	}
	return a.standing(p).Quota()
}

// Resize takes a row of a member in place of another one, or reports that there is no room for it.
func (a *Admitter) Resize(was, r *catalogue.Row) bool {
	at := a.places[r.Peer]
	if at.prefix == "" {
		return true
	}
	if !a.accounts.fits(at, was.Size(), r.Size()) && a.standing(r.Peer) != standing.Vouched {
		return false
	}
	a.accounts.replace(at, was.Size(), r.Size())
	return true
}

// Leave takes the peer of a row out of the catalogue.
func (a *Admitter) Leave(r *catalogue.Row) {
	a.accounts.leave(a.places[r.Peer], r.Size())
	delete(a.places, r.Peer)
}

// maxProbed is how many absent peers that are neither vouched nor without a prefix are sent
// a beacon at one beat.
const maxProbed = 8

// Due lists which of the absent are sent a beacon now, of those whose turn it is: of
// strangers a few at a time.
func (a *Admitter) Due(absent []feedring.PeerID) []feedring.PeerID {
	var strangers []Member
	for _, p := range absent {
		if m, ok := a.group.Admission(p); ok && a.places[p].prefix != "" && !m.Named && !a.trusted[p] {
			strangers = append(strangers, m)
		}
	}
	if len(strangers) <= maxProbed {
		return absent
	}
	slices.SortStableFunc(strangers, func(x, y Member) int { return x.Probed.Compare(y.Probed) })
	later := map[feedring.PeerID]bool{}
	for _, m := range strangers[maxProbed:] {
		later[m.Peer] = true
	}
	return slices.DeleteFunc(absent, func(p feedring.PeerID) bool { return later[p] })
}

// Retention is how long the row of an absent peer is kept.
func (a *Admitter) Retention(p feedring.PeerID) time.Duration {
	switch a.standing(p) {
	case standing.Vouched:
		return max(a.cfg.Freshness, 7*24*time.Hour)
	case standing.Settled:
		return max(a.cfg.Freshness, 24*time.Hour)
	}
	return time.Hour
}

func (a *Admitter) standing(p feedring.PeerID) standing.Class {
	m, ok := a.group.Admission(p)
	if !ok {
		return standing.Guest
	}
	return a.class(&m)
}

// Known reports whether a member is not new here.
func (a *Admitter) Known(p feedring.PeerID) bool { return a.standing(p) >= standing.Settled }

// class judges a member by this peer's own evidence.
func (a *Admitter) class(m *Member) standing.Class {
	return standing.Of(standing.Evidence{
		Admitted: true, Private: a.places[m.Peer].prefix == "", Named: m.Named || a.trusted[m.Peer], Present: a.group.Now().Sub(m.First),
	})
}

// holders lists who holds places of the catalogue.
func (a *Admitter) holders() []holder {
	members := a.group.Admissions()
	all := make([]holder, len(members))
	for i, m := range members {
		all[i] = holder{m, a.class(&m), a.places[m.Peer].prefix}
	}
	return all
}

// occupied counts the places of the catalogue, and those that admitted newcomers will have.
func (a *Admitter) occupied(all []holder) *standing.Occupancy {
	c := occupied(all)
	for p, n := range a.newcomers.admitted {
		if !a.trusted[p] {
			c.Add(n.Prefix)
		}
	}
	return c
}
