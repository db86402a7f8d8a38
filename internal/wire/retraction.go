package wire

import (
	"fmt"
	"slices"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// maxRetraction is the largest payload of one: it stands in the place of each
// version that it takes back.
const maxRetraction = 8 << 10

func takenTo(t *feedring.Taken) *feedringv1.TakenBack {
	return &feedringv1.TakenBack{
		Epoch: t.Position.Epoch, Sequence: t.Position.Sequence, Hash: hashTo(t.Hash), SeenUnixMs: TimeTo(t.Seen),
	}
}

func (d *Decoder) takes(list []*feedringv1.TakenBack) []feedring.Taken {
	if !d.Within("takes", len(list), feedring.MaxTaken) {
		return nil
	}
	return Each(list, func(t **feedringv1.TakenBack) feedring.Taken {
		return feedring.Taken{
			Position: feedring.Position{Epoch: (*t).GetEpoch(), Sequence: (*t).GetSequence()},
			Hash:     d.Hash("taken hash", (*t).GetHash()), Seen: d.Time("taken seen", (*t).GetSeenUnixMs()),
		}
	})
}

// checkRetraction holds a retraction against the rules that it has beside those
// of an entry. What takes nothing back is none, and passes.
func checkRetraction(e *feedring.Entry) error {
	if !e.Retracted && len(e.Takes) == 0 {
		return nil
	}
	rule := ""
	switch {
	case !e.Retracted || len(e.Takes) == 0 || len(e.Takes) > feedring.MaxTaken:
		rule = fmt.Sprintf("it takes %d versions back", len(e.Takes))
	case e.Version < 2:
		rule = "it is the first version of what it takes back"
	case e.Title != "" || e.URL != "" || e.Summary != "" || e.ContentHTML != "" || e.Language != "" || e.Truncated ||
		len(e.Authors)+len(e.Tags)+len(e.Attachments) > 0 || !e.Updated.IsZero():
		rule = "it takes back and says something all the same"
	}
	last := feedring.Position{}
	for _, t := range e.Takes {
		switch {
		case t.Position.Epoch == 0 || t.Position.Sequence == 0 || t.Hash == [32]byte{} || t.Seen.IsZero():
			rule = "it takes back what it does not name"
		case t.Position.Compare(last) <= 0:
			rule = "what it takes back is in no order"
		case t.Position.Compare(e.Position) >= 0 || t.Seen.After(e.Seen):
			rule = "it takes back what comes after it"
		}
		last = t.Position
	}
	if rule != "" {
		return fmt.Errorf("retraction of %s: %w: %s", e.ID, ErrMalformed, rule)
	}
	return nil
}

// TakenAt returns what a retraction says of the version at a position, in the
// place of which it was sent. Its signature was checked, so nobody but the
// publisher can leave a version out. ErrChain where it takes none back there.
func TakenAt(e *feedring.Entry, at feedring.Position) (feedring.Taken, error) {
	i := slices.IndexFunc(e.Takes, func(t feedring.Taken) bool { return t.Position == at })
	if i < 0 {
		return feedring.Taken{}, fmt.Errorf("%w: %d of %s is left out, and not taken back", ErrChain, at.Sequence, e.Feed)
	}
	return e.Takes[i], nil
}
