package group

import (
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/admission"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/duplicate"
	"github.com/feedring/feedring/group/internal/fetchassign"
	"github.com/feedring/feedring/group/internal/hash"
	"github.com/feedring/feedring/group/internal/health"
	"github.com/feedring/feedring/group/internal/mesh"
	"github.com/feedring/feedring/group/internal/orphans"
	"github.com/feedring/feedring/group/internal/placement"
	"github.com/feedring/feedring/group/internal/replication"
	"github.com/feedring/feedring/group/internal/sitecheck"
	"github.com/feedring/feedring/group/internal/support"
	"github.com/feedring/feedring/internal/timerqueue"
	"github.com/feedring/feedring/internal/times"
)

// Machine is one peer's membership of one group. It is not safe for concurrent use; View returns what others may read.
type Machine struct {
	cfg    Config
	group  feedring.GroupID
	now    time.Time
	rng    rand.PCG
	out    []Output `state:"of the last step"`
	timers timerqueue.Queue[timerKey]

	terms     // accepted, on disk and on its way there
	lead      lead
	managing  managing
	joining   joining
	failover  // what this peer suspects of others, and of itself
	duplicate duplicate.Identity
	support   support.Ledger // of managers, while this one is one

	roster // the catalogue, and who is there
	ownRow ownRow
	sites  sites
	mesh   mesh.Mesh

	admitter   *admission.Admitter
	replicator *replication.Replicator
	placer     *placement.Placer
	sharing    *fetchassign.Sharing
	orphans    *orphans.Keeper

	conns connections
	views views

	role     feedring.Role
	leaving  bool
	departed bool
	rejoined bool // it was in a group with others before it started
}

// lead is the manager that this peer follows, itself included.
type lead struct {
	claim       Claim
	serving     bool // this peer is the manager, under claim
	acked       bool // another peer follows this manager's claim
	secondary   feedring.PeerID
	number      uint64    // of the last beacon
	heard       time.Time // the last sign of life
	since       time.Time
	suspectedAt time.Time // somebody else's intention came, and no sign of life since
	askedAt     time.Time // when the manager was asked whether it manages still
	renewed     bool      // an acknowledged manager claimed anew, and nobody acknowledged that yet
}

// New returns a membership that is in no group yet: Enter or Establish begin it.
func New(cfg Config, st State, now time.Time) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Machine{
		cfg: cfg, group: cfg.Theme.Group(), now: now,
		rng:      *rand.NewPCG(cfg.Seed, hash.Of(string(cfg.Theme), string(cfg.Self))),
		timers:   timerqueue.Numbered(int(timerKinds), timerKey.slot),
		terms:    terms{disk: st, want: st},
		roster:   newRoster(cfg.Self),
		sites:    sites{Checker: sitecheck.New(cfg.Self, cfg.Refresh)},
		mesh:     mesh.New(cfg.Self, cfg.Meshes),
		failover: failover{health: health.New(cfg.Refresh)},
		support:  support.New(cfg.Self, cfg.Refresh),
		rejoined: !st.Term.IsZero(),
	}
	m.admitter = admission.New(admission.Config{Refresh: cfg.Refresh, Freshness: cfg.Freshness, Rows: maxRows}, shell{m})
	m.replicator = replication.New(replication.Config{
		Group: m.group, Self: cfg.Self, Refresh: cfg.Refresh, Freshness: cfg.Freshness, Retention: cfg.retention(),
	}, shell{m})
	m.placer = placement.New(placement.Config{
		Group: m.group, Theme: cfg.Theme, Self: cfg.Self, Refresh: cfg.Refresh, Freshness: cfg.Freshness,
	}, shell{m}, st.Term.Claimant)
	m.sharing = fetchassign.NewSharing(fetchassign.Config{Group: m.group, Self: cfg.Self, Refresh: cfg.Refresh, Fetchers: cfg.Fetchers, Every: cfg.Every}, shell{m})
	m.orphans = orphans.New(orphans.Config{Group: m.group, Self: cfg.Self, Refresh: cfg.Refresh}, shell{m})
	m.want.Incarnation++
	m.want.Highest = max(m.want.Highest, m.want.Term.Number)
	row := &Row{Group: m.group, Peer: cfg.Self, Incarnation: m.want.Incarnation, Version: 1, From: upTo(times.Later(now, m.want.Dropped))}
	if cfg.keeper() {
		row.Keep = min(cfg.Keep, catalogue.MaxKeep).Truncate(time.Millisecond)
	}
	m.add(&member{row: row, hash: catalogue.VersionOf(row).Hash(), first: now, heard: now})
	return m, nil
}

