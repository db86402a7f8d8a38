package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// queries is what was seen of questions that are not too old.
type queries struct {
	asked  map[stream]*asked
	finals map[ended]bool
	begun  map[ended]begun
	places map[placeKey][]wanted
	told   map[told]bool
	times  [lately]time.Duration // of the last questions that peers were asked
	next   int
}

// What is for questions is gone a minute after they were asked.
const (
	lately  = 512
	forgets = time.Minute
)

// comes notes that a question was asked now.
func (q *queries) comes(now time.Duration) {
	q.times[q.next%lately] = now
	q.next++
}

// lately counts the questions that may still be open somewhere.
func (q *queries) lately(now time.Duration) (n int) {
	for i := range min(q.next, lately) {
		if now-q.times[i] < forgets {
			n++
		}
	}
	return n
}

// stream names a question at the asked peer.
type stream struct {
	at     int32
	life   uint32
	stream uint64
}

// asked is a question that waits for its answer.
type asked struct {
	in    peer.Ask
	at    time.Duration
	known []feedring.Theme // of those asked for, what was served, and on every live manager's map, when it was asked
	noes  []no             // of coordinators, one after the other
}

// no is that a coordinator said so.
type no struct {
	attempt uint32           // inside the network
	sees    []feedring.Theme // of the known ones, those on its map when it said so
}

// ended names one attempt at one coordinator.
type ended struct {
	at     int32
	life   uint32
	id     feedring.QueryID
	number uint32
}

// begun is what a coordinator knew of when a question over all groups came.
type begun struct {
	themes []feedring.Theme
}

// told names a FOUND of one attempt for one group.
type told struct {
	at        int32
	life      uint32
	id        feedring.QueryID
	number    uint32
	group     feedring.GroupID
	direction ring.Direction
}

func newQueries() queries {
	return queries{asked: map[stream]*asked{}, finals: map[ended]bool{}, begun: map[ended]begun{},
		places: map[placeKey][]wanted{}, told: map[told]bool{}}
}

// Asked is called when a reader's question reaches a peer.
func (w *Witness) Asked(p int32, in peer.Ask) {
	w.queries.comes(w.cfg.Now())
	a := &asked{in: in, at: w.cfg.Now()}
	for _, theme := range w.about(in.Query) {
		if w.everywhere(theme, in.Query.Provider) {
			a.known = append(a.known, theme)
		}
	}
	w.queries.asked[stream{p, w.of(p).life, in.Stream}] = a
}

// Overdue reports whether a peer, in its present life, has not answered a
// question (L4).
func (w *Witness) Overdue(p int32, number uint64) bool {
	_, open := w.queries.asked[stream{p, w.of(p).life, number}]
	return open
}

// answered checks S5 and S6 at the asked peer.
func (w *Witness) answered(p int32, out peer.Answer) {
	key := stream{p, w.of(p).life, out.Stream}
	a := w.queries.asked[key]
	if a == nil {
		w.Fail("S5", "%s answers stream %d, which was answered or never asked", w.cfg.Name(p), out.Stream)
		return
	}
	delete(w.queries.asked, key)
	f := &out.Final
	if f.ID != a.in.ID || f.Attempt != a.in.Attempt {
		w.Fail("S5", "%s answers attempt %d with the final of %d", w.cfg.Name(p), a.in.Attempt, f.Attempt)
	}
	switch {
	case f.Status == feedring.Unsatisfied:
		w.unsatisfied(p, a)
	case f.Status == feedring.Incomplete && w.settled > 0 && a.at > w.settled && w.nobodys(a.in.Query.Theme):
		w.Fail("S6", "%s does not know whether somebody serves %q, which is on no map, long after all faults", w.cfg.Name(p), a.in.Query.Theme)
	}
	w.complete(p, a, f)
	w.answersAsker(p, f)
}

// nobodys reports whether a theme is on no live map.
func (w *Witness) nobodys(theme feedring.Theme) bool {
	for p := range int32(len(w.peers)) {
		if theme == "" || w.cfg.Runs(p) && w.cfg.OnMap(p, theme.Group()) {
			return false
		}
	}
	return true
}

// about returns the themes that a question is about: the one that it names, or all in
// which anybody ever published what it names. Who names neither asks for all, which
// is looked at where the final is made.
func (w *Witness) about(q feedring.Query) []feedring.Theme {
	switch {
	case q.Theme != "":
		return []feedring.Theme{q.Theme}
	case q.Provider == "":
		return nil
	}
	var themes []feedring.Theme
	for _, l := range w.cfg.Logs() {
		if l.Provider.Matches(q.Provider) && !slices.Contains(themes, l.Theme) {
			themes = append(themes, l.Theme)
		}
	}
	return themes
}

