package fetch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
)

// State is all that is remembered of a feed between two fetches. The zero State
// with an URL is a feed that was never fetched. It is a value: Diff and the
// package watch make new ones and change none, so it may be kept and saved at leisure.
// Its JSON form leaves out what was learned and what is known of the entries.
// MarshalBinary leaves out the entries alone, which MarshalKnown writes: they are
// most of it, and change and are needed where a document came.
type State struct {
	URL        string     `json:"url"`
	Title      string     `json:"title,omitempty"`
	Feedring   string     `json:"feedring,omitempty"`   // Document.Feedring
	NoMirrors  bool       `json:"no_mirrors,omitempty"` // Document.NoMirrors
	Hub        string     `json:"hub,omitempty"`        // Document.Hub
	Self       string     `json:"self,omitempty"`       // Document.Self
	Validators Validators `json:"validators,omitzero"`
	Source     string     `json:"source,omitempty"` // the address that gave Validators; empty: the one that is asked
	BodyHash   BodyHash   `json:"body_hash,omitzero"`

	Omitted int `json:"omitted,omitempty"` // Document.Omitted

	LastFetch     time.Time     `json:"last_look,omitzero"`
	LastSuccess   time.Time     `json:"last_success,omitzero"`
	NextFetch     time.Time     `json:"next_look,omitzero"`    // zero: due at once, or never where Gone
	MaxAge        time.Duration `json:"max_age,omitempty"`     // of the document
	NotBefore     time.Time     `json:"not_before,omitzero"`   // what the origin asked for; zero: nothing
	Held          string        `json:"held,omitempty"`        // the host that NotBefore holds for, as a whole; empty: none
	HeldOpenEnded bool          `json:"held_untold,omitempty"` // it did not say until when
	Gone          bool          `json:"gone,omitempty"`        // the origin said that the feed is gone for good; with NextFetch: to somebody else
	Calendar      *Calendar     `json:"calendar,omitempty"`    // nil: the document says nothing
	Interval      time.Duration `json:"interval,omitempty"`    // that the policy thinks in
	Failures      int           `json:"failures,omitempty"`    // since LastSuccess
	LastError     string        `json:"last_error,omitempty"`
	Unreached     bool          `json:"unreached,omitempty"` // the last fetch got no answer from the origin, and no connection
	Private       bool          `json:"private,omitempty"`   // the last fetch failed because this peer refuses private addresses
	Refused       bool          `json:"refused,omitempty"`   // the origin answered the last fetch, and the entries were refused: watch.ReportedError

	Moved      string    `json:"moved,omitempty"`       // where the origin says the feed is for good
	MovedSince time.Time `json:"moved_since,omitzero"`  // when it said so first
	MovedTimes int       `json:"moved_times,omitempty"` // how often it said so since
	Address    string    `json:"address,omitempty"`     // what is asked instead of Named, because the origin said so; empty: Named

	Named  string   `json:"named,omitempty"` // the present address, where the owner moved the feed; empty: URL
	Former []string `json:"-"`               // addresses that the feed had meanwhile

	// Offered is since when this peer offers a feed that it never read: what it
	// finds first that is older is history. Zero: it is not known. The caller
	// keeps it.
	Offered time.Time `json:"-"`

	// ByLink is set for a feed that gives its entries new guids all the time:
	// its entries are recognised by their links.
	ByLink bool `json:"by_link,omitempty"`

	learned learned
	known   map[feedring.EntryID]known // nil: none, or not loaded
}

// known is what is remembered of an entry, to tell whether it changed.
type known struct {
	hash    document.Hash
	link    document.Hash // zero: none
	version uint32
	seen    int64 // Unix seconds, of the first version
	gone    bool  // not in the last document
}

// BodyHash is the SHA-256 of a decompressed body as it came.
type BodyHash [sha256.Size]byte