// Step applies one input at now, which never goes back, and returns what must be done, in that order.
func (m *Machine) Step(now time.Time, in Input) []Output {
	if m.departed {
		return nil
	}
	m.advanceClock(now)
	m.apply(in)
	for !m.departed {
		b, ok := m.timers.Pop(m.now)
		if !ok {
			break
		}
		m.fireTimer(b)
	}
	if m.replicator.ExceptionsChanged() && !m.departed {
		m.updateExceptions()
	}
	if m.ownRow.orphansChanged && !m.departed {
		m.updateOrphans()
	}
	m.settle()
	out := m.out
	m.out = nil
	return out
}

// Deadline reports when Step next wants a Tick; the zero time means never.
func (m *Machine) Deadline() time.Time {
	if m.departed {
		return time.Time{}
	}
	return m.timers.Next()
}

func (m *Machine) apply(in Input) {
	m.views.view = nil
	switch in := in.(type) {
	case Receive:
		if in.Message != nil && in.Message.Of().Group == m.group {
			m.receive(in)
		}
	case Persisted:
		m.persisted(in.Token)
	case Establish:
		m.establish(in.Above)
	case Enter:
		m.enter(in)
	case Describe:
		m.describe(in)
	case Holding:
		m.replicator.Holding(in.Heads)
	case Kept:
		for _, p := range m.replicator.OnCopies(in.Copies) {
			m.ownRow.orphansChanged = m.ownRow.orphansChanged || m.gone(p)
		}
	case Publish:
		m.replicator.Publish(in)
	case Appended:
		m.replicator.OnAppended(in)
	case Fetched:
		m.replicator.OnFetched(in)
	case Forked:
		m.replicator.OnForked(in)
		m.sites.vouched = nil
	case Served:
		m.mesh.Served(m.present(), in.Feed.Publisher, in.To, in.Entries)
	case Attach:
		m.attach(in)
	case Detach:
		m.placer.Detach(in.Stream)
	case Checked:
		m.checked(in)
	case CheckSites:
		m.recheckSites(m.cfg.Self)
	case Rival:
		m.rival(in)
	case Trusted:
		m.admitter.Trust(in)
	case OriginMeasured, OriginFetched, StandInFailed, FetchNow:
		m.sharing.Take(in)
	case Depart:
		m.depart(in.Withdraw)
	case Abandon:
		m.done()
	}
}

// receive hands a message to the part that understands it.
func (m *Machine) receive(in Receive) {
	from := in.From
	m.enterCatalogue(in)
	if mem := m.members[from]; mem != nil && from != m.cfg.Self {
		m.heardOf(from, mem)
		m.admitter.Met(mem.row, in.Prefix)
	}
	switch msg := in.Message.(type) {
	case Join:
		m.onJoin(in, msg)
	case Admitted:
		m.onAdmitted(in, msg)
	case Leave:
		m.onLeave(from, msg)
	case HandOver:
		m.onHandOver(from, msg)
	case Beacon:
		m.onBeacon(in, msg)
	case BeaconAnswer:
		m.onBeaconAnswer(in, msg)
	case Refresh:
		m.onRefresh(in, msg)
	case Refreshed:
		m.onRefreshed(from, msg)
	case RowsWanted:
		m.onRowsWanted(from, msg)
	case Rows:
		m.onRows(from, msg)
	case HeadsWanted:
		if m.members[from] != nil {
			heads, more := m.replicator.After(msg.After)
			m.send(from, Heads{Header: m.header(), Heads: heads, More: more})
		}
	case Heads:
		if len(msg.Heads) <= maxItems && m.members[from] != nil && m.replicator.OnHeads(msg.Heads, msg.More, from) {
			m.updateExceptions()
		}
	default:
		m.receiveMore(in)
	}
	m.correctTerm(from, in.Message)
}

