// Package named decides which peers take part in a network of the mode vouched: those
// that a site names, as this peer itself found. It asks no site: it says which site to
// ask about whom, and is told the answer.
package named

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/feedring/feedring"
)

const (
	// Stands is how long the word of a site counts that cannot be asked since.
	Stands  = 36 * time.Hour
	daily   = 21 * time.Hour // between two questions about a named peer
	latest  = time.Hour      // between two about one that is not named, at the end; it begins with Config.Retry
	ownLast = 10 * time.Minute

	maxPeers = 14_096 // that are kept
	maxNamed = 10_000 // of these
	maxSites = 8      // of one peer
	maxTold  = 4      // of these, by others than the peer
	// MaxAsked is how many peers' sites others are asked for at once.
	MaxAsked = 256
	// MaxSite is the longest name of a site, in bytes.
	MaxSite = 255

	ofDomain = 4  // peers that one registrable domain may name
	ofSuffix = 16 // peers that all names below a suffix may name where names cost nothing
)

// Config is what a Registry is told once.
type Config struct {
	Self  feedring.PeerID
	Retry time.Duration // after the first question that found nothing
}

// Named is a peer and the site that names it.
type Named struct {
	Peer feedring.PeerID `json:"peer"`
	Site string          `json:"site"`
	At   time.Time       `json:"at"` // when the site last said so
}

// Question is whether a site names a peer.
type Question struct {
	Peer feedring.PeerID
	Site string
	By   feedring.PeerID // who said that it does
	Held bool            // the site named the peer before
}

// Answer is what a site said.
type Answer int

// The answers.
const (
	Unknown Answer = iota // it could not be asked
	Yes
	No
)

// candidate is a site that may name a peer.
type candidate struct {
	site string
	by   feedring.PeerID
	last time.Time // when it was asked
}

// record is what is known of one peer.
type record struct {
	site       string    // that names it
	at         time.Time // when the site last said so; zero: none names it
	candidates []candidate
	met        time.Time // when it last mattered who the peer is
	sought     time.Time // when others were asked for its sites
	next       time.Time // question, at the soonest
	misses     int       // questions in turn without an answer that is yes
	asking     bool
}

// Registry is what one peer knows. It is not safe for concurrent use.
type Registry struct {
	cfg   Config
	peers map[feedring.PeerID]*record
	held  map[string]int // named peers, by place
}

// New returns one with what was kept.
func New(cfg Config, kept []Named) *Registry {
	r := &Registry{cfg: cfg, peers: make(map[feedring.PeerID]*record), held: make(map[string]int)}
	for _, n := range kept[:min(len(kept), maxNamed)] {
		if place, most := placeOf(n.Site); r.peers[n.Peer] == nil && r.held[place] < most {
			r.peers[n.Peer] = &record{site: n.Site, at: n.At, met: n.At}
			r.held[place]++
		}
	}
	return r
}

