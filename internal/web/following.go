package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/feedring/feedring"
)

// following is one reader of a stream. Its first answer is sent newest first,
// with ids from which a reader that is cut off amid it goes on.
type following struct {
	*site
	r   *http.Request
	ask Ask
	at  streamPosition
	out *events

	page     bool // entries are told as a page shows them
	unserved atomic.Pointer[Unserved]

	first   []*feedring.Entry // until the final comes
	entries int               // told so far
}

// run passes on what the peer tells until ctx ends or the reader leaves. It
// takes an entry from the peer when the one before is written: so what a slow
// reader has not taken waits in the log, and in memory there is one entry for
// each reader beside the system's buffers (Cobra, section 3.2).
func (f *following) run(ctx context.Context) error {
	err := f.rest()
	if err == nil {
		err = f.Backend.Follow(ctx, f.ask, f.update)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errReaderLeft) {
		p := problemOf(err)
		p.Type, p.Title = "about:blank", http.StatusText(p.Status)
		return errors.Join(err, f.out.send("problem", "", p))
	}
	return err
}

// rest sends what is due of a first answer, but for what came after it was
// given: that is told by following.
func (f *following) rest() error {
	cursor := formatCursor(f.ask.Cursor, f.ask.Began)
	for at, left := f.at.rest, f.at.left; at != nil && left > 0; {
		q := f.ask.Query
		q.Limit = left
		a, err := f.query(f.r, q, at, f.ask.Private, defaultWait)
		if err != nil {
			return err
		}
		due := make([]*feedring.Entry, 0, len(a.entries))
		for i := range a.entries {
			if !f.follows(&a.entries[i]) {
				due = append(due, &a.entries[i])
			}
		}
		if err := f.tell(due, cursor, at, left); err != nil {
			return err
		}
		at, left = a.next, left-len(due)
	}
	return nil
}

// follows reports whether an entry lies after the cursor.
func (f *following) follows(e *feedring.Entry) bool {
	at, known := f.ask.Cursor[e.Ref()]
	return !known || e.Position.Compare(at) > 0
}

// tell sends entries of a first answer, newest first, after those of a page,
// where so many are due.
func (f *following) tell(entries []*feedring.Entry, cursor string, at *page, left int) error {
	short := cursor != "" && len(cursor)*left <= firstIDs
	for _, e := range entries {
		id := ""
		left--
		if short {
			at = at.next([]feedring.Entry{*e})
			id = amid(cursor, at, left)
		}
		f.entries++
		if err := f.entry(id, e); err != nil {
			return err
		}
	}
	return nil
}

// update takes one thing that the peer tells.
func (f *following) update(u Update) error {
	id := formatCursor(u.Cursor, f.ask.Began)
	switch {
	case u.Entry != nil && u.Cursor == nil && len(f.first) < feedring.MaxLimit:
		f.first = append(f.first, u.Entry)
		return nil
	case u.Entry != nil:
		f.entries++
		return f.entry(id, u.Entry)
	case u.Retraction != nil:
		gone := u.Retraction // perhaps of what the first answer is about to tell
		f.first = slices.DeleteFunc(f.first, func(e *feedring.Entry) bool { return e.ID == gone.ID && e.Feed == gone.Feed })
		return f.out.send(gone.Event, id, gone)
	case u.Older != nil:
		return f.out.send(u.Older.Event, id, u.Older)
	case u.Unserved != nil:
		if f.unserved.Store(u.Unserved); f.page {
			return nil // a page is told by reach events
		}
		return f.out.send(u.Unserved.Event, "", u.Unserved)
	case u.Gap != nil:
		return f.out.send("gap", "", u.Gap)
	case u.Final != nil:
		return f.final(u.Final, id)
	}
	return nil
}

// entry sends one.
func (f *following) entry(id string, e *feedring.Entry) error {
	if f.page {
		return f.out.send("entry", id, f.pageEntry(e))
	}
	return f.out.send("entry", id, e)
}

// final sends the first answer, and that it is whole.
func (f *following) final(final *feedring.Final, id string) error {
	first := slices.Clip(f.first)
	f.first = nil
	sort.SliceStable(first, func(i, j int) bool { return first[i].Published.After(first[j].Published) })
	if err := f.tell(first, id, nil, len(first)); err != nil {
		return err
	}
	event := feedring.FinalEvent(*final, f.ask.Theme, f.entries)
	if f.ask.Cursor == nil {
		event.Hints = hints(f.ask.Query, &event, "the parameter ")
	}
	return f.out.send(event.Event, id, event)
}
