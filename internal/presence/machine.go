package presence

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"
)

// least is the shortest period: many processes on one machine have a short one.
const least = time.Second

// In periods.
const (
	liveFor  = 5 // after the last proof that it runs a process counts as gone
	openFor  = 2 // for so long a process that may be an earlier life is waited for
	openAll  = 4 // and for all such together, which a witness may repeat one after the other
	freshFor = 3 // what a witness heard longer ago says nothing of now
)

const (
	// Behind is how much later a process that yielded counts as begun: the one
	// that it yielded to may restart, or be away for a while, and goes on.
	Behind = 24 * time.Hour
	// silence is how long at most a process that nobody answers waits before it
	// publishes.
	silence = 3 * time.Second

	maxRivals = 8
	keptMade  = 64
)

// Config is what a Machine needs. All fields but Above are needed.
type Config struct {
	Refresh  time.Duration
	Instance uint64    // drawn at random; not 0
	Since    time.Time // when the process started, or later: see Changed
	Above    uint64    // the epoch of Changed, of an earlier life
}

// State is what a process may do.
type State uint8

// The states.
const (
	Waits     State = iota // it has just started, and publishes nothing yet
	Publishes              // as usual
	Yields                 // to another process with its key
)

type (
	// Input is one of those below.
	Input interface{ isInput() }
	// Output is one of those below.
	Output interface{ isOutput() }

	// Tick: time has passed, see Deadline.
	Tick struct{}
	// Heard is what a witness answered; its seals are checked, and their signer
	// is this peer.
	Heard struct{ Others []HeardStatement }
	// Asked: all witnesses answered or failed to. Nobody: there are none, and
	// none are to come. Settled: they are those of the whole map.
	Asked struct {
		Answers         int
		Nobody, Settled bool
		Addrs           []string // this peer's now
		Epoch           uint64   // of its logs, the latest
	}
	// Leave: the process stops.
	Leave struct{}

	// Ask: sign Statement, tell the witnesses, and hand in Heard for each answer,
	// then Asked.
	Ask struct{ Statement Statement }
	// Changed tells of another state, or of other processes that came or went.
	Changed struct {
		State State
		Rival *Statement // another process that runs, the least in rank; nil: none does
		Above uint64     // epochs of own logs must not be below; 0: they go on
		Since time.Time  // to go on with after a restart
	}
)

func (Tick) isInput()     {}
func (Heard) isInput()    {}
func (Asked) isInput()    {}
func (Leave) isInput()    {}
func (Ask) isOutput()     {}
func (Changed) isOutput() {}

// Machine is one process. It is not safe for concurrent use.
type Machine struct {
	cfg     Config
	now     time.Time
	started time.Time
	state   State
	own     Statement
	made    map[uint64]time.Time // the last statements
	rivals  map[uint64]*rival
	asking  bool
	again   bool // another round follows soon
	settled bool // the whole map's witnesses answered since the start
	alone   bool
	free    time.Time // when another process was last known to run, or of the start
	next    time.Time // of the next round; zero: none
	above   uint64
	told    Changed
	out     []Output
}

// New returns a process that has just started.
func New(cfg Config, now time.Time) *Machine {
	cfg.Refresh = max(cfg.Refresh, least)
	return &Machine{
		cfg: cfg, now: now, started: now, free: now, next: now, above: cfg.Above,
		own:  Statement{Instance: cfg.Instance, Since: cfg.Since},
		made: map[uint64]time.Time{}, rivals: map[uint64]*rival{},
		told: Changed{Above: cfg.Above, Since: cfg.Since},
	}
}

// Step applies one input at now, which never goes back, and returns what must be
// done, in that order.
func (m *Machine) Step(now time.Time, in Input) []Output {
	m.now = now
	switch in := in.(type) {
	case Heard:
		for _, t := range in.Others {
			m.record(t)
		}
	case Asked:
		m.asked(in)
	case Leave:
		m.own.Gone = true
		m.next = time.Time{}
		m.ask()
	}
	m.decide()
	m.tell()
	if !m.asking && !m.next.IsZero() && !m.next.After(m.now) {
		m.ask()
	}
	out := m.out
	m.out = nil
	return out
}

// Deadline is when Step next wants a Tick.
func (m *Machine) Deadline() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if t.After(m.now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if !m.asking && !m.next.After(m.now) {
		return m.next
	}
	if !m.asking {
		sooner(m.next)
	}
	if m.state == Waits {
		sooner(m.started.Add(m.silence()))
	}
	if m.state != Publishes {
		sooner(m.free.Add(openAll * m.cfg.Refresh))
	}
	for _, r := range m.rivals {
		sooner(r.first.Add(openFor * m.cfg.Refresh))
		sooner(r.alive.Add(liveFor * m.cfg.Refresh))
	}
	return at
}

func (m *Machine) silence() time.Duration { return min(silence, 2*m.cfg.Refresh) }

// ask makes a statement and begins a round.
func (m *Machine) ask() {
	m.own.Count++
	m.own.Publishes = m.state == Publishes
	m.own.Epoch = max(m.own.Epoch, m.above)
	m.own.Seen = nil
	for _, r := range m.inOrder() {
		if len(m.own.Seen) < MaxSeen {
			m.own.Seen = append(m.own.Seen, Sight{r.last.Instance, r.last.Count})
		}
	}
	m.made[m.own.Count] = m.now
	delete(m.made, m.own.Count-keptMade)
	m.asking = true
	m.out = append(m.out, Ask{m.own})
}

