// Package forks keeps evidence against publishers that signed two histories of one feed, and says what counts of their
// logs: nothing from the fork on, until a later epoch.
package forks

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"log/slog"
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
	Feed feedring.FeedRef
	At   feedring.Position // the first position that does not count
}

// Keeper keeps evidence, one for an epoch of a feed. Its methods may be called concurrently.
type Keeper struct {
	records Records
	log     *slog.Logger
	now     func() time.Time
	changes atomic.Uint64
	some    atomic.Bool
	writing sync.Mutex

	mu   sync.Mutex // of what follows; written under writing only
	logs map[feedring.FeedRef][]kept
	of   map[feedring.PeerID]int
}

type kept struct {
	at      feedring.Position
	group   feedring.GroupID
	since   time.Time
	size    int
	lowered int
}

// Open reads what is on disk.
func Open(ctx context.Context, records Records, log *slog.Logger) (*Keeper, error) {
	k := &Keeper{records: records, log: log, now: time.Now, logs: map[feedring.FeedRef][]kept{}, of: map[feedring.PeerID]int{}}
	var old []string
	for record, err := range records.List(store.BucketFork) {
		if err != nil {
			return nil, err
		}
		fork, since, err := read(record.Value)
		if err != nil || k.now().Sub(since) > keptFor {
			old = append(old, record.Key)
			continue
		}
		k.put(fork.Feed, kept{at: fork.At, group: groupOf(fork), since: since, size: len(record.Value)})
	}
	for _, key := range old {
		if err := records.Delete(ctx, store.BucketFork, key); err != nil {
			return nil, err
		}
	}
	return k, nil
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
	k.drop(ref, f.at.Epoch)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.logs[ref] = append(k.logs[ref], f)
	k.of[ref.Publisher]++
	k.some.Store(true)
	k.changes.Add(1)
}

func (k *Keeper) drop(ref feedring.FeedRef, epoch uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
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

// Known reports whether evidence of a fork there is no news, or one too many.
func (k *Keeper) Known(ref feedring.FeedRef, at feedring.Position) bool {
	f, found, of := k.kept(ref, at.Epoch)
	if !found {
		return of >= MaxOf || k.full(ref.Publisher)
	}
	return f.at.Sequence <= at.Sequence || f.lowered >= maxLowered
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
	if k.Known(fork.Feed, fork.At) {
		return false, nil
	}
	since := k.now()
	value, err := write(fork, since)
	if err != nil {
		return false, err
	}
	if err := k.makeRoom(ctx, len(value)); err != nil {
		return false, err
	}
	if err := k.records.Put(ctx, store.BucketFork, keyOf(fork.Feed, fork.At.Epoch), value); err != nil {
		return false, fmt.Errorf("keeping evidence: %w", err)
	}
	f := kept{at: fork.At, group: groupOf(fork), since: since, size: len(value)}
	if before, found, _ := k.kept(fork.Feed, fork.At.Epoch); found {
		f.lowered = before.lowered + 1
	}
	k.put(fork.Feed, f)
	k.log.Warn("a publisher signed two histories of a feed: what comes after they part is not shown",
		"feed", fork.Feed.URL, "publisher", fork.Feed.Publisher, "epoch", fork.At.Epoch, "sequence", fork.At.Sequence)
	return true, nil
}

// makeRoom forgets what is old, and of too much what came first, of the publisher with most.
func (k *Keeper) makeRoom(ctx context.Context, size int) error {
	for {
		ref, epoch, ok := k.surplus(size)
		if !ok {
			return nil
		}
		if err := k.records.Delete(ctx, store.BucketFork, keyOf(ref, epoch)); err != nil {
			return err
		}
		k.drop(ref, epoch)
	}
}

func (k *Keeper) surplus(size int) (of feedring.FeedRef, epoch uint64, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	most, count := 0, 0
	var first kept
	for ref, all := range k.logs {
		for _, f := range all {
			if k.now().Sub(f.since) > keptFor {
				return ref, f.at.Epoch, true
			}
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
	k.mu.Lock()
	defer k.mu.Unlock()
	for ref, of := range k.logs {
		last := Fork{Feed: ref}
		for _, f := range of {
			if f.group == g && f.at.Compare(last.At) > 0 {
				last.At = f.at
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
func (k *Keeper) Changes() uint64 { return k.changes.Load() }

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

// End is how far a log counts for who holds it through a position.
func (k *Keeper) End(ref feedring.FeedRef, held feedring.Position) feedring.Position {
	if f, found, _ := k.kept(ref, held.Epoch); found && f.at.Sequence <= held.Sequence {
		return feedring.Position{Epoch: held.Epoch, Sequence: f.at.Sequence - 1}
	}
	return held
}
