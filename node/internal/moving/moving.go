// Package moving takes a peer's own history along to another network. What is made lies beside
// the rest of a data directory until it is whole, so that a crash at any point loses nothing.
package moving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/replicate"
	"github.com/feedring/feedring/node/internal/sealed"
)

// What a move leaves in the data directory.
const (
	movingDir = "moving" // what the directory is to become; with movedFile in it, it is whole
	formerDir = "former" // what it was: its owner removes it
	movedFile = "whole"
	storeDir  = "store"
)

// movedParts are what takes the place of what is there. Resume cursors of followers are of
// the old network: nothing takes their place.
var movedParts = []string{storeDir, "network", "follow"}

// ErrFormer is for a data directory that still has what an earlier move left.
var ErrFormer = errors.New("what an earlier move left is still there")

// Moved says what a move took along.
type Moved struct {
	Network string `json:"network"`
	Feeds   int    `json:"feeds"`
	Entries int    `json:"entries"`
	Former  string `json:"former"` // the directory of what was left
	// Roots are the files there that hold root keys of the former network.
	Roots []string `json:"roots,omitempty"`
}

// Move seals the history of a stopped peer anew for the network of a code or a charter
// (code empty), in a new epoch. Ids stay. Until all is on disk beside it the directory stays as
// it is; afterwards what others published, and what else belongs to the old network, is in the
// folder "former". store.ErrLocked while the peer runs, starts, or is moved.
func Move(ctx context.Context, data string, to *charter.Charter, code string) (moved Moved, err error) {
	unlock, err := Lock(data)
	if err != nil {
		return moved, err
	}
	defer unlock()
	if err := Finish(data); err != nil {
		return moved, err
	}
	moved.Network, moved.Former = to.Network(), filepath.Join(data, formerDir)
	switch is, err := membership.NetworkOf(data); {
	case err != nil:
		return moved, err
	case is == moved.Network:
		return moved, &membership.OtherError{Data: data, Network: is}
	}
	if _, err := os.Lstat(moved.Former); !errors.Is(err, fs.ErrNotExist) {
		return moved, errors.Join(ErrFormer, err)
	}
	if _, err := os.Stat(filepath.Join(data, storeDir)); err != nil {
		return moved, err
	}
	old, err := store.Open(filepath.Join(data, storeDir), store.Options{})
	if err != nil {
		return moved, err
	}
	defer old.Close()
	beside := filepath.Join(data, movingDir)
	if err := errors.Join(os.RemoveAll(beside), os.MkdirAll(beside, 0o700)); err != nil {
		return moved, err
	}
	if err := moved.prepare(ctx, old, data, beside, to, code); err != nil {
		return moved, err
	}
	if err := errors.Join(writeSynced(filepath.Join(beside, movedFile), nil), syncDir(beside), syncDir(data)); err != nil {
		return moved, err
	}
	if err := old.Close(); err != nil {
		return moved, err
	}
	if err := Finish(data); err != nil {
		return moved, err
	}
	moved.Roots = membership.RootKeys(moved.Former)
	return moved, nil
}

// Lock has no other process start a peer in a data directory, move it or finish a move, until unlock is
// called: the lock of a store moves with its directory. It fails with store.ErrLocked while another
// one does. Who opens a directory that cannot be locked says why.
func Lock(data string) (unlock func(), err error) {
	switch unlock, err = store.Lock(data); {
	case errors.Is(err, store.ErrLocked):
		return nil, fmt.Errorf("opening %s: %w", data, err)
	case err != nil:
		return func() {}, nil
	}
	return unlock, nil
}

// prepare makes all that takes the place of what is there.
func (m *Moved) prepare(ctx context.Context, old *store.Store, data, beside string, to *charter.Charter, code string) error {
	key, err := os.ReadFile(filepath.Join(data, identity.File))
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(beside, identity.File), key); err != nil { // of who redeems the code
		return err
	}
	if code != "" {
		_, err = membership.Join(ctx, beside, code)
	} else {
		err = membership.Adopt(beside, to)
	}
	if err != nil {
		return err
	}
	private, err := identity.Load(data)
	if err != nil {
		return err
	}
	sealer, err := wire.NewSealer(private, m.Network)
	if err != nil {
		return err
	}
	next, err := store.Open(filepath.Join(beside, storeDir), store.Options{})
	if err != nil {
		return err
	}
	defer next.Close()
	r := resealer{old: old, next: next, sealer: sealer, epoch: uint64(time.Now().Unix())}
	for _, h := range old.Heads() {
		if h.Ref.Publisher == sealer.ID() {
			r.epoch = max(r.epoch, h.Last.Epoch+1)
		}
	}
	for _, h := range old.Heads() {
		if h.Ref.Publisher != sealer.ID() {
			continue
		}
		n, err := r.feed(ctx, h.Ref)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Ref.URL, err)
		}
		m.Feeds, m.Entries = m.Feeds+1, m.Entries+n
	}
	if err := copyRecords(ctx, old, next); err != nil {
		return err
	}
	return next.Close()
}

