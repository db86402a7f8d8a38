package charter

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Target is what a removal names: the id of an entry, whoever publishes it; the first
// address of a feed, whoever publishes it; or a peer's id, for all that it publishes.
// Their forms tell them apart. One of another form is of a later version, and hides
// nothing here.
type Target string

// EntryTarget is for one entry.
func EntryTarget(id feedring.EntryID) Target { return Target(id) }

// FeedTarget is the same for http and https, which are one feed.
func FeedTarget(url string) Target {
	if rest, ok := strings.CutPrefix(url, "http://"); ok {
		return Target("https://" + rest)
	}
	return Target(url)
}

// PeerTarget is for all that a peer publishes.
func PeerTarget(id feedring.PeerID) Target { return Target(id) }

// Removal has all members hide what it names. One that restores takes others back
// instead.
type Removal struct {
	Target    Target
	At, Until time.Time
	Reason    string
	Restores  []ID // not empty: these removals end
	Seal      *feedring.Seal
}

const (
	// MaxRemovals is how many removals a roll holds, beside all else, with those that
	// restore, are restored or ended: who forgets a restoration obeys the removal when it
	// is told of it again. MaxRemovalsOfOne is how many of one moderator.
	MaxRemovals, MaxRemovalsOfOne = 4000, 1000
	// MaxRestores is how many removals one takes back.
	MaxRestores = 256
	removedFor  = 10 * 365 * 24 * time.Hour
)

// Errors of removing and restoring.
var (
	ErrManyRemovals = errors.New("the roll holds as many removals as it may, with those that were restored or ended")
	ErrRemoved      = errors.New("it is removed already")
	ErrNotRemoved   = errors.New("nobody removed it")
	ErrRootRemoved  = errors.New("a root key removed it, and only a root key restores it")
)

// judgeRemovals finds the removals that are in force, of each target the one that was
// signed first. A moderator must hold its right by a root's credential, and be expelled
// by nobody after it signed. A root's removal is taken back by a root only.
func (r *Roll) judgeRemovals(ids []ID) {
	back, removing := make(map[ID]bool), []ID(nil) // what was restored; true: by a root
	for _, id := range ids {
		m := r.statements[id].Removal
		if m == nil || !r.mayModerate(id, m) {
			continue
		}
		if len(m.Restores) == 0 {
			removing = append(removing, id)
		}
		for _, of := range m.Restores {
			back[of] = back[of] || r.isRoot(m.Seal.Signer)
		}
	}
	r.removals = make(map[Target][]*Removal)
	for _, id := range removing {
		m := r.statements[id].Removal
		if byRoot, restored := back[id]; restored && (byRoot || !r.isRoot(m.Seal.Signer)) {
			continue
		}
		if t := FeedTarget(string(m.Target)); t != "" {
			r.removals[t] = append(r.removals[t], m)
		}
	}
}

// mayModerate reports whether a removal's signer may hide something, and nothing ended
// what it signed. A moderator whose credential was given anew has the right for what it
// signed under the one before.
func (r *Roll) mayModerate(id ID, m *Removal) bool {
	return r.isRoot(m.Seal.Signer) || !r.ended(id, m.Seal.Signer, m.At) &&
		slices.ContainsFunc(r.credentials[m.Seal.Signer], func(c *Credential) bool {
			return r.isRoot(c.Seal.Signer) && c.Rights.Has(Moderate) && m.At.Before(c.Expires)
		})
}

// Names reports whether a removal in force names a target itself.
func (r *Roll) Names(t Target) bool { return len(r.removals[FeedTarget(string(t))]) > 0 }

// RemovesAny reports whether anything is removed.
func (r *Roll) RemovesAny() bool { return len(r.removals) > 0 }

// RemovesFeed reports whether all that a publisher has of a feed is removed.
func (r *Roll) RemovesFeed(ref feedring.FeedRef) bool {
	_, removed := r.WhyRemoved(ref)
	return removed
}

// Removes reports whether an entry of a publisher is removed.
func (r *Roll) Removes(ref feedring.FeedRef, id feedring.EntryID) bool {
	return len(r.removals) > 0 && (len(r.removals[EntryTarget(id)]) > 0 || r.RemovesFeed(ref))
}

// WhyRemoved is the reason that was given for the removal of all that a publisher has
// of a feed.
func (r *Roll) WhyRemoved(ref feedring.FeedRef) (reason string, removed bool) {
	if len(r.removals) == 0 {
		return "", false
	}
	all := r.removals[PeerTarget(ref.Publisher)]
	if len(all) == 0 {
		all = r.removals[FeedTarget(ref.URL)]
	}
	if len(all) == 0 {
		return "", false
	}
	return all[0].Reason, true
}

// Holds reports whether a removal is in force.
func (r *Roll) Holds(m *Removal) bool {
	return slices.Contains(r.removals[FeedTarget(string(m.Target))], m)
}

// RemovesAs reports whether two rolls remove the same.
func (r *Roll) RemovesAs(o *Roll) bool {
	for t := range r.removals {
		if len(o.removals[t]) == 0 {
			return false
		}
	}
	return len(r.removals) == len(o.removals)
}

// Moderate returns the removal of a target, or what takes all its removals back, for its
// signer to seal. ErrRemoved, ErrNotRemoved, ErrRootRemoved, ErrManyRemovals.
func (r *Roll) Moderate(t Target, restore bool, by feedring.PeerID, now time.Time, reason string) (*Removal, error) {
	m := &Removal{Target: t, At: now, Until: now.Add(removedFor), Reason: reason}
	held := r.removals[FeedTarget(string(t))]
	for _, one := range held {
		byRoot := r.isRoot(one.Seal.Signer)
		switch {
		case !restore && (byRoot || !r.isRoot(by)):
			return nil, ErrRemoved
		case restore && byRoot && !r.isRoot(by):
			return nil, ErrRootRemoved
		case restore && len(m.Restores) < MaxRestores:
			m.Restores = append(m.Restores, IDOf(one.Seal))
		}
	}
	if restore && len(held) == 0 {
		return nil, ErrNotRemoved
	}
	return m, r.roomFor(by)
}

// roomFor is ErrManyRemovals where one more of a signer would push another one out.
func (r *Roll) roomFor(by feedring.PeerID) error {
	all, own := 0, 0
	for _, s := range r.statements {
		if s.Removal == nil {
			continue
		}
		all++
		if s.Removal.Seal.Signer == by {
			own++
		}
	}
	if !r.isRoot(by) && (all >= MaxRemovals || own >= MaxRemovalsOfOne) {
		return ErrManyRemovals
	}
	return nil
}

// fit takes out of a union what a roll has no room for. Each moderator has a part, so
// that none pushes others' removals out.
func (r *Roll) fit(union map[ID]Statement) {
	members, removals := 0, 0
	for _, s := range union {
		if s.Removal != nil {
			removals++
		} else {
			members++
		}
	}
	if members <= MaxRoll && removals <= MaxRemovalsOfOne {
		return
	}
	members, removals = 0, 0
	of := make(map[feedring.PeerID]int)
	for _, s := range r.sorted(union) {
		if s.Removal == nil {
			if members++; members > MaxRoll {
				delete(union, s.ID())
			}
			continue
		}
		by := s.Removal.Seal.Signer
		if of[by]++; of[by] > MaxRemovalsOfOne && !r.isRoot(by) {
			delete(union, s.ID())
		} else if removals++; removals > MaxRemovals {
			delete(union, s.ID())
		}
	}
}