// MarshalText writes hexadecimal digits.
func (h BodyHash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads hexadecimal digits.
func (h *BodyHash) UnmarshalText(text []byte) error {
	raw, err := hex.AppendDecode(nil, text)
	if err != nil || len(raw) != len(h) {
		return errState
	}
	copy(h[:], raw)
	return nil
}

// Known returns how many entries are remembered, and loaded.
func (s *State) Known() int { return len(s.known) }

// Lists reports whether the last document had an entry.
func (s *State) Lists(id feedring.EntryID) bool {
	k, ok := s.known[id]
	return ok && !k.gone
}

// Loaded reports whether the entries are there: a document came.
func (s *State) Loaded() bool { return s.known != nil }

// WithoutKnown is s as MarshalBinary keeps it.
func (s State) WithoutKnown() State {
	s.known = nil
	return s
}

// Outcome is what one fetch found.
type Outcome struct {
	New, Updated int    // entries
	Partial      bool   // the document had new entries alone, and says nothing of what is gone
	Err          *Error // nil: the origin answered
	Hints        Hints
}

// After returns what an answer brought, as Diff does, the state that remembers
// it, and an Outcome for whoever plans the next fetch, which is not planned yet. Where a
// document came, the entries of s are loaded.
func (s State) After(answer Answer, now time.Time) ([]feedring.Entry, State, Outcome) {
	var entries []feedring.Entry
	next, outcome := s, Outcome{Hints: answer.Hints, Partial: answer.Partial}
	if answer.Document == nil {
		next.learned.quiet(s.LastSuccess, now)
	} else {
		entries, next = Diff(s, answer.Document, now)
	}
	for _, e := range entries {
		if e.Version == 1 {
			outcome.New++
		} else {
			outcome.Updated++
		}
	}
	next.take(answer, now)
	return entries, next, outcome
}

// take writes an answer down.
func (s *State) take(answer Answer, now time.Time) {
	s.Validators, s.Source = answer.Validators, answer.Source
	s.BodyHash, s.MaxAge = answer.BodyHash, answer.Hints.MaxAge
	s.follow(answer.Moved, now)
	s.LastFetch, s.LastSuccess = now, now
	s.Failures, s.LastError, s.Unreached, s.Private, s.Refused = 0, "", false, false, false
}

// Failed returns the state after a fetch that failed, and what is to be made of err.
// Refused is left to the caller.
func (s State) Failed(err *Error, now time.Time) (State, *Error) {
	err = s.fallBack(err)
	s.LastFetch = now
	s.Failures++
	s.LastError = err.Detail
	s.Unreached = err.Unreached && err.Status == 0
	s.Private = err.Kind == failure.KindPrivate
	return s, err
}

// Fetched reports whether the feed was ever read.
func (s *State) Fetched() bool { return !s.LastSuccess.IsZero() }

// Ended reports whether the origin told this peer itself that the feed is gone.
func (s *State) Ended() bool { return s.Gone && s.NextFetch.IsZero() }

func (s *State) conditional() bool { return s.Fetched() && s.Validators != Validators{} }

const (
	stateVersion = 3 // 1 has nothing learned, and 1 and 2 have the entries too
	knownSize    = 16 + len(document.Hash{}) + len(document.Hash{}) + 4 + 8
	maxKnown     = 5_000 // remembered beside those of the last document
	goneBit      = 1 << 31
)

// errState is returned for bytes that are no State of this version.
var errState = errors.New("feed: saved state cannot be read")

// MarshalBinary encodes s without its entries, in some hundred bytes, the same
// bytes for the same state.
func (s State) MarshalBinary() ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("feed: encode state: %w", err)
	}
	learned := s.learned.append(nil)
	out := make([]byte, 0, 1+2*binary.MaxVarintLen32+len(head)+len(learned))
	out = append(out, stateVersion)
	out = append(binary.AppendUvarint(out, uint64(len(head))), head...)
	return append(binary.AppendUvarint(out, uint64(len(learned))), learned...), nil
}

// MarshalKnown encodes the entries of s in 60 bytes each, the same bytes for the
// same entries.
func (s State) MarshalKnown() ([]byte, error) {
	out := make([]byte, 0, len(s.known)*knownSize)
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		raw, err := hex.DecodeString(string(id))
		if err != nil || len(raw) != 16 {
			return nil, fmt.Errorf("feed: encode state: entry id %q is not 32 hexadecimal digits", id)
		}
		k := s.known[id]
		out = append(append(append(out, raw...), k.hash[:]...), k.link[:]...)
		version := k.version &^ goneBit
		if k.gone {
			version |= goneBit
		}
		out = binary.BigEndian.AppendUint32(out, version)
		out = binary.BigEndian.AppendUint64(out, uint64(k.seen))
	}
	return out, nil
}

// LoadKnown takes what MarshalKnown made.
func (s *State) LoadKnown(b []byte) error {
	known, ok := decodeKnown(b)
	if !ok {
		return errState
	}
	s.known = known
	return nil
}

// UnmarshalBinary decodes what MarshalBinary made, now or in an earlier version,
// whose states have their entries with them.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] < 1 || b[0] > stateVersion {
		return errState
	}
	head, rest, ok := part(b[1:])
	if !ok {
		return errState
	}
	var next State
	if err := json.Unmarshal(head, &next); err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	if b[0] >= 2 {
		var learned []byte
		if learned, rest, ok = part(rest); !ok || !next.learned.decode(learned) {
			return errState
		}
	}
	if b[0] < 3 {
		if err := next.LoadKnown(rest); err != nil {
			return err
		}
	} else if len(rest) > 0 {
		return errState
	}
	*s = next
	return nil
}

// part takes a part, behind its length, from the front of b.
func part(b []byte) (part, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(length)], b[n+int(length):], true
}

func decodeKnown(b []byte) (map[feedring.EntryID]known, bool) {
	if len(b)%knownSize != 0 || len(b)/knownSize > maxKnown+document.MaxItems {
		return nil, false
	}
	all := make(map[feedring.EntryID]known, len(b)/knownSize)
	for ; len(b) > 0; b = b[knownSize:] {
		version := binary.BigEndian.Uint32(b[48:52])
		all[feedring.EntryID(hex.EncodeToString(b[:16]))] = known{
			hash:    document.Hash(b[16:32]),
			link:    document.Hash(b[32:48]),
			version: version &^ goneBit,
			gone:    version&goneBit != 0,
			seen:    int64(binary.BigEndian.Uint64(b[52:60])),
		}
	}
	return all, true
}
