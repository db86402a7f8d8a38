package web

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// streamPosition is where the reader of a stream stands, as the id of an event tells it:
// behind a cursor, and as long as the first answer is not whole, at a page of
// it.
type streamPosition struct {
	cursor feedring.Cursor // nil: it begins
	began  time.Time       // to follow; zero: an earlier version did not tell
	rest   *page           // of the first answer, what follows is still due; nil: nothing is
	left   int             // entries of it that are due
}

const (
	// firstIDs bounds what the ids of a first answer take together, in
	// characters; each repeats the cursor. Where they would take more its entries
	// have none, and whoever is cut off amid it is sent it again.
	firstIDs = 256 << 10
	between  = "."
)

// parsePosition reads the id of an event; none is the begin.
func parsePosition(id string) (streamPosition, error) {
	cursor, rest, amid := strings.Cut(id, between)
	at, began, err := parseCursor(cursor)
	if err != nil || !amid {
		return streamPosition{cursor: at, began: began}, err
	}
	marks, count, _ := strings.Cut(rest, between)
	p, err := parsePage(marks)
	left, wrong := strconv.Atoi(count)
	if err = errors.Join(err, wrong); err != nil || at == nil || p == nil || left < 1 || left > feedring.MaxLimit {
		return streamPosition{}, errCursor
	}
	return streamPosition{cursor: at, began: began, rest: p, left: left}, nil
}

// amid is the id of an entry of a first answer behind which a reader stands at
// a page with so many entries due; it is empty where it is too long for a
// header.
func amid(cursor string, p *page, left int) string {
	if left == 0 {
		return cursor
	}
	id := cursor + between + p.String() + between + strconv.Itoa(left)
	if len(id) > maxCursor {
		return ""
	}
	return id
}