// asked ends a round. The next one is a period later, and sooner while it is not
// clear who else runs: the other one learns of this process by a statement.
func (m *Machine) asked(in Asked) {
	m.asking = false
	m.own.Epoch, m.own.Addrs = max(m.own.Epoch, in.Epoch), in.Addrs[:min(len(in.Addrs), MaxAddrs)]
	m.alone = in.Nobody
	m.settled = m.settled || in.Settled && in.Answers > 0
	if m.own.Gone {
		return
	}
	wait := m.cfg.Refresh
	if m.state == Waits || m.unclear() || len(m.live()) > 0 {
		wait /= 4
	}
	if m.again {
		wait = m.cfg.Refresh / 10
	}
	m.next, m.again = m.now.Add(wait), false
}

// soon has this process be seen before long.
func (m *Machine) soon() {
	m.again = m.asking
	if !m.asking && !m.next.IsZero() && m.next.After(m.now.Add(m.cfg.Refresh/10)) {
		m.next = m.now.Add(m.cfg.Refresh / 10)
	}
}

// record takes a statement with this key. Who repeats old ones changes nothing: a
// process shows that it runs by naming statements that it can only have seen now.
func (m *Machine) record(t HeardStatement) {
	s := t.Statement
	if s.Instance == m.own.Instance || s.Instance == 0 {
		return
	}
	r := m.rivals[s.Instance]
	switch {
	case r == nil && (t.Age > freshFor*m.cfg.Refresh || s.Gone):
		return
	case r == nil:
		if len(m.rivals) >= maxRivals && !m.makeRoom() {
			return
		}
		r = &rival{first: m.now}
		m.rivals[s.Instance] = r
	case s.Count <= r.last.Count:
		return
	}
	r.last = s
	if s.Publishes {
		r.published = max(r.published, s.Epoch)
	}
	before := r.quoted
	for _, sight := range s.Seen {
		made, ok := m.made[sight.Count]
		if sight.Instance == m.own.Instance && ok && sight.Count > r.quoted {
			r.quoted, r.alive = sight.Count, made
		}
	}
	if r.quoted <= before { // it has not seen this process since, or never did
		m.soon()
	}
}

// makeRoom forgets a process that is gone.
func (m *Machine) makeRoom() bool {
	for _, r := range m.inOrder() {
		if !r.live(m.now, m.cfg.Refresh) && !r.open(m.now, m.cfg.Refresh) {
			delete(m.rivals, r.last.Instance)
			return true
		}
	}
	return false
}

// inOrder is the other processes, by rank.
func (m *Machine) inOrder() []*rival {
	all := make([]*rival, 0, len(m.rivals))
	for _, r := range m.rivals {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *rival) int {
		if a.last.rank().before(b.last.rank()) {
			return -1
		}
		return 1
	})
	return all
}

// live is the other processes that run, by rank.
func (m *Machine) live() []*rival {
	return slices.DeleteFunc(m.inOrder(), func(r *rival) bool { return !r.live(m.now, m.cfg.Refresh) })
}

// unclear reports whether another process may turn out to run.
func (m *Machine) unclear() bool {
	for _, r := range m.rivals {
		if r.open(m.now, m.cfg.Refresh) {
			return true
		}
	}
	return false
}

// decide goes by the ranks of those that run. One that comes to publish while
// another does waits for that to yield: no two give positions at once.
func (m *Machine) decide() {
	live := m.live()
	busy := false
	for _, r := range live {
		busy = busy || r.last.Publishes
		m.free = m.now
		m.goAbove(r)
	}
	switch {
	case len(live) > 0 && live[0].last.rank().before(m.own.rank()):
		if m.state != Yields {
			m.state = Yields
			m.own.Since = times.Later(m.own.Since, m.now).Add(Behind).Truncate(time.Millisecond)
		}
	case m.state == Publishes, busy, m.unclear() && m.now.Before(m.free.Add(openAll*m.cfg.Refresh)):
	case m.state == Yields || m.alone || m.settled || !m.now.Before(m.started.Add(m.silence())):
		m.state = Publishes
	}
}

// goAbove lets own logs go on above those of another process that published: the
// same positions may be taken already.
func (m *Machine) goAbove(r *rival) {
	if r.published == 0 || m.state == Publishes && m.own.Epoch > r.published {
		return
	}
	m.above = max(m.above, r.published+1)
}

// tell says what changed.
func (m *Machine) tell() {
	now := Changed{State: m.state, Above: m.above, Since: m.own.Since}
	if live := m.live(); len(live) > 0 {
		now.Rival = &live[0].last
	}
	old := m.told
	if old.State == now.State && old.Above == now.Above && (old.Rival == nil) == (now.Rival == nil) &&
		(now.Rival == nil || old.Rival.Instance == now.Rival.Instance) {
		return
	}
	if now.Rival != nil {
		copied := *now.Rival
		now.Rival = &copied
	}
	m.told = now
	m.out = append(m.out, now)
	m.soon() // others go by it
}