// placeOf is whose places a site takes, and how many these are: those of its
// registrable domain, or of the suffix below which names cost nothing. A name that is
// no domain, such as an address, is one by itself.
func placeOf(site string) (place string, most int) {
	host := strings.TrimSuffix(site, ".")
	if at := strings.LastIndexByte(host, ':'); at >= 0 {
		host = host[:at]
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return site, ofDomain
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	if !icann && strings.Contains(suffix, ".") {
		return suffix, ofSuffix
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return site, ofDomain
	}
	return domain, ofDomain
}

// Names reports whether a site names a peer. The peer matters: if none does, it is
// found out.
func (r *Registry) Names(p feedring.PeerID, now time.Time) bool {
	one := r.record(p, now)
	if one == nil {
		return false
	}
	one.met = now
	return one.holds(now)
}

func (o *record) holds(now time.Time) bool { return !o.at.IsZero() && now.Before(o.at.Add(Stands)) }

// record returns that of a peer, a new one if need be; nil: there is no room.
func (r *Registry) record(p feedring.PeerID, now time.Time) *record {
	if one := r.peers[p]; one != nil {
		return one
	}
	if len(r.peers) >= maxPeers && !r.forget(now) {
		return nil
	}
	one := &record{}
	r.peers[p] = one
	return one
}

// forget makes room: of those that nobody named half are taken out, first those of
// which no site is known, then those that mattered longest ago.
func (r *Registry) forget(now time.Time) bool {
	var others []feedring.PeerID
	for p, one := range r.peers {
		if p != r.cfg.Self && !one.asking && !one.holds(now) {
			others = append(others, p)
		}
	}
	slices.SortFunc(others, func(p, q feedring.PeerID) int {
		x, y := r.peers[p], r.peers[q]
		return cmp.Or(min(len(x.candidates), 1)-min(len(y.candidates), 1), x.met.Compare(y.met), cmp.Compare(p, q))
	})
	for _, p := range others[:(len(others)+1)/2] {
		r.release(r.peers[p])
		delete(r.peers, p)
	}
	return len(others) > 0
}

// release gives the place of a peer back that is named no longer.
func (r *Registry) release(one *record) {
	if one.at.IsZero() {
		return
	}
	place, _ := placeOf(one.site)
	if r.held[place]--; r.held[place] <= 0 {
		delete(r.held, place)
	}
	one.site, one.at = "", time.Time{}
}

// Tell takes in that sites may name a peer, on the word of by. What a peer says of
// itself takes the place of what it said before; of what others say a little is kept.
func (r *Registry) Tell(p, by feedring.PeerID, sites []string, now time.Time) {
	if len(sites) == 0 && r.peers[p] == nil {
		return
	}
	one := r.record(p, now)
	if one == nil {
		return
	}
	before := one.candidates
	var next []candidate
	if by != p {
		next = before
	}
	for _, site := range sites {
		if len(site) == 0 || len(site) > MaxSite || slices.ContainsFunc(next, func(c candidate) bool { return c.site == site }) {
			continue
		}
		add := candidate{site: site, by: by}
		if i := slices.IndexFunc(before, func(c candidate) bool { return c.site == site }); i >= 0 {
			add.last = before[i].last
		}
		if by != p {
			next = dropTold(next, p)
		}
		if len(next) < maxSites {
			next = append(next, add)
		}
		if add.last.IsZero() && !one.holds(now) {
			one.next, one.misses = time.Time{}, 0
		}
	}
	if by == p {
		for _, c := range before {
			if c.by != p && len(next) < maxSites && !slices.ContainsFunc(next, func(n candidate) bool { return n.site == c.site }) {
				next = append(next, c)
			}
		}
	}
	one.candidates = next
}

// dropTold makes room for one more site that others tell of: of those that were asked
// already, the first goes.
func dropTold(all []candidate, p feedring.PeerID) []candidate {
	told := 0
	for _, c := range all {
		if c.by != p {
			told++
		}
	}
	if told < maxTold {
		return all
	}
	i := slices.IndexFunc(all, func(c candidate) bool { return c.by != p && !c.last.IsZero() })
	if i < 0 {
		i = slices.IndexFunc(all, func(c candidate) bool { return c.by != p })
	}
	return slices.Delete(slices.Clone(all), i, i+1)
}

// matters is how long a peer's site is asked after the peer was last met.
const matters = time.Hour

// Questions lists those that are due, at most so many. Each wants an Answer.
func (r *Registry) Questions(now time.Time, most int) (due []Question) {
	for _, p := range slices.Sorted(maps.Keys(r.peers)) {
		one := r.peers[p]
		if len(due) >= most {
			break
		}
		if one.asking || now.Before(one.next) || p != r.cfg.Self && now.Sub(one.met) > matters {
			continue
		}
		if one.holds(now) && now.Before(one.at.Add(daily+stagger(p))) {
			continue
		}
		q, ok := one.question(p)
		if !ok {
			continue
		}
		one.asking = true
		due = append(due, q)
	}
	return due
}

// stagger has the peers of one site be asked about at different times, up to three
// hours apart.
func stagger(p feedring.PeerID) (d time.Duration) {
	for i := range len(p) {
		d = (d*31 + time.Duration(p[i])) % (3 * 60)
	}
	return d * time.Minute
}

// Due reports whether there is a question about a peer that nobody names now.
func (r *Registry) Due(p feedring.PeerID, now time.Time) bool {
	one := r.peers[p]
	return one != nil && !one.asking && !one.holds(now) && !now.Before(one.next) && len(one.candidates) > 0 && now.Sub(one.met) <= matters
}

// Again has the next question about a peer be due.
func (r *Registry) Again(p feedring.PeerID) {
	if one := r.peers[p]; one != nil {
		one.next, one.misses = time.Time{}, 0
	}
}

// question is about the site that names the peer, else about the one that was asked
// longest ago.
func (o *record) question(p feedring.PeerID) (Question, bool) {
	if !o.at.IsZero() {
		return Question{Peer: p, Site: o.site, By: p, Held: true}, true
	}
	if len(o.candidates) == 0 {
		return Question{}, false
	}
	c := slices.MinFunc(o.candidates, func(a, b candidate) int { return a.last.Compare(b.last) })
	return Question{Peer: p, Site: c.site, By: c.by}, true
}

// Answered takes in what a question came to, and reports whether the peer is named now,
// or no longer, unlike before.
func (r *Registry) Answered(q Question, a Answer, now time.Time) (changed bool) {
	one := r.peers[q.Peer]
	if one == nil {
		return false
	}
	one.asking = false
	was := one.holds(now)
	for i := range one.candidates {
		if one.candidates[i].site == q.Site {
			one.candidates[i].last = now
		}
	}
	if a == Yes && r.take(one, q.Site, now) {
		one.next, one.misses = time.Time{}, 0
		return !was
	}
	if a != Unknown && one.site == q.Site || !one.at.IsZero() && !was {
		r.release(one)
	}
	fresh := slices.ContainsFunc(one.candidates, func(c candidate) bool { return c.last.IsZero() })
	if !fresh || one.holds(now) {
		one.next = now.Add(r.pause(q.Peer, one.misses))
		one.misses++
	}
	return was != one.holds(now)
}

// take notes that a site names a peer, unless others have the places of its domain.
func (r *Registry) take(one *record, site string, now time.Time) bool {
	place, most := placeOf(site)
	if one.site != site || one.at.IsZero() {
		r.release(one)
		if r.held[place] >= most {
			r.lapse(place, now)
		}
		if r.held[place] >= most || r.named() >= maxNamed {
			return false
		}
		r.held[place]++
	}
	one.site, one.at = site, now
	return true
}

func (r *Registry) named() (n int) {
	for _, held := range r.held {
		n += held
	}
	return n
}

// lapse gives places back that peers had whose site was not asked for long.
func (r *Registry) lapse(place string, now time.Time) {
	for _, one := range r.peers {
		if of, _ := placeOf(one.site); of == place && !one.holds(now) {
			r.release(one)
		}
	}
}

func (r *Registry) pause(p feedring.PeerID, misses int) time.Duration {
	most := latest
	if p == r.cfg.Self {
		most = ownLast
	}
	return min(most, r.cfg.Retry<<min(misses, 16))
}

// Unplaced lists peers that were met lately and of which no site is known, for others
// to be asked.
func (r *Registry) Unplaced(now time.Time) (peers []feedring.PeerID) {
	for _, p := range slices.Sorted(maps.Keys(r.peers)) {
		one := r.peers[p]
		if len(peers) >= MaxAsked || p == r.cfg.Self || one.holds(now) || one.asking || now.Sub(one.met) > matters {
			continue
		}
		untried := slices.ContainsFunc(one.candidates, func(c candidate) bool { return c.last.IsZero() })
		if untried || now.Before(one.sought.Add(r.cfg.Retry/4)) {
			continue
		}
		one.sought = now
		peers = append(peers, p)
	}
	return peers
}

// Sought reports whether others were asked for the sites of a peer.
func (r *Registry) Sought(p feedring.PeerID) bool {
	return r.peers[p] != nil && !r.peers[p].sought.IsZero()
}

// Site is the site that names a peer; empty: none does.
func (r *Registry) Site(p feedring.PeerID, now time.Time) string {
	if one := r.peers[p]; one != nil && one.holds(now) {
		return one.site
	}
	return ""
}

// All lists the named peers, by id.
func (r *Registry) All(now time.Time) (all []Named) {
	for _, p := range slices.Sorted(maps.Keys(r.peers)) {
		if one := r.peers[p]; one.holds(now) {
			all = append(all, Named{p, one.site, one.at})
		}
	}
	return all
}