// keptRecord is a small record as it goes along; nil: it does not, because it is of terms,
// other peers or copies of theirs. Lists of personal feeds refer to what is left behind: they
// begin anew, under the addresses that they had.
func keptRecord(b store.Bucket, key string, value []byte) ([]byte, error) {
	switch b {
	case store.BucketPeer:
		if key == contacts.KnownRecord || key == contacts.JoinRecord || key == replicate.QuotaRecord {
			return nil, nil
		}
	case store.BucketSubscription:
		if strings.HasPrefix(key, rows.Subscriptions) {
			return value, nil
		}
		if !strings.HasPrefix(key, rows.Interests) {
			return nil, nil
		}
		var row rows.InterestRow
		if json.Unmarshal(value, &row) != nil {
			return nil, nil // a start passes over it, too
		}
		row.Items, row.Filled, row.Attempts, row.Through = nil, 0, 0, 0
		return json.Marshal(row)
	}
	return value, nil
}

func copyRecords(ctx context.Context, old, next *store.Store) error {
	for _, b := range []store.Bucket{store.BucketFeed, store.BucketHub, store.BucketPeer, store.BucketSubscription, store.BucketFleet} {
		for record, err := range old.List(b) {
			if err != nil {
				return err
			}
			value, err := keptRecord(b, record.Key, record.Value)
			if err == nil && value != nil {
				err = next.Put(ctx, b, record.Key, value)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// resealer seals the logs of a peer's own feeds anew.
type resealer struct {
	old, next *store.Store
	sealer    *wire.Sealer
	epoch     uint64
}

// feed seals one log, from its first entry on, without what is damaged. What was taken back
// stays so: a retraction keeps the publisher from publishing the entry again.
func (r *resealer) feed(ctx context.Context, ref feedring.FeedRef) (entries int, err error) {
	at, previous := feedring.Position{Epoch: r.epoch, Sequence: 1}, [32]byte{}
	var add []store.Item                                 // waiting for one sync
	taken := make(map[feedring.EntryID][]feedring.Taken) // places of retracted versions, in the new log
	for after := (feedring.Position{}); ; {
		items, err := r.old.Scan(ctx, ref, after, 0, 0)
		if err != nil {
			return entries, err
		}
		if len(items) == 0 {
			hole, holed := r.old.NextHole(ref, after)
			if !holed {
				return entries, r.next.Append(ctx, add)
			}
			after = hole
			continue
		}
		for i := range items {
			it := &items[i]
			after = it.Position
			if it.Tombstone {
				taken[it.ID] = append(taken[it.ID], feedring.Taken{Position: at, Hash: it.Hash, Seen: it.Seen})
				previous = it.Hash
				at.Sequence++
				continue
			}
			e, _, err := wire.DecodeEntry(sealed.Seal(it))
			if err != nil {
				return entries, err
			}
			if e.Retracted && len(taken[it.ID]) == 0 {
				continue // it took back what left the log long ago
			}
			e.Position, e.Takes = at, nil
			if e.Retracted {
				e.Takes = taken[it.ID]
				delete(taken, it.ID)
			}
			payload, err := wire.EncodeEntry(e, previous)
			if err != nil {
				return entries, err
			}
			seal := r.sealer.Seal(wire.KindEntry, payload)
			again := sealed.Item(seal, e)
			again.Provider, again.Private = it.Provider, it.Private
			add = append(add, again)
			for _, t := range e.Takes {
				stands := sealed.Tombstone(seal, e, t)
				stands.Private = it.Private
				add = append(add, stands)
			}
			previous = again.Hash
			at.Sequence++
			entries++
		}
		if err := r.next.Append(ctx, add); err != nil {
			return entries, err
		}
		add = add[:0]
	}
}

// Finish puts what a move made whole in its place, however far that came before a crash.
// What is not whole is of no use, and nothing was changed for it. The caller holds the Lock of
// the directory.
func Finish(data string) error {
	beside, former := filepath.Join(data, movingDir), filepath.Join(data, formerDir)
	if _, err := os.Stat(filepath.Join(beside, movedFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // who opens the directory says what it is
			return nil
		}
		return err
	}
	if err := os.MkdirAll(former, 0o700); err != nil {
		return err
	}
	for _, part := range movedParts {
		is, was, next := filepath.Join(data, part), filepath.Join(former, part), filepath.Join(beside, part)
		if !exists(was) && exists(is) && (exists(next) || part == "follow") {
			if err := os.Rename(is, was); err != nil {
				return err
			}
		}
		if exists(next) {
			if err := os.Rename(next, is); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(syncDir(former), syncDir(data)); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(beside), syncDir(data))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir puts what a directory lists on disk, where the system can.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync() // not everywhere
	return f.Close()
}
