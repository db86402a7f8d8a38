package store

import "github.com/feedring/feedring/internal/store/rows"

// Item is one sealed entry with what the store needs to find it.
type Item = rows.Item

// Head is what the store holds of one feed as one peer publishes it.
type Head = rows.Head

// RowKey is the place of an index row.
type RowKey = rows.Key

// costOf bounds what the rows of it add to a transaction: the log and index
// rows, the version row, the deletion of an older index row, the ref's row, the
// journal row, the row of an old version, and for each the bytes that badger adds; with a
// retraction each tombstone's row, and the row that has an index erase its words.
func costOf(it *Item) cost {
	variable := len(it.Payload) + len(it.Signature) + 2*len(it.Text) + 3*len(it.ID) +
		2*(len(it.Theme)+len(it.Provider)) + len(it.Ref.URL) + len(it.Ref.Publisher)
	tombstone := int64(len(it.Payload) + len(it.Signature) + rows.MaxProvider + rows.MaxID + 400)
	return cost{bytes: int64(variable) + 800 + int64(len(it.Takes))*tombstone, rows: 7 + 2*int64(len(it.Takes))}
}
