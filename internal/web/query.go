package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// How long an answer may take, unless the caller says with "Prefer: wait=10".
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
)

// parameters are those that this API knows. Pages, streams and feeds let others
// pass: browsers and readers add some of their own.
var parameters = []string{"theme", "provider", "since", "until", "q", "stem", "vouched", "limit", "cursor", "updates", "lastEventId"}

// ofEntries are those that mean something to a list of entries.
var ofEntries = parameters[:9]

// parseParameters reads a query string in which none of ours stands twice.
func parseParameters(raw string) (url.Values, error) {
	v, err := url.ParseQuery(raw)
	if err != nil {
		return nil, badRequest("the query string cannot be read: %w: escape %%, ; and & in values", err)
	}
	for _, name := range parameters {
		if len(v[name]) > 1 {
			return nil, badRequest("%s is given %d times: give it once", name, len(v[name]))
		}
	}
	return v, nil
}

// onlyKnown refuses a parameter that means nothing to entries: its answer would be
// another one than was asked for, and nobody would see it.
func onlyKnown(v url.Values) error {
	name, near := unknownOf(v)
	if name == "" {
		return nil
	}
	if near != "" {
		return badRequest("the parameter %s is unknown: did you mean %s?", quote(name), near)
	}
	return badRequest("the parameter %s is unknown: use %s", quote(name), strings.Join(ofEntries, ", "))
}

// unknownOf returns the first parameter that means nothing, with the name that may
// have been meant; empty: there is none.
func unknownOf(v url.Values) (name, near string) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if slices.Contains(parameters, name) {
			continue
		}
		return name, feedring.Nearest(name, ofEntries)
	}
	return "", ""
}

// fieldOf is the field of a form that an error of parseQuery is about.
func fieldOf(err error) string {
	for _, name := range []string{"theme", "provider", "since"} {
		if strings.HasPrefix(err.Error(), name) {
			return name
		}
	}
	return "q"
}

// parseQuery reads what is asked. Ages are counted from now.
func parseQuery(v url.Values, now time.Time) (q feedring.Query, err error) {
	q = feedring.Query{Words: v.Get("q"), Limit: feedring.DefaultLimit}
	if theme := v.Get("theme"); theme != "" {
		if q.Theme, err = feedring.ParseTheme(theme); err != nil {
			return q, badRequest("%w", err)
		}
	}
	if q.Provider, err = feedring.ParseProvider(strings.TrimSpace(v.Get("provider"))); err != nil {
		return q, badRequest("%w", err)
	}
	if _, err := match.Parse(q.Words); err != nil {
		return q, badWords(err)
	}
	if q.Stem, err = parseBool(v, "stem"); err != nil {
		return q, err
	}
	if q.Vouched, err = parseBool(v, "vouched"); err != nil {
		return q, err
	}
	if q.Since, err = parseTime(v, "since", now); err != nil {
		return q, err
	}
	if q.Until, err = parseTime(v, "until", now); err != nil {
		return q, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, badRequest("until is not after since: nothing lies between")
	}
	if limit := v.Get("limit"); limit != "" {
		q.Limit, err = strconv.Atoi(limit)
		if err != nil || q.Limit < 1 || q.Limit > feedring.MaxLimit {
			return q, badRequest("limit %s: choose between 1 and %d", quote(limit), feedring.MaxLimit)
		}
	}
	return q, nil
}

func parseTime(v url.Values, name string, now time.Time) (time.Time, error) {
	text := v.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := feedring.ParseTime(text, now)
	if err != nil {
		return t, badRequest("%s: %w", name, err)
	}
	if year := t.Year(); year < 1 || year > 9999 {
		return t, badRequest("%s: %s lies outside the years that can be written", name, quote(text))
	}
	return t, nil
}

// values writes a query so that it means the same later: ages become times.
func values(q feedring.Query) url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("theme", string(q.Theme))
	set("provider", q.Provider)
	set("q", q.Words)
	if q.Stem {
		v.Set("stem", "true")
	}
	if q.Vouched {
		v.Set("vouched", "true")
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.Format(time.RFC3339))
	}
	if !q.Until.IsZero() {
		v.Set("until", q.Until.Format(time.RFC3339))
	}
	v.Set("limit", strconv.Itoa(q.Limit))
	return v
}

// waitOf is how long the caller waits for an answer (RFC 7240), less what it
// takes to send it.
func waitOf(r *http.Request) time.Duration {
	for _, preference := range list(r.Header.Values("Prefer")) {
		name, value, _ := strings.Cut(preference, "=")
		seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
		if strings.EqualFold(strings.TrimSpace(name), "wait") && err == nil && seconds > 0 && seconds < 1e6 {
			return min(time.Duration(seconds)*time.Second*9/10, maxWait)
		}
	}
	return defaultWait
}

// accepts reports whether one of a header's values is what, whatever its
// parameters, unless it is weighed 0.
func accepts(values []string, what string) bool {
	return slices.ContainsFunc(list(values), func(item string) bool {
		kind, weight, _ := strings.Cut(item, ";")
		weight = strings.ReplaceAll(weight, " ", "")
		return strings.EqualFold(strings.TrimSpace(kind), what) && weight != "q=0" && weight != "q=0.0"
	})
}

// list splits header values at their commas.
func list(values []string) []string {
	items := strings.Split(strings.Join(values, ","), ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
	}
	return items
}
