package group

import (
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// Messages are at most 4 MiB on the wire. What a machine sends is cut into
// parts of about maxBytes by these estimates, which are never below the truth
// and count each item of a list for at least part, so that no message has too
// many of them either.
const (
	maxBytes    = 1 << 20   // of one list in one message, and of a row's feeds
	maxWords    = 256 << 10 // of a row's vouches
	maxRowBytes = 2 << 20   // of a row from outside
	MaxGranted  = 2 << 20   // of the grants in one answer, by GrantSize
	part        = 48        // of an item: tags, lengths, a peer's id
	maxURL      = 2048
	maxAddr     = 512
	maxTitle    = 4 << 10
	maxProvider = 253
)

// size is at least what the row takes on the wire.
func (r *Row) size() int {
	const seal = 200
	if r.Seal != nil && len(r.Seal.Payload) > 0 {
		return len(r.Seal.Payload) + seal
	}
	n := seal + 4*part + textsSize(r.Addrs) + wordsSize(r.Vouches)
	for _, b := range r.Backfilling {
		n += len(b.URL) + 2*part
	}
	for i := range r.Feeds {
		n += feedSize(&r.Feeds[i])
	}
	return n
}

func feedSize(f *feedring.Feed) int {
	return len(f.URL) + len(f.Title) + len(f.Provider) + part
}

func wordsSize(words []Vouch) int {
	n := 0
	for _, v := range words {
		n += len(v.Site) + 3*part + textsSize(v.Feeds)
	}
	return n
}

func textsSize(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t) + part
	}
	return n
}

// rowsWithin returns how many of rows fit into one message, at least one.
func rowsWithin(rows []Row) int {
	size := 0
	for i := range rows {
		size += rows[i].size()
		if i > 0 && size > maxBytes {
			return i
		}
	}
	return len(rows)
}

func headSize(h *feedring.Head) int { return len(h.Feed.URL) + 4*part }

// full says that a list of heads was cut: the sender may have had more. Both
// sides find the same.
func full(heads []feedring.Head) bool {
	size := 0
	for i := range heads {
		size += headSize(&heads[i])
	}
	return len(heads) >= maxTold || size > maxBytes
}

// GrantSize is at least what a grant takes on the wire, its ticket included.
func GrantSize(g *feedring.Grant) int {
	n := 600 + part*len(g.Ticket.Peers) + 2*part + textsSize(g.Provider.Addrs)
	for i := range g.Alternates {
		n += 2*part + textsSize(g.Alternates[i].Addrs)
	}
	if g.Ticket.Seal != nil {
		n += len(g.Ticket.Seal.Payload)
	}
	return n
}

// room splits feeds, in order, into those that a row has room for and those
// that it has not. What no other peer would read is among the latter.
func room(feeds []feedring.Feed) (kept []feedring.Feed, dropped []string) {
	size := 0
	for _, f := range feeds {
		f.Title = cutText(f.Title, maxTitle)
		fits := f.URL != "" && len(f.URL) <= maxURL && len(f.Provider) <= maxProvider &&
			len(kept) < feedring.MaxFeeds && size+feedSize(&f) <= maxBytes
		if !fits {
			dropped = append(dropped, f.URL)
			continue
		}
		size += feedSize(&f)
		kept = append(kept, f)
	}
	return kept, dropped
}

// cutText cuts s to at most n bytes, between two characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}
