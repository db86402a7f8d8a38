package sim

import (
	"math/bits"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// words mixes what a message says into the hash of a run (D1): which it is, and the
// numbers by which others go. Texts that stay the same for a run, as addresses,
// are left out. What is sent most has a number; the rest has its verb.
func (w *World) words(m feedring.Message) {
	d := digest{w.hash}
	switch m := m.(type) {
	case ring.Swap:
		d.add(1, m.Hash)
	case ring.Versions:
		d.add(2, m.Hash, uint64(len(m.Have)))
	case group.BeaconAnswer:
		d.add(3, m.Term.Number, m.Number, uint64(m.Leases), m.Catalogue, m.Older)
		d.heads(m.Heads)
	case group.Beacon:
		d.beacon(&m)
	case group.Notify:
		d.add(5, m.Term.Number, m.Head.Position.Epoch, m.Head.Position.Sequence, uint64(len(m.Path)), m.After.Sequence, uint64(len(m.Answer)))
	case ring.Search:
		d.query(6, m.ID, m.Attempt)
		d.add(uint64(m.Direction), uint64(m.C), uint64(m.Hop), uint64(len(m.Visited)), uint64(len(m.Serving)))
	case ring.SearchAck:
		d.query(7, m.ID, m.Attempt)
	case ring.Rows:
		d.ringRows(&m)
	default:
		d.rarer(m)
	}
	w.hash = d.sum
}

// digest is a hash under way.
type digest struct{ sum uint64 }

func (d *digest) add(numbers ...uint64) {
	for _, n := range numbers {
		d.sum = bits.RotateLeft64((d.sum^n)*0x9fb21c651e98df25, 29)
	}
}

// text takes the ends of a text and its length, by which names of peers and verbs
// differ.
func (d *digest) text(s string) {
	n := uint64(len(s))
	for _, c := range []byte(s[max(0, len(s)-4):]) {
		n = n<<8 | uint64(c)
	}
	if s != "" {
		n = n<<8 | uint64(s[0])
	}
	d.add(n)
}

func (d *digest) term(t feedring.Term) {
	d.add(t.Number)
	d.text(string(t.Claimant))
}

func (d *digest) beacon(m *group.Beacon) {
	d.term(m.Claim.Term)
	d.text(string(m.Secondary))
	d.add(4, m.Number, uint64(m.Acknowledged), uint64(len(m.Away)), m.Catalogue, m.Older, uint64(m.RoundTrip))
	d.heads(m.Heads)
}

func (d *digest) heads(heads []feedring.Head) {
	d.add(uint64(len(heads)))
	for i := range heads {
		d.add(heads[i].Position.Epoch, heads[i].Position.Sequence)
	}
}

func (d *digest) row(r *group.Row) {
	d.text(string(r.Peer))
	left := uint64(0)
	if r.Left {
		left = 1
	}
	d.add(r.Incarnation, r.Version, uint64(r.From.Unix()), left, uint64(len(r.Feeds)), uint64(len(r.Backfilling)))
}

func (d *digest) rows(rows []*group.Row) {
	for _, r := range rows {
		d.row(r)
	}
}

func (d *digest) ringRows(m *ring.Rows) {
	for _, r := range m.Rows {
		d.term(r.Term)
		d.add(r.Version, uint64(r.Clients))
	}
	d.add(8, uint64(len(m.Rows)), uint64(len(m.Lost)), uint64(len(m.Want)))
}

func (d *digest) query(kind uint64, id feedring.QueryID, attempt uint32) {
	d.add(kind, uint64(id[0])|uint64(id[1])<<8|uint64(id[2])<<16, uint64(attempt))
}

func (d *digest) grants(grants []feedring.Grant) {
	d.add(uint64(len(grants)))
	for i := range grants {
		for _, p := range grants[i].Ticket.Peers {
			d.text(string(p))
		}
	}
}

func (d *digest) rarer(m feedring.Message) {
	d.text(string(m.Verb()))
	if of, ok := m.(group.Message); ok {
		d.term(of.Of().Term)
	}
	switch m := m.(type) {
	case group.Refresh:
		d.add(m.Version)
		for _, l := range m.Loads {
			d.add(uint64(l.Leases))
		}
		d.rows(m.Rows)
	case group.Refreshed:
		d.add(m.Version)
	case group.Rows:
		d.rows(m.Rows)
	case group.Join:
		d.row(&m.Row)
	case group.Leave:
		d.row(&m.Row)
	case group.Admitted:
		d.term(m.Claim.Term)
		d.rows(m.Rows)
		d.heads(m.Heads)
	case group.Heads:
		d.heads(m.Heads)
	case group.Confirmation:
		d.term(m.Claim.Term)
	case group.Stale:
		d.term(m.Claim.Term)
	case group.Intention:
		d.add(m.Proposed, uint64(m.Elapsed), m.Nonce)
	case group.Objection:
		d.add(m.Nonce)
	case group.Probe:
		d.add(m.Nonce)
	case group.Alive:
		d.add(m.Nonce)
	default:
		d.question(m)
	}
}

// question takes what is told of a reader's question.
func (d *digest) question(m feedring.Message) {
	switch m := m.(type) {
	case group.Place:
		d.query(9, m.ID, m.Attempt)
	case group.Placed:
		d.query(10, m.ID, m.Attempt)
		d.grants(m.Grants)
		d.add(uint64(len(m.Missing)), uint64(len(m.Copies)))
	case group.Assign:
		d.query(11, m.ID, m.Attempt)
	case group.Assigned:
		d.query(12, m.ID, m.Attempt)
		d.add(uint64(m.Leases))
	case peer.Query:
		d.query(13, m.ID, m.Attempt)
	case peer.Final:
		f := &m.Final
		d.query(14, f.ID, f.Attempt)
		d.grants(f.Grants)
		d.add(uint64(f.Status), uint64(f.Hops), uint64(f.Messages), uint64(len(f.Missing)))
	case ring.FoundGroup:
		d.query(15, m.ID, m.Attempt)
		d.add(uint64(m.Direction), uint64(m.Hop))
	case ring.Exhausted:
		d.query(16, m.ID, m.Attempt)
		d.add(uint64(m.Direction), uint64(m.C), uint64(m.Hop), uint64(len(m.Visited)), uint64(len(m.Serving)))
	}
}
