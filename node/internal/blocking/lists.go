package blocking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/store"
)

const (
	// MaxLists is how many lists of others are followed at most.
	MaxLists = 16

	listsRecord   = "blocklists"
	linesRecord   = "blocklist/" // and the address of the list
	allowedRecord = "blocklists/allowed"

	readEvery  = 24 * time.Hour
	retryFirst = 10 * time.Minute // after a list that could not be read, doubling up to a day
)

// list is one of somebody else's.
type list struct {
	URL      string    `json:"url"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"` // Last-Modified
	Read     time.Time `json:"read"`               // when it was last read
	Asked    time.Time `json:"asked"`              // when it was last asked for
	Failed   int       `json:"failed,omitempty"`   // times since then that it could not be read
	Problem  string    `json:"problem,omitempty"`  // why, the last time
	Skipped  int       `json:"skipped,omitempty"`  // lines that name nothing that may be blocked here

	blocked []blocks.Block
}

// Followed is what is known of a list of others.
type Followed struct {
	URL            string
	Lines, Skipped int
	Read           time.Time // when it was last read
	Problem        string    // why it could not be read since; empty: it could
}

// Errors of lists.
var (
	ErrLists     = errors.New("too many lists")
	ErrNotListed = errors.New("the list is not followed")
)

// openLists reads which lists were followed before.
func (b *Blocks) openLists() error {
	var allowed []string
	if err := errors.Join(load(b.store, listsRecord, &b.lists), load(b.store, allowedRecord, &allowed)); err != nil {
		return fmt.Errorf("block lists: %w", err)
	}
	for _, text := range allowed {
		if target, err := blocks.Parse(text); err == nil {
			b.allowed = append(b.allowed, target)
		}
	}
	for _, l := range b.lists {
		var lines []blocks.Line
		if err := load(b.store, linesRecord+l.URL, &lines); err != nil {
			return fmt.Errorf("block list %s: %w", l.URL, err)
		}
		for _, one := range lines {
			if target, ok := blocks.ParseForeign(one.Block); ok {
				l.blocked = append(l.blocked, blocks.Block{Target: target, Until: one.Until, Reason: one.Reason})
			}
		}
	}
	b.sortOthers()
	return nil
}

// sortOthers finds the lines of the lists that may hold: neither this peer's own key nor what
// its owner allows. It is called with changing held.
func (b *Blocks) sortOthers() {
	allowed := make(map[blocks.Target]bool, len(b.allowed))
	for _, t := range b.allowed {
		allowed[t] = true
	}
	b.others = nil
	for _, l := range b.lists {
		for _, one := range l.blocked {
			if !one.Target.IsPeer(b.self) && !allowed[one.Target] {
				one.Since, one.Origin = l.Read, l.URL
				b.others = append(b.others, one)
			}
		}
	}
}

// Lists are the lists of others that are followed.
func (b *Blocks) Lists() (all []Followed) {
	b.changing.Lock()
	defer b.changing.Unlock()
	for _, l := range b.lists {
		all = append(all, l.followed())
	}
	return all
}

func (l *list) followed() Followed {
	return Followed{URL: l.URL, Lines: len(l.blocked), Skipped: l.Skipped, Read: l.Read, Problem: l.Problem}
}

// Follow reads a list of somebody else's now and daily from now on; one that cannot be read now
// is not followed.
func (b *Blocks) Follow(ctx context.Context, url string) (Followed, error) {
	answer := b.reader.read(ctx, &list{URL: url})
	if answer.err != nil {
		return Followed{}, answer.err
	}
	b.changing.Lock()
	defer b.changing.Unlock()
	l := &list{URL: url}
	next := slices.DeleteFunc(slices.Clone(b.lists), func(o *list) bool { return o.URL == url })
	if len(next) >= MaxLists {
		return Followed{}, ErrLists
	}
	l.take(answer, time.Now())
	if err := b.keep(ctx, l, append(next, l)); err != nil {
		return Followed{}, err
	}
	b.apply()
	b.reader.again()
	return l.followed(), nil
}

