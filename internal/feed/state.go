package feed

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
	"github.com/feedring/feedring/internal/feed/document"
)

// State is all that is remembered of a feed between two looks. The zero State
// with an URL is a feed that was never looked at. It is a value: Diff and the
// Watcher make new ones and change none, so it may be kept and saved at leisure.
// Its JSON form leaves out what is known of the entries; MarshalBinary does not.
type State struct {
	URL        string     `json:"url"`
	Title      string     `json:"title,omitempty"`
	Feedring   string     `json:"feedring,omitempty"` // Document.Feedring
	Hub        string     `json:"hub,omitempty"`      // Document.Hub
	Self       string     `json:"self,omitempty"`     // Document.Self
	Validators Validators `json:"validators,omitzero"`
	BodyHash   BodyHash   `json:"body_hash,omitzero"`

	LastLook    time.Time     `json:"last_look,omitzero"`
	LastSuccess time.Time     `json:"last_success,omitzero"`
	NextLook    time.Time     `json:"next_look,omitzero"`  // zero: due at once, or never where Gone
	NotBefore   time.Time     `json:"not_before,omitzero"` // what the origin asked for; zero: nothing
	Held        string        `json:"held,omitempty"`      // the host that NotBefore holds for, as a whole; empty: none
	Gone        bool          `json:"gone,omitempty"`      // the origin said that the feed is gone for good
	Calendar    *Calendar     `json:"calendar,omitempty"`  // nil: the document says nothing
	Interval    time.Duration `json:"interval,omitempty"`  // of the adaptive policy
	Failures    int           `json:"failures,omitempty"`  // since LastSuccess
	LastError   string        `json:"last_error,omitempty"`
	Moved       string        `json:"moved,omitempty"` // where the origin says the feed is for good

	// ByLink is set for a feed that gives its entries new guids all the time:
	// its entries are recognised by their links.
	ByLink bool `json:"by_link,omitempty"`

	known map[feedring.EntryID]known
}

// known is what is remembered of an entry, to tell whether it changed.
type known struct {
	hash    document.Hash
	link    document.Hash // zero: none
	version uint32
	seen    int64 // Unix seconds, of the first version
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

// Known returns how many entries are remembered.
func (s *State) Known() int { return len(s.known) }

func (s *State) looked() bool { return !s.LastSuccess.IsZero() }

func (s *State) conditional() bool { return s.looked() && s.Validators != Validators{} }

const (
	stateVersion = 1
	knownSize    = 16 + len(document.Hash{}) + len(document.Hash{}) + 4 + 8
	maxKnown     = 5_000 // remembered beside those of the last document
)

// errState is returned for bytes that are no State of this version.
var errState = errors.New("feed: saved state cannot be read")

// MarshalBinary encodes s in about 60 bytes an entry, the same bytes for the
// same state.
func (s State) MarshalBinary() ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("feed: encode state: %w", err)
	}
	out := make([]byte, 0, 1+binary.MaxVarintLen32+len(head)+len(s.known)*knownSize)
	out = append(out, stateVersion)
	out = binary.AppendUvarint(out, uint64(len(head)))
	out = append(out, head...)
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		raw, err := hex.DecodeString(string(id))
		if err != nil || len(raw) != 16 {
			return nil, fmt.Errorf("feed: encode state: entry id %q is not 32 hexadecimal digits", id)
		}
		k := s.known[id]
		out = append(append(append(out, raw...), k.hash[:]...), k.link[:]...)
		out = binary.BigEndian.AppendUint32(out, k.version)
		out = binary.BigEndian.AppendUint64(out, uint64(k.seen))
	}
	return out, nil
}

// UnmarshalBinary decodes what MarshalBinary made.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != stateVersion {
		return errState
	}
	length, n := binary.Uvarint(b[1:])
	if n <= 0 || length > uint64(len(b)-1-n) {
		return errState
	}
	head, rest := b[1+n:1+n+int(length)], b[1+n+int(length):]
	if len(rest)%knownSize != 0 || len(rest)/knownSize > maxKnown+document.MaxItems {
		return errState
	}
	var next State
	if err := json.Unmarshal(head, &next); err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	next.known = make(map[feedring.EntryID]known, len(rest)/knownSize)
	for ; len(rest) > 0; rest = rest[knownSize:] {
		k := known{
			hash:    document.Hash(rest[16:32]),
			link:    document.Hash(rest[32:48]),
			version: binary.BigEndian.Uint32(rest[48:52]),
			seen:    int64(binary.BigEndian.Uint64(rest[52:60])),
		}
		next.known[feedring.EntryID(hex.EncodeToString(rest[:16]))] = k
	}
	*s = next
	return nil
}
