package charter

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// stand returns the expulsions that are in force, of each subject. A root's always
// is. An admin's is if the admin had the right to expel when it was signed, and no
// expulsion in force ends what that admin signed. Admins that expel each other are
// both out: neither ends the other's expulsion. If others end each other's in a
// circle, all are in force, until a root decides.
func (r *Roll) stand(ids []ID) map[feedring.PeerID][]*Expulsion {
	standing := make(map[feedring.PeerID][]*Expulsion)
	var open []*Expulsion
	for _, id := range ids {
		e := r.statements[id].Expulsion
		switch {
		case e == nil || r.isRoot(e.Subject):
		case r.isRoot(e.Seal.Signer):
			standing[e.Subject] = append(standing[e.Subject], e)
		case r.mayExpel(e):
			open = append(open, e)
		}
	}
	open = slices.DeleteFunc(open, func(e *Expulsion) bool {
		return slices.ContainsFunc(standing[e.Seal.Signer], func(by *Expulsion) bool { return r.voids(by, e) })
	})
	const undecided, accepted, rejected = 0, 1, 2
	state := make([]int, len(open))
	ending := make([][]int, len(open)) // by which others each is ended
	for i, e := range open {
		for j, by := range open {
			if by.Subject == e.Seal.Signer && by.Seal.Signer != e.Subject && r.voids(by, e) {
				ending[i] = append(ending[i], j)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range open {
			if state[i] != undecided {
				continue
			}
			switch {
			case slices.ContainsFunc(ending[i], func(j int) bool { return state[j] == accepted }):
				state[i], changed = rejected, true
			case !slices.ContainsFunc(ending[i], func(j int) bool { return state[j] != rejected }):
				state[i], changed = accepted, true
			}
		}
	}
	for i, e := range open {
		if state[i] != rejected {
			standing[e.Subject] = append(standing[e.Subject], e)
		}
	}
	return standing
}

// mayExpel reports whether an expulsion's signer had the right to expel when it says
// that it signed.
func (r *Roll) mayExpel(e *Expulsion) bool {
	return slices.ContainsFunc(r.credentials[e.Seal.Signer], func(c *Credential) bool {
		return r.isRoot(c.Seal.Signer) && c.Rights.Has(Expel) && !e.At.Before(c.NotBefore.Add(-skew)) && e.At.Before(c.Expires)
	})
}

func (r *Roll) isAdmin(p feedring.PeerID) bool { return r.rootGave(p, Admit|Expel) }

// rootGave reports whether a root's credential gives a peer one of these rights.
func (r *Roll) rootGave(p feedring.PeerID, of Rights) bool {
	return slices.ContainsFunc(r.credentials[p], func(c *Credential) bool {
		return r.isRoot(c.Seal.Signer) && c.Rights&of != 0
	})
}

// voids reports whether an expulsion ends another one, which its subject signed.
func (r *Roll) voids(by, e *Expulsion) bool {
	return !slices.Contains(by.Keeps, IDOf(e.Seal)) && !r.lifted(by, e.At)
}

// Expel returns the expulsion of a peer, for its signer to seal: what the peer signed
// before since stays valid, as far as this roll holds it. A root that expels an admin
// decides between admins: what that one said of others ends.
func (r *Roll) Expel(p feedring.PeerID, since, now time.Time, reason string, byRoot bool) Expulsion {
	e := Expulsion{Subject: p, Since: since, At: now, Until: now, Reason: reason}
	if r.charter.Mode == Vouched {
		e.Until = now.Add(barredFor)
	}
	for id, s := range r.statements {
		if s.Credential != nil {
			e.Until = latest(e.Until, s.Credential.Expires)
		}
		if s.Seal().Signer != p || !s.At().Before(since) || byRoot && s.Expulsion != nil && r.isAdmin(s.Expulsion.Subject) {
			continue
		}
		if len(e.Keeps) < MaxKeeps {
			e.Keeps = append(e.Keeps, id)
		}
	}
	slices.SortFunc(e.Keeps, func(a, b ID) int { return slices.Compare(a[:], b[:]) })
	return e
}

// barredFor is how long an expulsion lasts where no credential is needed.
const barredFor = 10 * 365 * 24 * time.Hour

// barring lists the expulsions of a peer that are in force and not taken back.
func (r *Roll) barring(p feedring.PeerID, now time.Time) (ids []ID) {
	for _, e := range r.expulsions[p] {
		if !r.lifted(e, now) {
			ids = append(ids, IDOf(e.Seal))
		}
	}
	return ids
}

// Barred reports whether an expulsion of a peer is in force and not taken back, so that
// only a root admits it.
func (r *Roll) Barred(p feedring.PeerID, now time.Time) bool { return len(r.barring(p, now)) > 0 }

// ExpelledBy reports whether a peer is expelled by a signer, or by a root, and what it
// signed from since on is ended: another such expulsion would end no more.
func (r *Roll) ExpelledBy(p, signer feedring.PeerID, since, now time.Time) bool {
	return r.Expelled(p, now) && slices.ContainsFunc(r.expulsions[p], func(e *Expulsion) bool {
		return (e.Seal.Signer == signer || r.isRoot(e.Seal.Signer)) && !since.Before(e.Since) && !r.lifted(e, now)
	})
}

// MaxKeeps is how many statements of its subject an expulsion leaves valid.
const MaxKeeps = 4096

// Lifts lists the expulsions in force of a peer: what a root's credential takes back
// to admit it anew.
func (r *Roll) Lifts(p feedring.PeerID) (lifts []ID) {
	for _, e := range r.expulsions[p] {
		lifts = append(lifts, IDOf(e.Seal))
	}
	return lifts[:min(len(lifts), MaxLifts)]
}

// MaxLifts is how many expulsions a credential takes back.
const MaxLifts = 256
