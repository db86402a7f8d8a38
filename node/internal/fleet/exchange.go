package fleet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
)

// ask sends a body to another member and returns what it answers. The answer begins
// within the Keeper's patience and ends within a minute.
func (k *Keeper) ask(ctx context.Context, to feedring.PeerID, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	late := time.AfterFunc(k.patience, cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := k.cfg.Link.RoundTrip(to, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	late.Stop()
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusInsufficientStorage:
		return nil, fmt.Errorf("%s: %w: %s", to, errNoRoom, strings.TrimSpace(string(read[:min(len(read), 200)])))
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d to %s: %s", to, answer.StatusCode, path, strings.TrimSpace(string(read[:min(len(read), 200)])))
	case len(read) > maxAnswer:
		return nil, fmt.Errorf("%s answers more than %d bytes to %s", to, maxAnswer, path)
	}
	return read, nil
}

// errNoRoom: the other holder has no room for what it is given. It has answered, so it is not
// silent: what it had more is here.
var errNoRoom = errors.New("it has no room for rows")

// give gives rows to another member, which are at least as new there when it returns
// nil. It returns those that are newer there.
func (k *Keeper) give(ctx context.Context, to feedring.PeerID, rows []fleet.Row) (newer []fleet.Row, err error) {
	for len(rows) > 0 {
		var body []byte
		n := 0
		for n < len(rows) && len(body) < maxBody-fleet.MaxRow-2 {
			body = appendRow(body, &rows[n])
			n++
		}
		answer, err := k.ask(ctx, to, pathRows, body)
		if err != nil {
			return newer, err
		}
		some, err := readRows(answer)
		if err != nil {
			return newer, err
		}
		newer, rows = append(newer, some...), rows[n:]
	}
	return newer, nil
}

// compared is what was found of a slot: the other member has all rows that this peer
// had when they added up to sum.
type compared struct {
	sum   fleet.Sum
	holds bool // the other says that it is a holder
}

// compare has this peer and another one have the same rows of slots, of which it is
// told what the other must tell. Rows of slots that the other is no holder of are only
// fetched. It returns the slots of which the other now has all.
func (k *Keeper) compare(ctx context.Context, with feedring.PeerID, flags map[fleet.Slot]byte) (have map[fleet.Slot]compared, err error) {
	have = make(map[fleet.Slot]compared, len(flags))
	var body []byte
	k.mu.Lock()
	for at, f := range flags {
		s := slotSum{at: at, flags: f, sum: k.slots[at].sum}
		have[at] = compared{sum: s.sum}
		body = s.append(body)
	}
	k.mu.Unlock()
	answer, err := k.ask(ctx, with, pathSums, body)
	if err != nil {
		return nil, err
	}
	sums, err := readSums(answer)
	if err != nil {
		return nil, err
	}
	var differ []fleet.Slot
	for _, s := range sums {
		was, asked := have[s.at]
		switch was.holds = s.flags&flagHolds != 0; {
		case !asked:
		case was.sum == s.sum:
			have[s.at] = was
		default:
			delete(have, s.at)
			if flags[s.at]&flagAlways == 0 || was.holds {
				differ = append(differ, s.at)
			}
		}
	}
	slices.Sort(differ)
	for len(differ) > 0 {
		done, err := k.mend(ctx, with, differ[:min(len(differ), 64)], flags, have)
		if err != nil {
			return have, err
		}
		differ = differ[done:]
	}
	return have, nil
}

// mend fetches rows of slots that differ and gives others. It returns how many slots
// that were, at least one.
func (k *Keeper) mend(ctx context.Context, with feedring.PeerID, slots []fleet.Slot, flags map[fleet.Slot]byte, have map[fleet.Slot]compared) (done int, err error) {
	var body []byte
	for _, at := range slots {
		body = binary.BigEndian.AppendUint16(body, uint16(at))
	}
	answer, err := k.ask(ctx, with, pathDigests, body)
	if err != nil {
		return 0, err
	}
	theirs, err := readDigests(answer)
	if err != nil {
		return 0, err
	}
	var fetch []fleet.Key
	for done < len(slots) && theirs[slots[done]] != nil {
		at := slots[done]
		mine, err := k.all(at.Records())
		if err != nil {
			return 0, err
		}
		digests := make(map[fleet.Key]fleet.Digest, len(mine))
		for i := range mine {
			digests[mine[i].Key] = mine[i].Digest()
		}
		for key, digest := range theirs[at] {
			if digests[key] != digest && flags[at]&flagAlways == 0 {
				fetch = append(fetch, key)
			}
		}
		done++
	}
	if done == 0 {
		return 0, errMalformed
	}
	served := func(key fleet.Key) bool { return k.Places().Serves(key.ID.Slot()) == k.cfg.Self }
	// Where the disk here is full, what this peer is asked for may be whole all the same.
	if err := k.fetch(ctx, with, fetch); err != nil && (!errors.Is(err, store.ErrFull) || slices.ContainsFunc(fetch, served)) {
		return 0, err
	}
	var rows []fleet.Row
	for _, at := range slots[:done] {
		if flags[at] == 0 {
			continue // the other is no holder
		}
		// The sum is that of the rows that are given: none comes between.
		s := &k.slots[at]
		s.changing.Lock()
		mine, err := k.all(at.Records())
		k.mu.Lock()
		have[at] = compared{sum: s.sum, holds: true}
		k.mu.Unlock()
		s.changing.Unlock()
		if err != nil {
			delete(have, at)
			return 0, err
		}
		for i := range mine {
			if theirs[at][mine[i].Key] != mine[i].Digest() {
				rows = append(rows, mine[i])
			}
		}
	}
	if _, err := k.give(ctx, with, rows); err != nil {
		for _, at := range slots[:done] {
			delete(have, at)
		}
		if !errors.Is(err, errNoRoom) {
			return 0, err
		}
	}
	return done, nil
}

// fetch takes rows of another member in.
func (k *Keeper) fetch(ctx context.Context, from feedring.PeerID, keys []fleet.Key) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), maxBody/keyLen)]
		var body []byte
		for _, key := range some {
			body = appendKey(body, key)
		}
		answer, err := k.ask(ctx, from, pathFetch, body)
		if err != nil {
			return err
		}
		rows, err := readRows(answer)
		if err != nil {
			return err
		}
		next := len(some) // the rest is not there any more
		if len(rows) > 0 && len(answer) > maxBody {
			next = slices.Index(some, rows[len(rows)-1].Key) + 1
		}
		if next == 0 {
			return errMalformed
		}
		if _, err := k.merge(ctx, rows); err != nil {
			return err
		}
		keys = keys[next:]
	}
	return nil
}

