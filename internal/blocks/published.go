package blocks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/publicsuffix"

	"github.com/feedring/feedring/internal/hostkind"
)

// Bounds of a list that is published for others.
const (
	MaxLines = 10_000
	MaxBytes = 1 << 20

	maxTarget = 300
	maxReason = 500

	leastListedIPv4, leastListedIPv6 = 16, 32
)

// Why a text is no list.
var (
	ErrLong   = errors.New("the list has more than 10,000 lines")
	ErrNoList = errors.New("it is no block list: a JSON list of {\"block\": …}, as the command block export prints it")
)

// Line is one block of a list that is published for others.
type Line struct {
	Block  string    `json:"block"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// Published are blocks as they are published.
func Published(all []Block) []Line {
	lines := make([]Line, len(all))
	for i, b := range all {
		lines[i] = Line{b.Target.String(), b.Until, b.Reason}
	}
	return lines
}

// ParsePublished reads what somebody else published, and counts the lines that it leaves out: those
// that name nothing which a list may block (ParseForeign), have an end that is no date, or are there
// twice. One that is no such list is an error, and then nothing of it counts.
func ParsePublished(text []byte) (all []Block, skipped int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, 0, ErrNoList
	}
	known := make(map[Target]bool)
	for n := 0; d.More(); n++ {
		if n == MaxLines {
			return nil, 0, ErrLong
		}
		var line *Line
		if err := d.Decode(&line); err != nil || line == nil {
			return nil, 0, fmt.Errorf("line %d: %w", n+1, ErrNoList)
		}
		target, ok := ParseForeign(line.Block)
		until := line.Until.UTC()
		if !ok || known[target] || until.Year() < 1 || until.Year() > 9999 { // such a year has no form in JSON
			skipped++
			continue
		}
		known[target] = true
		all = append(all, Block{Target: target, Until: until, Reason: plainText(line.Reason)})
	}
	if _, err := d.Token(); err != nil {
		return nil, 0, ErrNoList
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, 0, ErrNoList
	}
	return all, skipped, nil
}

// ParseForeign is Parse of a line of somebody else, which may block less: nothing of this machine or
// a private network, no prefix shorter than /16, or /32 of IPv6, and no domain below which anybody
// gets a name. So a few lines do not bar everybody.
func ParseForeign(text string) (Target, bool) {
	if len(text) > maxTarget {
		return Target{}, false
	}
	t, err := Parse(text)
	if err != nil {
		return Target{}, false
	}
	switch t.kind {
	case Prefix:
		least := leastListedIPv6
		if t.prefix.Addr().Is4() {
			least = leastListedIPv4
		}
		return t, t.prefix.Bits() >= least && !hostkind.HoldsPrivate(t.prefix)
	case Domain:
		suffix, _ := publicsuffix.PublicSuffix(t.name)
		return t, suffix != t.name && hostkind.Of(t.name) == hostkind.Public
	}
	return t, true
}

// plainText is a reason on one line, without what a terminal would obey.
func plainText(s string) string {
	if len(s) > maxReason {
		s = s[:maxReason]
	}
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
