package fleet

import (
	"context"
	"errors"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
)

// adopted is what a row says of a personal feed.
func adopted(r *fleet.Row) (personal.Adopted, error) {
	v, err := fleet.FeedOf(r)
	return personal.Adopted{
		ID: r.ID.String(), Secret: v.Secret, Stem: v.Stem, Created: v.Created,
		Query: feedring.Query{Theme: v.Theme, Provider: v.Provider, Words: v.Words, Since: v.Since, Until: v.Until, Limit: v.Limit},
	}, err
}

// Wake opens a personal feed of which this peer has the row, and waits until its list
// was filled, though not for long: then personal.State finds it. It fails with
// ErrUnknown, ErrUnsure, ErrFilling, or if the feed cannot be opened.
func (k *Keeper) Wake(ctx context.Context, secret string) error {
	id, ok := fleet.IDOf(secret)
	if !ok {
		return ErrUnknown
	}
	if !k.cfg.Lists.Holds(id.String()) {
		r, err := k.Get(ctx, fleet.Key{Kind: fleet.Feed, ID: id})
		if err != nil {
			return err
		}
		a, err := adopted(&r)
		if err != nil {
			return err
		}
		if err := k.cfg.Lists.Adopt(ctx, a); err != nil && !k.cfg.Lists.Holds(a.ID) {
			return err
		}
		k.mu.Lock()
		k.slots[id.Slot()].lists = true
		k.mu.Unlock()
	}
	if !k.cfg.Lists.Wait(ctx, id.String()) {
		return ErrFilling // what is not found yet is not unknown
	}
	return nil
}

// reconcile closes lists whose rows this peer lacks, and notes which slots have some:
// what a crash may have left.
func (k *Keeper) reconcile(ctx context.Context) {
	var gone []string
	open := make(map[fleet.Slot][]fleet.ID)
	for name := range k.cfg.Lists.Adopted() {
		if id, ok := fleet.ParseID(name); ok {
			open[id.Slot()] = append(open[id.Slot()], id)
		} else {
			gone = append(gone, name)
		}
	}
	for at, ids := range open {
		if ctx.Err() != nil {
			return
		}
		rows, err := k.all(at.Records() + string(rune(fleet.Feed))) // at once: a million rows one by one take a minute
		live := make(map[fleet.ID]bool, len(rows))
		for i := range rows {
			live[rows[i].ID] = rows[i].Live()
		}
		some := false
		for _, id := range ids {
			if err == nil && !live[id] {
				gone = append(gone, id.String())
			} else {
				some = true
			}
		}
		k.mu.Lock()
		k.slots[at].lists = k.slots[at].lists || some
		k.mu.Unlock()
	}
	if err := k.cfg.Lists.Forget(ctx, gone...); err != nil && ctx.Err() == nil {
		k.cfg.Log.Debug("fleet: lists without rows are still on disk", "err", err)
	}
}

// openLists opens the feeds of slots that this peer serves.
func (k *Keeper) openLists(ctx context.Context) {
	k.mu.Lock()
	fresh := k.fresh
	k.fresh = nil
	k.mu.Unlock()
	var rows []fleet.Row
	for _, key := range fresh {
		if r, ok, err := k.read(key); err == nil && ok {
			rows = append(rows, r)
		}
	}
	if err := k.open(ctx, rows); err != nil && ctx.Err() == nil {
		k.cfg.Log.Warn("fleet: some personal feeds are not open", "err", err)
	}
	for i := range k.slots {
		at := fleet.Slot(i)
		k.mu.Lock()
		s := &k.slots[i]
		due := !s.open && s.feeds > 0 && k.settled(at) && k.places.Serves(at) == k.cfg.Self
		if due {
			s.open, s.lists, s.idle = true, true, false // before its rows are read: what comes then is seen later
		}
		k.mu.Unlock()
		if !due {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		rows, err := k.all(at.Records() + string(rune(fleet.Feed)))
		if err == nil {
			err = k.open(ctx, rows)
		}
		if err == nil {
			rows, err = k.all(at.Records() + string(rune(fleet.Hook)))
			k.cfg.Hooks.TakeHooks(rows)
		}
		if err != nil && ctx.Err() == nil {
			k.cfg.Log.Warn("fleet: some personal feeds are not open", "err", err)
		}
	}
}

// open opens the feeds of rows. Those of slots that are not served here any more are
// closed again by closeLists.
func (k *Keeper) open(ctx context.Context, rows []fleet.Row) error {
	var open []personal.Adopted
	var wrong []error
	for i := range rows {
		if !rows[i].Live() {
			continue
		}
		a, err := adopted(&rows[i])
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		open = append(open, a)
	}
	if len(open) > 0 {
		wrong = append(wrong, k.cfg.Lists.Adopt(ctx, open...))
	}
	return errors.Join(wrong...)
}

// closeLists closes the feeds of slots that another peer has served for a minute.
func (k *Keeper) closeLists(ctx context.Context) {
	for i := range k.slots {
		at := fleet.Slot(i)
		k.mu.Lock()
		s := &k.slots[i]
		serves := k.places.Serves(at)
		lists := s.lists && serves != k.cfg.Self && serves != ""
		due := lists && s.idle
		s.idle = lists && !due
		if due {
			s.lists = false
		}
		k.mu.Unlock()
		if !due {
			continue
		}
		rows, err := k.all(at.Records() + string(rune(fleet.Feed)))
		var ids []string
		for i := range rows {
			ids = append(ids, rows[i].ID.String())
		}
		if err == nil {
			err = k.cfg.Lists.Forget(ctx, ids...)
		}
		if err != nil && ctx.Err() == nil {
			k.cfg.Log.Debug("fleet: lists of slots of others are still on disk", "err", err)
		}
	}
}