// moved is how long rows may be at one present peer alone after a peer went: until then
// others have not taken its slots.
const moved = 11 * time.Minute

// complete reports whether what no present peer has does not exist: at most one of the
// members of the last 30 days is missing, for long enough that others had its rows from
// their other holders. A peer that starts knows the others before it meets them.
func (k *Keeper) complete(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.missing) == 0 || len(k.missing) == 1 && now.Sub(later(k.missing[0], k.opened)) >= moved
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// find fetches a row that this peer lacks. It reports whether one that is still not here
// is nowhere.
func (k *Keeper) find(ctx context.Context, key fleet.Key) bool {
	sure := k.settle(ctx, key.ID.Slot())
	return k.fetchOther(ctx, key) && sure && k.complete(time.Now())
}

// fetchOther takes a row of the other holder in, if that has it. It reports whether it
// answered, or is away.
func (k *Keeper) fetchOther(ctx context.Context, key fleet.Key) bool {
	k.mu.Lock()
	other := k.otherOf(k.places, key.ID.Slot())
	present := k.places.Present(other)
	k.mu.Unlock()
	return !present || k.fetch(ctx, other, []fleet.Key{key}) == nil
}

// settle has a slot that this peer has just come to hold, or whose members have just
// come back, compared with all members that are present, each of which may have had it
// before. It reports whether all answered.
func (k *Keeper) settle(ctx context.Context, at fleet.Slot) (sure bool) {
	for {
		k.mu.Lock()
		if k.settled(at) {
			sure = !k.anySilent()
			k.mu.Unlock()
			return sure
		}
		wait := k.settling[at]
		if wait == nil {
			k.settling[at] = make(chan struct{})
			k.mu.Unlock()
			break
		}
		k.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return false
		}
	}
	k.mu.Lock()
	epoch, places := k.epoch, k.places
	present := make([]feedring.PeerID, 0, len(k.members))
	for peer := range k.members {
		present = append(present, peer)
	}
	k.mu.Unlock()
	var asking sync.WaitGroup
	answered := make([]bool, len(present))
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*k.patience)
	defer cancel()
	for i, peer := range present {
		asking.Go(func() {
			_, err := k.compare(within, peer, map[fleet.Slot]byte{at: flagOf(places, at, peer)})
			answered[i] = err == nil
		})
	}
	asking.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slots[at].settled = epoch
	sure = true
	for i, peer := range present {
		if m := k.members[peer]; m != nil && !answered[i] {
			m.silent, sure = true, false
		}
	}
	if !sure {
		signal(k.due)
	}
	close(k.settling[at])
	delete(k.settling, at)
	if k.slots[at].since > 0 && k.places.Serves(at) == k.cfg.Self {
		signal(k.opening)
	}
	return sure
}

