package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
)

// count adds a row to what is known of its slot, or takes it away. The caller holds mu,
// or nobody else has the Keeper.
func (k *Keeper) count(r *fleet.Row, by int) {
	s := &k.slots[r.ID.Slot()]
	s.sum.Toggle(r.Digest())
	if !r.Live() {
		s.tombstones += by
		return
	}
	s.live += by
	switch r.Kind {
	case fleet.User:
		s.users += by
	case fleet.Feed:
		s.feeds += by
		if v, err := fleet.FeedOf(r); err == nil && v.User == "" {
			s.owners += by
		}
	}
}

// Lists reports whether the owner of the fleet may be listed rows of a kind of a slot: of
// feeds those of no user. It reads none.
func (k *Keeper) Lists(at fleet.Slot, kind fleet.Kind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.slots[at]
	if !k.settled(at) {
		return true // some may come
	}
	switch kind {
	case fleet.Feed:
		return s.owners > 0
	case fleet.User:
		return s.users > 0
	}
	return s.live > s.users+s.feeds
}

// read returns a row, also one that was deleted. One that cannot be read is not there.
func (k *Keeper) read(key fleet.Key) (r fleet.Row, ok bool, err error) {
	value, err := k.cfg.Store.Value(store.BucketFleet, key.Record())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return r, false, nil
	case err != nil:
		return r, false, err
	}
	r, err = fleet.Decode(value)
	return r, err == nil && r.Key == key, nil
}