// unsatisfied checks S6: what was served, and on every live manager's map all the
// time, is not unknown. All the time: when it was asked and now, and on the map of
// whoever said no, when that said it.
func (w *Witness) unsatisfied(p int32, a *asked) {
	provider := a.in.Query.Provider
	for _, theme := range w.saw(p, a) {
		if w.lost[theme.Group()] < a.at && w.everywhere(theme, provider) {
			w.Fail("S6", "%s answers that nobody serves %q of %q, which is served and on every map", w.cfg.Name(p), provider, theme)
		}
	}
}

// saw returns what was on the map of whoever said the no that a peer answers with: the
// coordinator whose final comes now, or the last one, or the peer itself where it
// found nobody to ask.
func (w *Witness) saw(p int32, a *asked) []feedring.Theme {
	if len(a.noes) == 0 {
		return w.sees(p, a.known)
	}
	said := a.noes[len(a.noes)-1]
	if m, is := w.of(p).given.Message.(peer.Final); is {
		for _, n := range a.noes {
			if n.attempt == m.Final.Attempt {
				said = n
			}
		}
	}
	return said.sees
}

// sees returns those themes that a peer's map shows.
func (w *Witness) sees(p int32, themes []feedring.Theme) []feedring.Theme {
	var on []feedring.Theme
	for _, theme := range themes {
		if w.cfg.OnMap(p, theme.Group()) {
			on = append(on, theme)
		}
	}
	return on
}

// saysNo notes what a coordinator that says no has on its map. The asked peer passes
// that on later, and by then a coordinator that had started again out of everybody's
// reach may have heard of all groups.
func (w *Witness) saysNo(p int32, f feedring.Final) {
	if f.Status != feedring.Unsatisfied {
		return
	}
	for _, a := range w.queries.asked {
		if in := &a.in; in.ID == f.ID && in.Attempt == ofClient(f.Attempt) {
			a.noes = append(a.noes, no{f.Attempt, w.sees(p, a.known)})
		}
	}
}

// everywhere reports whether a theme's manager is alive and knows the provider,
// and every live manager's map shows its group, also those of the stopped: they answer
// when they go on.
func (w *Witness) everywhere(theme feedring.Theme, provider string) bool {
	g, served := theme.Group(), false
	for p := range int32(len(w.peers)) {
		if !w.cfg.Up(p) || !w.peers[p].leads() {
			continue
		}
		if !w.cfg.OnMap(p, g) {
			return false
		}
		if s := w.peers[p].seat(g); s.role >= feedring.RoleSecondary {
			m := w.cfg.Membership(p, theme)
			if m == nil || !m.Serves(provider) {
				return false
			}
			served = served || s.role == feedring.RoleManager
		}
	}
	return served && !w.leftBy(theme, provider)
}

// leftBy reports whether all who publish a provider in a theme have left in good
// order: a leader that is cut off may not have heard of that, while who has says
// no rightly.
func (w *Witness) leftBy(theme feedring.Theme, provider string) bool {
	if provider == "" {
		return false
	}
	left := false
	for _, l := range w.cfg.Logs() {
		if l.Theme == theme && l.Provider.Matches(provider) {
			if left = w.of(w.cfg.Index(l.Ref.Publisher)).seat(l.Group).left; !left {
				return false
			}
		}
	}
	return left
}

// leads reports whether a peer is manager or secondary of any group.
func (o *observed) leads() bool {
	return slices.ContainsFunc(o.seats, func(s *seat) bool { return s.role >= feedring.RoleSecondary })
}

// queryComes notes what a coordinator knows of when a question without a theme
// comes.
func (w *Witness) queryComes(p int32, q peer.Query) {
	key := ended{p, w.of(p).life, q.ID, q.Attempt}
	if _, again := w.queries.begun[key]; again || q.Theme != "" || q.Provider != "" || !w.cfg.Runs(p) {
		return
	}
	var themes []feedring.Theme
	for _, r := range w.cfg.Ring(p) {
		themes = append(themes, r.Theme)
	}
	w.queries.begun[key] = begun{themes}
}

// final checks S5 and S6 at a coordinator.
func (w *Witness) final(p int32, f feedring.Final) {
	key := ended{p, w.of(p).life, f.ID, f.Attempt}
	if w.queries.finals[key] {
		w.Fail("S5", "%s sends a second final for attempt %d", w.cfg.Name(p), f.Attempt)
	}
	w.queries.finals[key] = true
	if f.Status < feedring.Answered || f.Status > feedring.Incomplete {
		w.Fail("S5", "%s sends a final with status %d", w.cfg.Name(p), f.Status)
	}
	w.tellsMissing(p, f)
	w.saysNo(p, f)
	b, known := w.queries.begun[key]
	delete(w.queries.begun, key)
	if !known || f.Status == feedring.Incomplete {
		return
	}
	for _, theme := range b.themes {
		g := theme.Group()
		granted := slices.ContainsFunc(f.Grants, func(g feedring.Grant) bool { return g.Theme == theme })
		if !granted && w.lost[g] < w.cfg.Now()-time.Minute && w.everywhere(theme, "") {
			w.Fail("S6", "%s answers for all groups, and left %s out", w.cfg.Name(p), theme)
		}
	}
}