func (m *Machine) receiveMore(in Receive) {
	from := in.From
	switch msg := in.Message.(type) {
	case Intention:
		m.onIntention(from, msg)
	case Probe:
		m.onProbe(from, msg)
	case Alive:
		m.onAlive(from, msg)
	case Objection:
		m.onObjection(in, msg)
	case Confirmation:
		m.onConfirmation(in, msg)
	case Stale:
		m.onStale(in, msg)
	case Replace:
		m.onReplace(from, msg)
	case Notify:
		m.replicator.OnNotify(msg.Head, replication.Answer{After: msg.After, Part: msg.Answer}, msg.Path, from)
	case Evidence:
		m.replicator.OnEvidence(msg.Fork, from)
	case Place:
		m.onPlace(from, msg)
	case Assign:
		m.onAssign(from, msg)
	case Assigned:
		m.onAssigned(from, msg)
	case AssignmentsWanted:
		m.sharing.OnRequests(from, msg.Feeds)
	case Assignments:
		m.sharing.OnAssignments(from, msg.For, msg.Feeds)
	case FetchRequest:
		if m.members[from] != nil {
			m.sharing.OnFetchRequest(msg.URL)
		}
	}
}

// fireTimer does what is due.
func (m *Machine) fireTimer(b timerKey) {
	m.views.view = nil
	switch b.kind {
	case timerBeacon:
		m.beat()
	case timerRival:
		m.outbidRival()
	case timerSecondary:
		m.secondarySilent()
	case timerSilence:
		m.intend()
	case timerObjection:
		m.unopposed()
	case timerJoin:
		m.joinNext()
	case timerRow:
		m.announceRow()
	case timerPoll:
		m.replicator.Poll(b.ref)
	case timerLookup:
		m.placer.Late(b.attempt)
	case timerReservation:
		m.placer.Unreserve(b.attempt.ID)
	case timerSites:
		m.checkSites()
	case timerFetches:
		m.sharing.Review()
	case timerCarry:
		m.orphans.Review()
	case timerGarbage:
		m.collectGarbage()
	case timerDepart:
		m.done()
	}
}

// settle tells what changed by the step: the role, and the peers whose connections matter.
func (m *Machine) settle() {
	m.trustIssuers()
	m.sharing.FollowManager()
	role := m.roleNow()
	if role != m.role && !m.departed {
		m.role = role
		m.emit(RoleChanged{Theme: m.cfg.Theme, Role: role, Term: m.lead.claim.Term})
	}
	m.protect()
}

func (m *Machine) roleNow() feedring.Role {
	switch {
	case m.lead.serving:
		return feedring.RoleManager
	case m.lead.claim.Term.IsZero():
		return feedring.RoleNone
	case m.lead.secondary == m.cfg.Self:
		return feedring.RoleSecondary
	default:
		return feedring.RolePeer
	}
}

func (m *Machine) emit(o Output) { m.out = append(m.out, o) }

func (m *Machine) send(to feedring.PeerID, msg Message) {
	if to != "" {
		m.sendAs(to, msg, false)
	}
}

func (m *Machine) sendAs(to feedring.PeerID, msg Message, fresh bool) {
	m.emit(&Send{To: to, Message: msg, Fresh: fresh})
}

// header is what every message of this peer carries.
func (m *Machine) header() Header { return Header{Group: m.group, Term: m.term()} }

// term is the term followed, or else the last one accepted.
func (m *Machine) term() feedring.Term {
	if t := m.lead.claim.Term; !t.IsZero() {
		return t
	}
	return m.disk.Term
}

func (m *Machine) manager() feedring.PeerID { return m.lead.claim.Term.Claimant }

// after sets a timer.
func (m *Machine) after(c timerKind, d time.Duration) { m.timers.Set(timerKey{kind: c}, m.now.Add(d)) }

// beatEvery is the time between beacons.
func (m *Machine) beatEvery() time.Duration { return m.cfg.Refresh / 3 }

// jitter returns a random duration below d.
func (m *Machine) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rand.New(&m.rng).Int64N(int64(d)))
}

func (m *Machine) nonce() uint64 { return m.rng.Uint64() | 1 }