// all returns the rows of a slot whose keys begin with something, also deleted ones.
func (k *Keeper) all(prefix string) (rows []fleet.Row, err error) {
	for record, err := range k.cfg.Store.ListPrefix(store.BucketFleet, prefix) {
		if err != nil {
			return nil, err
		}
		if r, err := fleet.Decode(record.Value); err == nil && r.Key.Record() == record.Key {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// Get returns a row that was not deleted. Where this peer has just come to hold it, it
// asks the others first, and for a row that it lacks the other holder. It fails with ErrUnknown, ErrUnsure, or as the store does.
func (k *Keeper) Get(ctx context.Context, key fleet.Key) (fleet.Row, error) {
	k.settle(ctx, key.ID.Slot())
	nowhere := true
	r, ok, err := k.read(key)
	if err == nil && !ok {
		// It may have been stopped for a while, or a row may be under way.
		nowhere = k.find(ctx, key)
		r, ok, err = k.read(key)
	}
	switch {
	case err != nil:
		return r, err
	case ok && r.Live():
		return r, nil
	case !ok && !nowhere:
		return r, ErrUnsure
	}
	return fleet.Row{}, ErrUnknown
}

// Rows returns the rows of a kind in a slot that were not deleted, as Get does. With an
// *UnsureError come those that are here.
func (k *Keeper) Rows(ctx context.Context, at fleet.Slot, kind fleet.Kind) (rows []fleet.Row, err error) {
	sure := k.settle(ctx, at)
	all, err := k.all(at.Records() + string(rune(kind)))
	for _, r := range all {
		if r.Live() {
			rows = append(rows, r)
		}
	}
	if err == nil && !sure {
		err = k.unsure()
	}
	return rows, err
}

// unsure names the members that did not answer.
func (k *Keeper) unsure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := new(UnsureError)
	for peer, m := range k.members {
		if m.silent {
			e.Silent = append(e.Silent, peer)
		}
	}
	if len(e.Silent) == 0 { // it answered meanwhile
		return ErrUnsure
	}
	return e
}

// write writes rows of one slot that supersede what is there; a row of version 0 is one
// that ends. The caller holds the slot's changing, and old are the rows as they are.
func (k *Keeper) write(ctx context.Context, at fleet.Slot, old, rows []fleet.Row) error {
	changes := make([]store.Change, len(rows))
	for i := range rows {
		changes[i].Key = rows[i].Key.Record()
		if rows[i].Version > 0 {
			changes[i].Value = rows[i].Encode()
		}
	}
	err := k.cfg.Store.Write(ctx, store.BucketFleet, changes)
	if err != nil { // some may be on disk
		all, readErr := k.all(at.Records())
		if readErr != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		s := &k.slots[at]
		s.sum, s.users, s.feeds, s.owners, s.live, s.tombstones, s.agreed = fleet.Sum{}, 0, 0, 0, 0, 0, false
		for i := range all {
			k.count(&all[i], 1)
		}
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range old {
		k.count(&old[i], -1)
	}
	for i := range rows {
		if rows[i].Version > 0 {
			k.count(&rows[i], 1)
		}
	}
	return nil
}

// merge takes rows of other peers in. It returns those that it has and that supersede
// the given ones, and fails as the store does: then some may be taken in.
func (k *Keeper) merge(ctx context.Context, rows []fleet.Row) (newer []fleet.Row, err error) {
	bySlot := make(map[fleet.Slot][]fleet.Row)
	for _, r := range rows {
		bySlot[r.ID.Slot()] = append(bySlot[r.ID.Slot()], r)
	}
	for at, rows := range bySlot {
		better, err := k.mergeSlot(ctx, at, rows)
		newer = append(newer, better...)
		if err != nil {
			return newer, err
		}
	}
	return newer, nil
}

func (k *Keeper) mergeSlot(ctx context.Context, at fleet.Slot, rows []fleet.Row) (newer []fleet.Row, err error) {
	s, today := &k.slots[at], dayOf(time.Now())
	s.changing.Lock()
	defer s.changing.Unlock()
	stays := make(map[fleet.Key]fleet.Row)
	var order []fleet.Key
	for _, r := range rows {
		if had, twice := stays[r.Key]; !twice {
			order = append(order, r.Key)
			stays[r.Key] = r
		} else if r.Supersedes(&had) {
			stays[r.Key] = r
		}
	}
	var old, write []fleet.Row
	for _, key := range order {
		r := stays[key]
		is, ok, err := k.read(key)
		switch {
		case err != nil:
			return newer, err
		case ok && is.Supersedes(&r):
			newer = append(newer, is)
		case ok && r.Supersedes(&is):
			old, write = append(old, is), append(write, r)
		case !ok && !r.Expired(today):
			write = append(write, r)
		}
	}
	if len(write) == 0 {
		return newer, nil
	}
	if err := k.write(ctx, at, old, write); err != nil {
		return newer, err
	}
	k.follow(ctx, write)
	return newer, nil
}

// follow has lists follow rows that changed.
func (k *Keeper) follow(ctx context.Context, rows []fleet.Row) {
	var gone []string
	defer k.cfg.Hooks.TakeHooks(rows) // after lists closed
	for i := range rows {
		r := &rows[i]
		if r.Kind != fleet.Feed {
			continue
		}
		if !r.Live() {
			gone = append(gone, r.ID.String())
			continue
		}
		k.mu.Lock()
		if s := &k.slots[r.ID.Slot()]; s.open && len(k.fresh) < maxFresh {
			k.fresh = append(k.fresh, r.Key)
		} else {
			s.open = false // all its feeds are opened again: those that are stay as they are
		}
		k.mu.Unlock()
		signal(k.opening)
	}
	if len(gone) == 0 {
		return
	}
	if err := k.cfg.Lists.Forget(ctx, gone...); err != nil {
		k.cfg.Log.Debug("fleet: lists of feeds that were revoked are still on disk", "err", err)
	}
}

// Change makes the next version of a row that this peer serves, and returns when it is
// on disk here and at the other holder; here alone if that one is away or does not
// answer in two seconds. change is told the row as it is and whether it is there, and
// says what its value becomes; nil: the row is deleted. It may be called again if the
// other holder had a newer version, or a row that is not here. It fails with its own error;
// with ErrUnsure in place of that where the row is not here and may be at another peer; with
// ErrNobody, an *ElsewhereError, fleet.ErrLarge, or as the store's Write does.
func (k *Keeper) Change(ctx context.Context, key fleet.Key, change func(old fleet.Row, is bool) (value []byte, err error)) (fleet.Row, error) {
	const tries = 4
	asked, nowhere := false, false
	for try := 1; ; try++ {
		r, did, err := k.changeHere(ctx, key, change)
		if did == foundNone && !asked {
			asked, nowhere = true, k.find(ctx, key)
			continue
		}
		if did == foundNone && !nowhere {
			return r, ErrUnsure
		}
		if err != nil || did != changed {
			return r, err
		}
		newer, err := k.giveOther(ctx, &r)
		if err != nil {
			k.cfg.Log.Debug("fleet: a row is here alone until peers compare what they have", "err", err)
			return r, nil
		}
		if newer == nil || try == tries {
			return r, nil
		}
		// A later change of this peer may have overtaken this one: it was made of it.
		if is, ok, err := k.read(key); err != nil || ok && !newer.Supersedes(&is) {
			return r, err
		}
		if _, err := k.merge(ctx, []fleet.Row{*newer}); err != nil {
			return r, err
		}
	}
}

// done is what became of a change.
type done int

const (
	nothing   done = iota // the row is as it was
	changed               // it is another
	foundNone             // there is none here, and none was made
)

func (k *Keeper) changeHere(ctx context.Context, key fleet.Key, change func(old fleet.Row, is bool) ([]byte, error)) (r fleet.Row, did done, err error) {
	at := key.ID.Slot()
	switch serves := k.Places().Serves(at); serves {
	case k.cfg.Self:
	case "":
		return r, nothing, ErrNobody
	default:
		return r, nothing, &ElsewhereError{serves}
	}
	k.settle(ctx, at)
	s := &k.slots[at]
	s.changing.Lock()
	defer s.changing.Unlock()
	old, ok, err := k.read(key)
	if err != nil {
		return r, nothing, err
	}
	is := ok && old.Live()
	value, err := change(old, is)
	if err != nil || len(value) == 0 && !is {
		if !ok {
			return old, foundNone, err
		}
		return old, nothing, err
	}
	r = fleet.Row{Key: key, Version: old.Version + 1, Value: value}
	if len(value) == 0 {
		r.Value, r.Deleted = nil, time.Now().UTC().Truncate(time.Second)
	}
	if err := r.Valid(); err != nil {
		return r, nothing, err
	}
	var before []fleet.Row
	if ok {
		before = append(before, old)
	}
	if err := k.write(ctx, at, before, []fleet.Row{r}); err != nil {
		return r, nothing, err
	}
	k.follow(ctx, []fleet.Row{r})
	return r, changed, nil
}

// giveOther gives a row to the other holder. It returns the row that the other one has
// if that supersedes it.
func (k *Keeper) giveOther(ctx context.Context, r *fleet.Row) (newer *fleet.Row, err error) {
	at := r.ID.Slot()
	k.mu.Lock()
	other := k.otherOf(k.places, at)
	present := k.places.Present(other)
	k.mu.Unlock()
	err = errAway
	if present {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.patience)
		defer cancel()
		var rows []fleet.Row
		if rows, err = k.give(within, other, []fleet.Row{*r}); err == nil {
			for i := range rows {
				if rows[i].Key == r.Key && rows[i].Supersedes(r) {
					return &rows[i], nil
				}
			}
			k.mu.Lock()
			delete(k.alone, r.Key)
			k.mu.Unlock()
			return nil, nil
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.alone) < maxAlone {
		k.alone[r.Key] = true
	} else {
		k.slots[at].agreed = false
	}
	return nil, err
}

// maxFresh bounds the feeds that are opened one by one.
const maxFresh = 1 << 12

// maxAlone bounds the rows that are known to be here alone one by one. With more, all
// rows of their slots count.
const maxAlone = 1 << 14

var errAway = errors.New("the other holder is away")

// dayOf is when the day began. Tombstones end by it, so that two peers end them in the
// same minute.
func dayOf(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// sweep ends tombstones, once a day.
func (k *Keeper) sweep(ctx context.Context, now time.Time) {
	today := dayOf(now)
	if k.swept.Equal(today) {
		return
	}
	k.swept = today
	for i := range k.slots {
		k.mu.Lock()
		some := k.slots[i].tombstones > 0
		k.mu.Unlock()
		if !some {
			continue
		}
		if err := k.sweepSlot(ctx, fleet.Slot(i), today); err != nil {
			k.cfg.Log.Debug("fleet: tombstones are kept for another day", "err", err)
			return
		}
	}
}

func (k *Keeper) sweepSlot(ctx context.Context, at fleet.Slot, now time.Time) error {
	s := &k.slots[at]
	s.changing.Lock()
	defer s.changing.Unlock()
	all, err := k.all(at.Records())
	if err != nil {
		return err
	}
	var old, end []fleet.Row
	for _, r := range all {
		if r.Expired(now) {
			old, end = append(old, r), append(end, fleet.Row{Key: r.Key})
		}
	}
	if len(end) == 0 {
		return nil
	}
	return k.write(ctx, at, old, end)
}