// settled reports whether all present members were asked for a slot since this peer
// came to hold it, and since they came back. A slot that it does not hold needs none.
// The caller holds mu.
func (k *Keeper) settled(at fleet.Slot) bool {
	s := &k.slots[at]
	if s.since == 0 {
		return true
	}
	for _, m := range k.members {
		if needs := max(s.since, m.back); s.settled < needs && m.asked < needs {
			return false
		}
	}
	return true
}

func (k *Keeper) anySilent() bool {
	for _, m := range k.members {
		if m.silent {
			return true
		}
	}
	return false
}

// flagOf says whether a member is to tell of a slot of which it has no rows: it holds
// it, too.
func flagOf(p *fleet.Places, at fleet.Slot, peer feedring.PeerID) byte {
	if first, second := p.Holders(at); first == peer || second == peer {
		return flagTell
	}
	return 0
}

// compareAll compares what this peer has with the other holders, and what it came to
// hold with all members. What it holds no more it gives to the holders, and drops when
// both have it. all: also with whom it compared before. It reports whether all answered.
func (k *Keeper) compareAll(ctx context.Context, all bool) (whole bool) {
	k.mu.Lock()
	epoch, places := k.epoch, k.places
	plans := make(map[feedring.PeerID]map[fleet.Slot]byte, len(k.members))
	for peer, m := range k.members {
		plan := make(map[fleet.Slot]byte)
		for i := range k.slots {
			s, at := &k.slots[i], fleet.Slot(i)
			switch holds := flagOf(places, at, peer) != 0; {
			case s.since == 0 && s.rows() > 0 && holds && places.Present(k.cfg.Self):
				plan[at] = flagTell | flagAlways
			case s.since == 0:
			case holds && (all || !s.agreed):
				plan[at] = flagTell
			case !holds && (m.asked < max(s.since, m.back) || m.silent):
				plan[at] = 0
			}
		}
		if len(plan) > 0 {
			plans[peer] = plan
		} else {
			m.asked, m.silent = epoch, false
		}
	}
	k.mu.Unlock()
	var asking sync.WaitGroup
	var mu sync.Mutex
	gone := make(map[fleet.Slot][]compared)
	busy := make(chan struct{}, 8)
	whole = true
	for peer, plan := range plans {
		asking.Go(func() {
			busy <- struct{}{}
			defer func() { <-busy }()
			have, err := k.compare(ctx, peer, plan)
			if err != nil && ctx.Err() == nil {
				k.cfg.Log.Debug("fleet: rows were not compared", "with", peer, "err", err)
			}
			k.compared(peer, epoch, have, err)
			mu.Lock()
			defer mu.Unlock()
			whole = whole && err == nil
			for at, c := range have {
				if plan[at]&flagAlways != 0 && c.holds {
					gone[at] = append(gone[at], c)
				}
			}
		})
	}
	asking.Wait()
	for at, by := range gone {
		if len(by) == 2 && by[0].sum == by[1].sum {
			if err := k.drop(ctx, at, epoch, by[0].sum); err != nil && ctx.Err() == nil {
				k.cfg.Log.Debug("fleet: rows of other peers' slots are kept", "err", err)
			}
		}
	}
	signal(k.opening)
	return whole
}

// compared notes what was compared with a member.
func (k *Keeper) compared(peer feedring.PeerID, epoch uint64, have map[fleet.Slot]compared, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := k.members[peer]; m != nil {
		m.asked, m.silent = max(m.asked, epoch), err != nil
	}
	whole := make(map[fleet.Slot]bool)
	for at, c := range have {
		s := &k.slots[at]
		if k.otherOf(k.places, at) != peer || k.epoch != epoch {
			continue
		}
		s.agreed = true // rows that came since are known one by one if they are here alone
		if s.sum == c.sum {
			whole[at] = true
		}
	}
	maps.DeleteFunc(k.alone, func(key fleet.Key, _ bool) bool { return whole[key.ID.Slot()] })
}

// drop drops a slot that both holders have, unless something came since.
func (k *Keeper) drop(ctx context.Context, at fleet.Slot, epoch uint64, sum fleet.Sum) error {
	s := &k.slots[at]
	s.changing.Lock()
	defer s.changing.Unlock()
	k.mu.Lock()
	same := k.epoch == epoch && s.since == 0 && s.sum == sum
	k.mu.Unlock()
	if !same {
		return nil
	}
	rows, err := k.all(at.Records())
	if err != nil {
		return err
	}
	ends := make([]fleet.Row, len(rows))
	var feeds []string
	for i := range rows {
		ends[i].Key = rows[i].Key
		if rows[i].Kind == fleet.Feed {
			feeds = append(feeds, rows[i].ID.String())
		}
	}
	if err := k.write(ctx, at, rows, ends); err != nil {
		return err
	}
	return k.cfg.Lists.Forget(ctx, feeds...)
}
