package catalogue

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// Bounds of a row.
const (
	MaxAddrs    = 32
	MaxVouches  = 1_000
	MaxBackfill = 256 // exceptions
	MaxURL      = 2048
	MaxGone     = 256
	MaxKeep     = 366 * 24 * time.Hour // what every encoding keeps; more is told as this
)

// Messages are at most 4 MiB on the wire. What a machine sends is cut into
// parts of about MaxBytes by estimates, which are never below the truth and
// count each item of a list for at least Part, so that no message has too many
// of them either.
const (
	MaxBytes    = 1 << 20 // of one list in one message, and of a row's feeds
	Part        = 48      // of an item: tags, lengths, a peer's id
	maxWords    = 256 << 10
	maxGone     = 128 << 10 // of a row's copies of what is gone
	maxRowBytes = 2 << 20   // of a row from outside
	maxAddr     = 512
	maxTitle    = 4 << 10
	maxProvider = 253
)

// Valid checks the limits of a row from outside, and whose it is. Its seal was
// verified before; one without is its own maker's.
func (r *Row) Valid(g feedring.GroupID) bool {
	return r.Group == g && r.Peer != "" && (r.Seal == nil || r.Seal.Signer == r.Peer) &&
		len(r.Feeds) <= feedring.MaxFeeds && len(r.Addrs) <= MaxAddrs &&
		len(r.Vouches) <= MaxVouches && len(r.Backfilling) <= MaxBackfill && len(r.Gone) <= MaxGone &&
		r.Incarnation < feedring.MaxTermNumber && r.Version < feedring.MaxTermNumber && r.Size() <= maxRowBytes
}

// Size is at least what the row takes on the wire.
func (r *Row) Size() int {
	const seal = 200
	if r.Seal != nil && len(r.Seal.Payload) > 0 {
		return len(r.Seal.Payload) + seal
	}
	n := seal + 4*Part + TextsSize(r.Addrs) + wordsSize(r.Vouches)
	for _, b := range r.Backfilling {
		n += len(b.URL) + 2*Part
	}
	for i := range r.Feeds {
		n += FeedSize(&r.Feeds[i])
	}
	for i := range r.Gone {
		n += goneSize(&r.Gone[i])
	}
	return n
}

func goneSize(g *Gone) int { return len(g.Ref.URL) + len(g.Provider) + 3*Part }

// FeedSize is at least what a feed takes of a row, on the wire.
func FeedSize(f *feedring.Feed) int {
	return len(f.URL) + len(f.Title) + len(f.Provider) + Part
}

func wordsSize(words []Vouch) int {
	n := 0
	for _, v := range words {
		n += len(v.Site) + 3*Part + TextsSize(v.Feeds)
	}
	return n
}

// TextsSize is at least what texts take on the wire.
func TextsSize(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t) + Part
	}
	return n
}

// Within returns how many of rows fit into one message, at least one.
func Within(rows []*Row) int {
	size := 0
	for i := range rows {
		size += rows[i].Size()
		if i > 0 && size > MaxBytes {
			return i
		}
	}
	return len(rows)
}

// WordsFit reports whether a row has room for words.
func WordsFit(words []Vouch) bool {
	return len(words) <= MaxVouches && wordsSize(words) <= maxWords
}

// FitFeeds splits feeds, in order, into those that a row has room for and those
// that it has not. What no other peer would read is among the latter.
func FitFeeds(feeds []feedring.Feed) (kept []feedring.Feed, dropped []string) {
	size := 0
	for _, f := range feeds {
		f.Title = cutText(f.Title, maxTitle)
		fits := f.URL != "" && len(f.URL) <= MaxURL && len(f.Provider) <= maxProvider &&
			len(kept) < feedring.MaxFeeds && size+FeedSize(&f) <= MaxBytes
		if !fits {
			dropped = append(dropped, f.URL)
			continue
		}
		size += FeedSize(&f)
		kept = append(kept, f)
	}
	return kept, dropped
}

// FitGone returns those of gone, from the first on, that a row has room for.
func FitGone(gone []Gone) []Gone {
	size := 0
	for i := range gone {
		if size += goneSize(&gone[i]); i == MaxGone || size > maxGone || len(gone[i].Provider) > maxProvider {
			return gone[:i]
		}
	}
	return gone
}

// FitAddrs returns those of a peer's addresses that a row has room for.
func FitAddrs(addrs []string) []string {
	fit := slices.DeleteFunc(slices.Clone(addrs), func(a string) bool { return len(a) > maxAddr })
	return fit[:min(len(fit), MaxAddrs)]
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
