package feedring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTimeText bounds what is looked at, in bytes.
const maxTimeText = 64

// ParseTime reads a time as people write it, in the time zone of now:
//
//   - RFC 3339, which names its own zone;
//   - a day: "2006-01-02", "02/01/2006" (the day comes first), "today",
//     "yesterday"; alone it is its midnight;
//   - a day and a time: "2006-01-02 15:04", "2/1/2006 8h", "yesterday 21:00";
//   - a time, "21:00" or "21:00:30": the last time that it was that late;
//   - an age before now: "36h", "7d", "2 days", "3 weeks ago"; or "now".
//
// The result is in UTC, in the years 1 to 9999.
func ParseTime(s string, now time.Time) (time.Time, error) {
	t, err := parseTime(s, now)
	if t = t.UTC(); err == nil && (t.Year() < 1 || t.Year() > 9999) {
		return time.Time{}, noTime(s)
	}
	return t, err
}

func parseTime(s string, now time.Time) (time.Time, error) {
	text := strings.ToLower(strings.Join(strings.Fields(s), " "))
	if len(text) > maxTimeText {
		return time.Time{}, noTime(s)
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return t, nil
	}
	if text == "now" {
		return now, nil
	}
	if t, ok, err := parseMoment(text, now); ok || err != nil {
		return t, err
	}
	t, ok := parseAge(text, now)
	switch {
	case !ok:
		return time.Time{}, noTime(s)
	case !t.Before(now):
		return time.Time{}, fmt.Errorf("%q is an age of nothing: everything is asked for without it, less with a date, or an age such as 36h", clip(s))
	}
	return t, nil
}

func noTime(s string) error {
	return fmt.Errorf("%q is no time, which is 2006-01-02, 02/01/2006 (the day first), 2006-01-02 15:04, today, 21:00, or an age such as 36h or 7d", clip(s))
}

// parseMoment reads a day, a time of day, or both. It is not ok where text is
// something else.
func parseMoment(text string, now time.Time) (t time.Time, ok bool, err error) {
	if len(text) > 10 && text[10] == 't' {
		text = text[:10] + " " + text[11:]
	}
	fields := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return word == "at" })
	if len(fields) == 0 || len(fields) > 2 {
		return t, false, nil
	}
	if d, ok := parseClock(fields[0]); ok && len(fields) == 1 && strings.Contains(text, ":") {
		y, month, day := now.Date()
		if t = d.on(y, month, day, now); t.After(now) {
			t = d.on(y, month, day-1, now)
		}
		return t, true, nil
	}
	y, month, day, ok, err := parseDay(fields[0], now)
	if !ok || err != nil {
		return t, false, err
	}
	var of clock
	if len(fields) == 2 {
		if of, ok = parseClock(fields[1]); !ok {
			return t, false, nil
		}
	}
	return of.on(y, month, day, now), true, nil
}

// parseDay reads a date, or a word for one.
func parseDay(s string, now time.Time) (y int, month time.Month, day int, ok bool, err error) {
	y, month, day = now.Date()
	switch s {
	case "today":
		return y, month, day, true, nil
	case "yesterday":
		return y, month, day - 1, true, nil
	}
	separator := strings.IndexAny(s, "-/.")
	if separator < 0 {
		return 0, 0, 0, false, nil
	}
	parts := strings.Split(s, s[separator:separator+1])
	if len(parts) == 3 && len(parts[0]) == 4 {
		parts[0], parts[2] = parts[2], parts[0]
	}
	if len(parts) != 3 || len(parts[2]) != 4 {
		return 0, 0, 0, false, nil
	}
	var numbers [3]int
	for i, part := range parts {
		if numbers[i], ok = number(part, 4); !ok || i < 2 && len(part) > 2 {
			return 0, 0, 0, false, nil
		}
	}
	day, month, y = numbers[0], time.Month(numbers[1]), numbers[2]
	if month > 12 && day <= 12 && separator <= 2 {
		return 0, 0, 0, false, fmt.Errorf("%q has no month %d: the day comes first, as in %02d/%02d/%d, or write %d-%02d-%02d", s, month, month, day, y, y, day, month)
	}
	real := time.Date(y, month, day, 0, 0, 0, 0, time.UTC)
	return y, month, day, y > 0 && real.Day() == day && real.Month() == month, nil
}

// number reads a number without a sign, of at most so many digits.
func number(s string, digits int) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) <= digits && s[0] >= '0' && s[0] <= '9'
}

// clock is a time of day.
type clock struct{ hour, minute, second int }

func (c clock) on(y int, month time.Month, day int, now time.Time) time.Time {
	return time.Date(y, month, day, c.hour, c.minute, c.second, 0, now.Location())
}

// parseClock reads 21:00, 21:00:30, 8h and 8h30.
func parseClock(s string) (c clock, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) == 1 {
		hour, minute, found := strings.Cut(s, "h")
		if parts = []string{hour, minute}; !found {
			return c, false
		}
		if minute == "" {
			parts[1] = "0"
		}
	}
	if len(parts) > 3 {
		return c, false
	}
	for i, to := range []*int{&c.hour, &c.minute, &c.second}[:len(parts)] {
		if *to, ok = number(parts[i], 2); !ok {
			return c, false
		}
	}
	return c, c.hour < 24 && c.minute < 60 && c.second < 60
}

// ages are the units of an age beside those of ParseDuration.
var ages = map[string]string{
	"second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "day": "d", "week": "w", "month": "", "year": "",
}

// parseAge goes back from now by an age.
func parseAge(text string, now time.Time) (time.Time, bool) {
	fields := strings.Fields(strings.TrimSuffix(text, " ago"))
	for i := 0; i < len(fields); i++ {
		if d, err := ParseDuration(fields[i]); err == nil && fields[i] != "0" {
			now = now.Add(-d)
			continue
		}
		n, ok := number(fields[i], 5)
		if !ok || i+1 == len(fields) {
			return now, fields[i] == "0" && len(fields) == 1
		}
		i++
		word := strings.TrimSuffix(fields[i], "s")
		switch unit, known := ages[word]; {
		case word == "month":
			now = now.AddDate(0, -n, 0)
		case word == "year":
			now = now.AddDate(-n, 0, 0)
		case !known && len(word) != 1:
			return now, false
		default:
			d, err := ParseDuration(strconv.Itoa(n) + or(unit, word))
			if err != nil {
				return now, false
			}
			now = now.Add(-d)
		}
	}
	return now, len(fields) > 0
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
