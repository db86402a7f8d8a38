// Package forks keeps evidence against publishers that signed two histories of one feed, and says what counts of their
// logs: nothing from the fork on, until a later epoch.
package forks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	// MaxOf is how many forks of one log are kept. Of one that was forked as often nothing counts any more: a
	// disk that was restored forks each log of its publisher once.
	MaxOf = 16

	maxOfKey   = 256      // of one publisher; of more nothing is noted
	maxLowered = 16       // times that evidence of one epoch is replaced by some of an earlier position
	maxAll     = 1024     // of all publishers
	maxBytes   = 64 << 20 // of all evidence
	keptFor    = 30 * 24 * time.Hour
	maxAhead   = 24 * time.Hour // no log takes what is dated later
)

// Records are small records on disk.
type Records interface {
	List(b store.Bucket) iter.Seq2[store.Record, error]
	Value(b store.Bucket, key string) ([]byte, error)
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
	Delete(ctx context.Context, b store.Bucket, key string) error
	Head(feedring.FeedRef) (store.Head, bool)
}

// Fork is where a log ends.
type Fork struct {
	Feed  feedring.FeedRef
	At    feedring.Position // the first position that does not count
	Until time.Time         // when the evidence is too old
}

// Keeper keeps evidence, one for an epoch of a feed. Evidence counts for 30 days from the date of its entries, so that
// whoever has it cannot lengthen that by sending it again. Its methods may be called concurrently.
type Keeper struct {
	records Records
	log     *slog.Logger
	now     func() time.Time
	changes atomic.Uint64
	some    atomic.Bool
	ends    atomic.Int64 // Unix nanoseconds before which no evidence is too old
	writing sync.Mutex   // of records on disk

	mu   sync.Mutex // of what follows
	logs map[feedring.FeedRef][]kept
	of   map[feedring.PeerID]int
	gone map[string]bool // keys of records that are too old and still on disk
}

type kept struct {
	at      feedring.Position
	group   feedring.GroupID
	since   time.Time // the latest date of evidence for this epoch
	size    int
	lowered int
}

func (f *kept) until() time.Time { return f.since.Add(keptFor) }

// Open reads what is on disk.
func Open(ctx context.Context, records Records, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{
		records: records, log: log, now: time.Now,
		logs: map[feedring.FeedRef][]kept{}, of: map[feedring.PeerID]int{}, gone: map[string]bool{},
	}
	k.ends.Store(math.MaxInt64)
	now := k.now()
	for record, err := range records.List(store.BucketFork) {
		if err != nil {
			return nil, err
		}
		fork, since, err := read(record.Value)
		if f := (kept{at: fork.At, group: groupOf(fork), since: since, size: len(record.Value)}); err == nil && now.Before(f.until()) {
			k.put(fork.Feed, f)
		} else {
			k.gone[record.Key] = true
		}
	}
	return k, k.erase(ctx)
}

// counts reports whether evidence is neither too old nor of a future that no log takes.
func (k *Keeper) counts(fork feedring.Fork) bool {
	now := k.now()
	return now.Sub(fork.Seen) < keptFor && fork.Seen.Sub(now) <= maxAhead
}

// expire drops evidence that is too old. Its records are erased later.
func (k *Keeper) expire() {
	now := k.now()
	if now.UnixNano() < k.ends.Load() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	ends := int64(math.MaxInt64)
	for ref, all := range k.logs {
		for _, f := range slices.Clone(all) {
			if now.Before(f.until()) {
				ends = min(ends, f.until().UnixNano())
				continue
			}
			k.gone[keyOf(ref, f.at.Epoch)] = true
			k.dropLocked(ref, f.at.Epoch)
		}
	}
	k.ends.Store(ends)
	k.some.Store(len(k.logs) > 0)
}

// erase deletes the records that are too old. The caller holds writing, or is alone.
func (k *Keeper) erase(ctx context.Context) error {
	k.mu.Lock()
	old := slices.Collect(maps.Keys(k.gone))
	k.mu.Unlock()
	for _, key := range old {
		if err := k.records.Delete(ctx, store.BucketFork, key); err != nil {
			return err
		}
		k.mu.Lock()
		delete(k.gone, key)
		k.mu.Unlock()
	}
	return nil
}