// Unfollow ends that. What the list blocked is shown again, unless another list or the owner
// blocks it.
func (b *Blocks) Unfollow(ctx context.Context, url string) error {
	b.changing.Lock()
	defer b.changing.Unlock()
	next := slices.DeleteFunc(slices.Clone(b.lists), func(o *list) bool { return o.URL == url })
	if len(next) == len(b.lists) {
		return ErrNotListed
	}
	if err := b.keep(ctx, nil, next); err != nil {
		return err
	}
	b.apply()
	if err := b.store.Delete(ctx, store.BucketPeer, linesRecord+url); err != nil {
		b.reader.log.Warn("the lines of a block list that is not followed any more stay on disk", "list", url, "err", err)
	}
	return nil
}

// keep writes down which lists are followed, and the lines of one that changed. It is called with
// changing held.
func (b *Blocks) keep(ctx context.Context, changed *list, next []*list) error {
	if changed != nil {
		if err := b.put(ctx, linesRecord+changed.URL, blocks.Published(changed.blocked)); err != nil {
			return err
		}
	}
	if err := b.put(ctx, listsRecord, next); err != nil {
		return err
	}
	b.lists = next
	return nil
}

func (b *Blocks) put(ctx context.Context, key string, value any) error {
	text, err := encode(value)
	switch {
	case err != nil:
		return err
	case len(text) > store.MaxValue:
		return ErrRoom
	}
	return b.store.Put(ctx, store.BucketPeer, key, text)
}

// encode is json.Marshal, but that "<", ">" and "&" take a byte each.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// listed reports whether a list of others blocks a target. It is called with changing held.
func (b *Blocks) listed(t blocks.Target) bool {
	return slices.ContainsFunc(b.others, func(one blocks.Block) bool { return one.Target == t })
}

// putAllowed writes down which lines of lists do not hold here.
func (b *Blocks) putAllowed(ctx context.Context, allowed []blocks.Target) error {
	texts := make([]string, len(allowed))
	for i, o := range allowed {
		texts[i] = o.String()
	}
	return b.put(ctx, allowedRecord, texts)
}

// take takes what was read of a list, or why it could not be.
func (l *list) take(a answer, now time.Time) {
	l.Asked = now
	if a.err != nil {
		l.Failed, l.Problem = l.Failed+1, a.err.Error()
		return
	}
	l.Read, l.Failed, l.Problem = now, 0, ""
	if !a.same {
		l.ETag, l.Modified, l.blocked, l.Skipped = a.etag, a.modified, a.blocked, a.skipped
	}
}

// due is when a list is read again.
func (l *list) due(spread float64) time.Time {
	if l.Failed > 0 {
		return l.Asked.Add(min(retryFirst<<min(l.Failed-1, 10), readEvery))
	}
	return l.Asked.Add(time.Duration((0.9 + spread/10) * float64(readEvery)))
}

// ReadLists reads the lists of others, each once a day, until ctx ends.
func (b *Blocks) ReadLists(ctx context.Context) {
	for {
		l, wait := b.nextList(time.Now())
		pause := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-b.reader.wake:
			pause.Stop()
			continue
		case <-pause.C:
		}
		if l != nil {
			b.reread(ctx, l)
		}
	}
}

// nextList is a copy of the list that is due first, and how long until then.
func (b *Blocks) nextList(now time.Time) (first *list, wait time.Duration) {
	b.changing.Lock()
	defer b.changing.Unlock()
	wait = readEvery
	for _, l := range b.lists {
		if until := l.due(rand.Float64()).Sub(now); first == nil || until < wait {
			copied := *l
			first, wait = &copied, until
		}
	}
	return first, max(0, wait)
}

// reread reads a list again. What cannot be read or kept leaves it as it was.
func (b *Blocks) reread(ctx context.Context, was *list) {
	answer := b.reader.read(ctx, was)
	if ctx.Err() != nil {
		return
	}
	b.changing.Lock()
	defer b.changing.Unlock()
	i := slices.IndexFunc(b.lists, func(o *list) bool { return o.URL == was.URL })
	if i < 0 {
		return // not followed any more
	}
	if answer.err == nil && !answer.same {
		answer.err = b.put(ctx, linesRecord+was.URL, blocks.Published(answer.blocked))
		if ctx.Err() != nil {
			return
		}
	}
	l := *b.lists[i]
	l.take(answer, time.Now())
	b.reader.tell(&l, was.Problem)
	next := slices.Clone(b.lists)
	next[i] = &l
	if err := b.keep(ctx, nil, next); err != nil {
		b.lists = next // after a restart it is asked again with what was known of it before
	}
	if answer.err == nil && !answer.same {
		b.apply()
	}
}
