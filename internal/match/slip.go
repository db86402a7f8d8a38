package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SlipKind is what somebody may have meant that the language does not have.
type SlipKind uint8

// The slips, in the order of Slips.
const (
	SlipOperator SlipKind = iota // and, Or, not: operators are written in capitals
	SlipSymbol                   // &&, ||, !: operators are words
	SlipWildcard                 // elect*
	SlipField                    // title:x
)

// Slip is a piece of an expression that may have been meant otherwise.
type Slip struct {
	Kind  SlipKind
	Piece string // as it was written
}

// Hint says how a slip was read, and what to write instead. option is what stands
// before the name of an option there: "--" on a command line.
func (s Slip) Hint(option string) string {
	read := "as " + strings.Join(Fold(s.Piece), " ")
	switch s.Kind {
	case SlipOperator:
		return fmt.Sprintf("AND, OR and NOT are written in capitals: %q was looked for as a word", s.Piece)
	case SlipSymbol:
		return fmt.Sprintf("operators are written AND, OR, NOT and -word: %q means nothing", s.Piece)
	case SlipWildcard:
		return fmt.Sprintf("there are no wildcards: %q was looked for %s; %sstem finds other endings", s.Piece, read, option)
	default:
		hint := fmt.Sprintf("there are no fields: %q was looked for as these words", s.Piece)
		switch name, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(s.Piece, "-+")), ":"); name {
		case "provider", "site", "source", "host", "from":
			hint += "; " + option + "provider asks for one provider"
		case "theme", "topic", "category", "group":
			hint += "; " + option + "theme asks for one theme"
		case "since", "after", "date", "until", "before":
			hint += "; " + option + "since and " + option + "until say from when and until when"
		}
		return hint
	}
}

// Slips returns what of an expression may have been meant otherwise, one of a
// kind: hints for somebody whose question found nothing. All of these mean
// something, so none is an error.
func Slips(s string) []Slip {
	var found []Slip
	pieces := bare(s)
	for _, piece := range pieces {
		kind, ok := slipOf(piece, len(pieces))
		if ok && !slices.ContainsFunc(found, func(other Slip) bool { return other.Kind == kind }) {
			found = append(found, Slip{kind, strings.TrimRightFunc(piece, isQuote)})
		}
	}
	slices.SortFunc(found, func(a, b Slip) int { return int(a.Kind) - int(b.Kind) })
	return found
}

// bare lists the pieces that are not quoted. Where one ends at a quote it has
// that at its end.
func bare(s string) (pieces []string) {
	quoted := false
	for s != "" {
		end := strings.IndexFunc(s, ends)
		if end < 0 {
			end = len(s)
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		next := end + size
		if isQuote(r) {
			end = next
		}
		if piece := s[:end]; !quoted && strings.TrimFunc(piece, isQuote) != "" {
			pieces = append(pieces, piece)
		}
		quoted = quoted != isQuote(r)
		s = s[next:]
	}
	return pieces
}

func slipOf(piece string, pieces int) (SlipKind, bool) {
	switch upper := strings.ToUpper(piece); {
	case pieces > 1 && piece != upper && (upper == "AND" || upper == "OR" || upper == "NOT"):
		return SlipOperator, true
	case piece == "&&", piece == "||", piece == "|", len(piece) > 1 && piece[0] == '!':
		return SlipSymbol, true
	case strings.Contains(piece, "*") && strings.ContainsFunc(piece, isWordRune):
		return SlipWildcard, true
	}
	name, value, found := strings.Cut(strings.TrimLeft(piece, "-+"), ":")
	letters := func(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '-' }
	if found && name != "" && strings.TrimFunc(name, letters) == "" && !strings.HasPrefix(value, "//") && value != "" {
		return SlipField, true
	}
	return 0, false
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
