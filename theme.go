package feedring

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// MaxTheme is the longest theme, in bytes.
const MaxTheme = 32

// Theme is the canonical name of what a group is about: lower case letters,
// digits and hyphens. ParseTheme makes one from what a person wrote.
type Theme string

// Vocabulary lists the themes that everybody is expected to know: the top terms
// of the IPTC Media Topics, shortened, and "news".
var Vocabulary = []Theme{
	"arts", "conflict", "crime", "disaster", "economy", "education", "environment", "health",
	"human-interest", "labour", "lifestyle", "news", "politics", "religion", "science", "society",
	"sport", "technology", "weather",
}

var aliases = map[string]Theme{
	"art": "arts", "culture": "arts", "entertainment": "arts", "music": "arts", "film": "arts", "movies": "arts",
	"war": "conflict", "conflicts": "conflict", "defence": "conflict", "defense": "conflict",
	"justice": "crime", "law": "crime",
	"accident": "disaster", "disasters": "disaster", "emergency": "disaster",
	"business": "economy", "finance": "economy", "money": "economy", "markets": "economy",
	"school": "education", "schools": "education", "teaching": "education",
	"climate": "environment", "nature": "environment", "ecology": "environment",
	"medicine": "health", "medical": "health",
	"people": "human-interest", "oddities": "human-interest",
	"labor": "labour", "jobs": "labour", "work": "labour",
	"life": "lifestyle", "leisure": "lifestyle", "travel": "lifestyle", "food": "lifestyle",
	"general": "news", "headlines": "news", "world": "news",
	"government": "politics", "policy": "politics",
	"faith": "religion", "belief": "religion", "religions": "religion",
	"sciences": "science", "research": "science",
	"social": "society",
	"sports": "sport", "football": "sport",
	"tech": "technology", "it": "technology", "computing": "technology", "programming": "technology",
	"meteo": "weather", "forecast": "weather",
}

// ParseTheme returns the canonical theme for what a person wrote, aliases
// resolved. The error says which rule was broken.
func ParseTheme(s string) (Theme, error) {
	theme, err := parseTheme(s)
	if theme.IsFleet() {
		return "", fmt.Errorf("theme %q is the name of a fleet: fleets publish nothing, so no feed has one, and nobody reads it", theme)
	}
	return theme, err
}

// Canonical reports whether t is a theme as ParseTheme returns it, or that of a fleet.
func (t Theme) Canonical() bool {
	clean, err := parseTheme(string(t))
	return err == nil && clean == t
}

func parseTheme(s string) (Theme, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	switch {
	case name == "":
		return "", fmt.Errorf("theme is empty: it has a name such as %q", "news")
	case len(name) > MaxTheme:
		return "", fmt.Errorf("theme %q has %d characters: at most %d are allowed", clip(name), len(name), MaxTheme)
	}
	for i, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return "", fmt.Errorf("theme %q has %q at place %d: only letters a-z, digits and hyphens are allowed", clip(name), r, i+1)
		}
	}
	if canonical, ok := aliases[name]; ok {
		return canonical, nil
	}
	return Theme(name), nil
}

// Aliases lists the other names of t, sorted.
func (t Theme) Aliases() (names []string) {
	for name, theme := range aliases {
		if theme == t {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fleetPrefix and fleetDigits make the themes of fleets, which no feed has.
const (
	fleetPrefix = "fleet-"
	fleetDigits = 16
)

// FleetTheme is the theme of the group that the peers of one fleet are in: it is named by
// the first half of the hash of the fleet's key.
func FleetTheme(hash [8]byte) Theme { return Theme(fleetPrefix + hex.EncodeToString(hash[:])) }

// IsFleet reports whether t is such a theme. Their groups are closed to peers that are not
// in the fleet, publish no feed, and are shown to nobody.
func (t Theme) IsFleet() bool {
	digits, ok := strings.CutPrefix(string(t), fleetPrefix)
	return ok && len(digits) == fleetDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// Known reports whether t is in the Vocabulary.
func (t Theme) Known() bool { return slices.Contains(Vocabulary, t) }

// Nearest returns the one of names that is closest to asked by edit distance,
// or "" if none is within a third of its length (at least two edits).
func Nearest(asked string, names []string) string {
	best, limit := "", max(2, len(asked)/3)
	for _, name := range names {
		if d := editDistance(asked, name, limit); d <= limit && (best == "" || d < limit) {
			best, limit = name, d
		}
	}
	return best
}

// editDistance is Levenshtein's, or more than limit as soon as that is certain.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := previous
			if a[i] != b[j] {
				cost = 1 + min(previous, row[j], row[j+1])
			}
			previous, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
