package ask

import (
	"errors"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// maxShown bounds the ids that are remembered while a running peer is followed.
const maxShown = 100_000

// apiFollower takes the events of a running peer's stream.
type apiFollower struct {
	*following
	outage *outage
	shown  map[feedring.EntryID]bool
	begun  bool // the first answer was whole, or is an earlier run's

	resumed bool // an earlier run printed entries, too

	waiting []feedring.Entry // of a first answer with --resume: saved before it is printed
}

// Entry prints an entry that is new. The entries of a first answer come without
// an id to go on after: that comes with the final event.
func (o *apiFollower) Entry(e feedring.Entry, id string) error {
	// Copies that differ are both new. A stream that was cut may repeat each.
	copied := e.ID + feedring.EntryID(" "+e.Title+" "+e.URL)
	if o.shown[copied] && !o.flags.updates {
		return nil
	}
	if !o.begun && o.saved.path != "" {
		o.keep(e.ID, copied)
		o.waiting = append(o.waiting, e)
		return nil
	}
	err := o.following.entry(e)
	if err != nil && !errors.Is(err, client.ErrEnough) {
		return err
	}
	o.keep(e.ID, copied)
	o.saved.setCursor(id)
	return err
}

// Retracted takes what was taken back, unless it was never printed. What an
// earlier run printed is not known.
func (o *apiFollower) Retracted(r feedring.Retraction, id string) error {
	if o.shown[r.ID] || o.resumed {
		if err := o.following.retracted(r); err != nil {
			return err
		}
	}
	o.saved.setCursor(id)
	return nil
}

// keep remembers what was printed, or is kept for the next time: an entry and its copy.
func (o *apiFollower) keep(entry, copied feedring.EntryID) {
	if len(o.shown) > maxShown {
		clear(o.shown)
	}
	o.shown[entry], o.shown[copied] = true, true
}

// First takes the end of the first answer, with the id to go on after it.
func (o *apiFollower) First(answer client.Answer, id string) error {
	o.begun = true
	waiting := o.waiting
	o.waiting = nil
	if err := o.printFirst(waiting, func() { o.saved.LastEvent = id }); err != nil {
		return err
	}
	return o.answered(answer.Final)
}

// Opened, Gap, Older, Unserved and SetCursor implement api.Follower. A stream that
// is opened anew tells again what nobody serves.

func (o *apiFollower) Opened()                          { o.outage.back(); o.nobody = nil }
func (o *apiFollower) Gap(g client.Gap)                 { o.gap(g) }
func (o *apiFollower) Older(e client.Older)             { o.older(e) }
func (o *apiFollower) SetCursor(id string)              { o.saved.setCursor(id) }
func (o *apiFollower) Unserved(themes []feedring.Theme) { o.unserved(themes) }