// ringMessage checks S7, and notes what is told to be lost.
func (w *Witness) ringMessage(p int32, m feedring.Message) {
	switch m := m.(type) {
	case ring.Rows:
		for _, l := range m.Lost {
			if w.shows(l.Group, func(r *ring.Row) bool { return r.Term == l.Term && r.Version == l.Version }) {
				w.lost[l.Group] = w.cfg.Now()
			}
		}
		for i := range m.Rows {
			gone := m.Rows[i]
			if gone.Gone && w.shows(gone.Group, func(r *ring.Row) bool { return r.Term.Compare(gone.Term) <= 0 }) {
				w.lost[gone.Group] = w.cfg.Now()
			}
		}
	case ring.Search:
		w.search(p, m)
	case ring.Exhausted:
		w.exhausted(p, m)
	case ring.FoundGroup:
		key := told{p, w.of(p).life, m.ID, m.Attempt, m.Group, m.Direction}
		if w.queries.told[key] && m.Direction != ring.Direct {
			w.Fail("S7", "%s finds its group a second time for attempt %d", w.cfg.Name(p), m.Attempt)
		}
		w.queries.told[key] = true
	}
}

// shows reports whether a live manager's map shows such a row of a group, which
// what is told of it would take away: older words about it hide nothing.
func (w *Witness) shows(g feedring.GroupID, such func(*ring.Row) bool) bool {
	for p := range int32(len(w.peers)) {
		if !w.cfg.Runs(p) || !w.peers[p].leads() || !w.cfg.OnMap(p, g) {
			continue
		}
		for _, r := range w.cfg.Ring(p) {
			if r.Group == g && such(r) {
				return true
			}
		}
	}
	return false
}

func (w *Witness) search(p int32, s ring.Search) {
	name := w.cfg.Name(p)
	switch {
	case s.Hop > s.HopLimit, s.HopLimit > 2*w.themes()+8, len(s.Visited) > s.Hop, len(s.Serving) > len(s.Visited):
		w.Fail("S7", "%s sends a search of hop %d of %d, visited %d, serving %d", name, s.Hop, s.HopLimit, len(s.Visited), len(s.Serving))
	case slices.Contains(s.Visited, s.Group):
		w.Fail("S7", "%s sends a search to a group that it visited", name)
	case s.Direction == ring.Successor && !within(s.Origin, s.Group, s.End, true), s.Direction == ring.Predecessor && !within(s.End, s.Group, s.Origin, false):
		w.Fail("S7", "%s sends a search out of its arc", name)
	case s.Coordinator == name && w.queries.finals[ended{p, w.of(p).life, s.ID, s.Attempt &^ 1}]:
		w.Fail("S5", "%s searches on after its final for attempt %d", name, s.Attempt)
	}
}

// exhausted checks S7 where an arc is said to have ended: whoever says so knows
// of no group that is farther on it. Who went on first, and skipped who does not
// answer, may say so when the same search comes again.
func (w *Witness) exhausted(p int32, m ring.Exhausted) {
	s, ok := w.of(p).given.Message.(ring.Search)
	if !ok || s.Direction != m.Direction || s.Direction == ring.Direct || s.ID != m.ID || s.Attempt != m.Attempt || s.Hop >= s.HopLimit || m.Hop > s.Hop {
		return
	}
	for _, r := range w.cfg.Ring(p) {
		g := r.Group
		if slices.Contains(m.Visited, g) {
			continue // by this peer itself, which has a seat there too
		}
		if s.Direction == ring.Successor && g != s.Group && within(s.Group, g, s.End, true) && s.Group != s.End ||
			s.Direction == ring.Predecessor && within(s.End, g, s.Group, false) && g != s.End {
			w.Fail("S7", "%s ends an arc before %s", w.cfg.Name(p), r.Theme)
		}
	}
}

// themes is how many themes there are feeds of, so how many groups at most.
func (w *Witness) themes() int {
	logs := w.cfg.Logs()
	for _, l := range logs[w.logs:] {
		if !slices.Contains(w.seen, l.Theme) {
			w.seen = append(w.seen, l.Theme)
		}
	}
	w.logs = len(logs)
	return len(w.seen)
}

// within reports whether g lies on the way from one group to another, neither
// counted unless last.
func within(from, g, to feedring.GroupID, last bool) bool {
	if g == to {
		return last
	}
	after, before := g.Compare(from) > 0, g.Compare(to) < 0
	if from.Compare(to) < 0 {
		return after && before
	}
	return after || before
}