func keyOf(ref feedring.FeedRef, epoch uint64) string {
	return fmt.Sprintf("%s %d %s", ref.Publisher, epoch, ref.URL)
}

func read(value []byte) (fork feedring.Fork, since time.Time, err error) {
	if len(value) < 8 {
		return fork, since, store.ErrCorrupt
	}
	var p feedringv1.Evidence
	if err := wire.Unmarshal(value[8:], &p); err != nil {
		return fork, since, err
	}
	if len(p.GetEntries()) != 2 {
		return fork, since, store.ErrCorrupt
	}
	fork, err = wire.ForkOf(wire.SealFrom(p.GetEntries()[0]), wire.SealFrom(p.GetEntries()[1]))
	return fork, time.UnixMilli(int64(binary.BigEndian.Uint64(value))), err
}

func write(fork feedring.Fork, since time.Time) ([]byte, error) {
	p := &feedringv1.Evidence{Entries: []*feedringv1.Sealed{wire.SealTo(fork.Entries[0]), wire.SealTo(fork.Entries[1])}}
	return proto.MarshalOptions{}.MarshalAppend(binary.BigEndian.AppendUint64(nil, uint64(since.UnixMilli())), p)
}

// groupOf is whose members are told of a fork.
func groupOf(fork feedring.Fork) (g feedring.GroupID) {
	if e, _, err := wire.DecodeEntry(fork.Entries[0]); err == nil {
		g = e.Theme.Group()
	}
	return g
}

// find returns the index of what is kept of an epoch; -1: nothing.
func find(of []kept, epoch uint64) int {
	return slices.IndexFunc(of, func(f kept) bool { return f.at.Epoch == epoch })
}

func (k *Keeper) put(ref feedring.FeedRef, f kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropLocked(ref, f.at.Epoch)
	k.logs[ref] = append(k.logs[ref], f)
	k.ends.Store(min(k.ends.Load(), f.until().UnixNano()))
	k.of[ref.Publisher]++
	k.some.Store(true)
	k.changes.Add(1)
}

func (k *Keeper) dropLocked(ref feedring.FeedRef, epoch uint64) {
	i := find(k.logs[ref], epoch)
	if i < 0 {
		return
	}
	if k.logs[ref] = slices.Delete(k.logs[ref], i, i+1); len(k.logs[ref]) == 0 {
		delete(k.logs, ref)
	}
	if k.of[ref.Publisher]--; k.of[ref.Publisher] == 0 {
		delete(k.of, ref.Publisher)
	}
	k.changes.Add(1)
}

// kept returns what is kept of an epoch of a feed, and how many forks of that feed.
func (k *Keeper) kept(ref feedring.FeedRef, epoch uint64) (f kept, found bool, of int) {
	if !k.some.Load() {
		return f, false, 0
	}
	k.expire()
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := find(k.logs[ref], epoch); i >= 0 {
		return k.logs[ref][i], true, len(k.logs[ref])
	}
	return f, false, len(k.logs[ref])
}

// full reports whether no more forks of a publisher are noted.
func (k *Keeper) full(publisher feedring.PeerID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[publisher] >= maxOfKey
}

// Known reports whether evidence is no news, too old, of the future, or one too many.
func (k *Keeper) Known(fork feedring.Fork) bool {
	f, found, of := k.kept(fork.Feed, fork.At.Epoch)
	switch {
	case !k.counts(fork):
		return true
	case !found:
		return of >= MaxOf || k.full(fork.Feed.Publisher)
	}
	return f.at.Sequence <= fork.At.Sequence || f.lowered >= maxLowered
}

// Held reports whether something of a feed is stored.
func (k *Keeper) Held(ref feedring.FeedRef) bool {
	_, held := k.records.Head(ref)
	return held
}

