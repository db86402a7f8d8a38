package store

import (
	"context"

	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/values"
)

// Search says which entries are asked for. The zero value asks for the newest
// public ones.
type Search = find.Search

// Cursor is where the next page of a search begins; empty: at its start, or,
// as an answer, there is no further page. Callers only hand it back.
type Cursor = find.Cursor

// Pause has a page end, with a next one, after some time.
type Pause = find.Pause

// Privacy says what a search does with the entries of private feeds.
type Privacy = find.Privacy

// The ways of a search with private feeds.
const (
	PublicOnly       = find.PublicOnly
	PublicAndPrivate = find.PublicAndPrivate
	PrivateOnly      = find.PrivateOnly
)

// Search returns the entries that match, newest published first, and where the
// next page begins; see find.Log.
func (s *Store) Search(ctx context.Context, q Search) (items []Item, next Cursor, err error) {
	err = s.view(func(txn values.Txn) (err error) {
		items, next, err = s.log(txn).Search(ctx, q)
		return err
	})
	return items, next, err
}

func (s *Store) log(txn values.Txn) find.Log {
	return find.Log{Txn: txn, Heads: &s.heads, Bytes: s.opts.SearchBytes}
}