// Add keeps evidence, on disk first, and reports whether it was news. The signatures were checked.
func (k *Keeper) Add(ctx context.Context, fork feedring.Fork) (news bool, err error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	if k.Known(fork) {
		return false, nil
	}
	f := kept{at: fork.At, group: groupOf(fork), since: fork.Seen}
	if before, found, _ := k.kept(fork.Feed, fork.At.Epoch); found {
		f.lowered = before.lowered + 1
		if before.since.After(f.since) {
			f.since = before.since // what is replaced proved that much
		}
	}
	value, err := write(fork, f.since)
	if err != nil {
		return false, err
	}
	f.size = len(value)
	if err := errors.Join(k.erase(ctx), k.makeRoom(ctx, len(value))); err != nil {
		return false, err
	}
	if err := k.records.Put(ctx, store.BucketFork, keyOf(fork.Feed, fork.At.Epoch), value); err != nil {
		return false, fmt.Errorf("keeping evidence: %w", err)
	}
	k.put(fork.Feed, f)
	k.log.Warn("a publisher signed two histories of a feed: what comes after they part is not shown",
		"feed", fork.Feed.URL, "publisher", fork.Feed.Publisher, "epoch", fork.At.Epoch, "sequence", fork.At.Sequence)
	return true, nil
}

// makeRoom forgets what is oldest of too much, of the publisher with most.
func (k *Keeper) makeRoom(ctx context.Context, size int) error {
	for {
		ref, epoch, ok := k.surplus(size)
		if !ok {
			return nil
		}
		if err := k.records.Delete(ctx, store.BucketFork, keyOf(ref, epoch)); err != nil {
			return err
		}
		k.mu.Lock()
		k.dropLocked(ref, epoch)
		k.mu.Unlock()
	}
}

func (k *Keeper) surplus(size int) (of feedring.FeedRef, epoch uint64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	most, count := 0, 0
	var first kept
	for ref, all := range k.logs {
		for _, f := range all {
			count, size = count+1, size+f.size
			if n := k.of[ref.Publisher]; n > most || n == most && f.since.Before(first.since) {
				most, of, first = n, ref, f
			}
		}
	}
	return of, first.at.Epoch, count >= maxAll || count > 0 && size > maxBytes
}

// Evidence returns what is kept of an epoch.
func (k *Keeper) Evidence(ref feedring.FeedRef, epoch uint64) (feedring.Fork, bool) {
	value, err := k.records.Value(store.BucketFork, keyOf(ref, epoch))
	if err != nil {
		return feedring.Fork{}, false
	}
	fork, _, err := read(value)
	return fork, err == nil
}

// In lists the latest fork of each log of a group.
func (k *Keeper) In(g feedring.GroupID) (all []Fork) {
	k.expire()
	k.mu.Lock()
	defer k.mu.Unlock()
	for ref, of := range k.logs {
		last := Fork{Feed: ref}
		for _, f := range of {
			if f.group == g && f.at.Compare(last.At) > 0 {
				last.At, last.Until = f.at, f.until()
			}
		}
		if !last.At.IsZero() {
			all = append(all, last)
		}
	}
	return all
}

// Any reports whether anything is hidden.
func (k *Keeper) Any() bool { return k.some.Load() }

// Changes is another number whenever something else is hidden.
func (k *Keeper) Changes() uint64 {
	k.expire()
	return k.changes.Load()
}

// At returns where the log of a feed ends in an epoch. False: it does not.
func (k *Keeper) At(ref feedring.FeedRef, epoch uint64) (Fork, bool) {
	f, found, _ := k.kept(ref, epoch)
	return Fork{Feed: ref, At: f.at, Until: f.until()}, found
}

// Bars reports whether nothing of a feed counts.
func (k *Keeper) Bars(ref feedring.FeedRef) bool {
	_, _, of := k.kept(ref, 0)
	return of >= MaxOf
}

// Hides reports whether what stands at a position of a log does not count.
func (k *Keeper) Hides(ref feedring.FeedRef, at feedring.Position) bool {
	f, found, of := k.kept(ref, at.Epoch)
	return found && f.at.Sequence <= at.Sequence || of >= MaxOf
}

// Of lists where the log of a feed ends in its epochs.
func (k *Keeper) Of(ref feedring.FeedRef) (all []feedring.Position) {
	k.expire()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.logs[ref] {
		all = append(all, f.at)
	}
	return all
}

// End is how far a log counts for who holds it through a position.
func (k *Keeper) End(ref feedring.FeedRef, held feedring.Position) feedring.Position {
	if f, found, _ := k.kept(ref, held.Epoch); found && f.at.Sequence <= held.Sequence {
		return feedring.Position{Epoch: held.Epoch, Sequence: f.at.Sequence - 1}
	}
	return held
}
