package fetch

import (
	"cmp"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
)

// A feed that moved for good is asked for at its new address when its origin has
// said so for long enough that it is no slip, or at once where that is the same
// address by https: it is given up where it fails, and nobody else can answer
// there. Its URL stays what it was: entries, catalogue and readers know the feed by
// that.
const (
	movedTimes  = 3
	movedFor    = 24 * time.Hour
	maxMovedURL = 2048 // bytes
)

// Asked is the address that is asked for.
func (s *State) Asked() string { return cmp.Or(s.Address, s.Named, s.URL) }

// At returns the state that goes on where the owner moved the feed to, with the
// addresses that it had before: what is known of its entries stays, and nothing
// that its former place said holds for the new one.
func (s State) At(named string, former []string) State {
	s.Former = former
	if named == s.URL {
		named = ""
	}
	if s.Named == named {
		return s
	}
	s.Named, s.Address, s.Moved, s.MovedSince, s.MovedTimes = named, "", "", time.Time{}, 0
	s.Validators, s.Source, s.MaxAge = Validators{}, "", 0
	s.NotBefore, s.Held, s.HeldOpenEnded = time.Time{}, "", false
	s.NextFetch, s.Gone, s.Failures, s.LastError, s.Unreached, s.Refused = time.Time{}, false, 0, "", false, false
	return s
}

// Upgrade is the same address by https, where it is one by http; else empty.
func Upgrade(address string) string {
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		return "https://" + withoutPort(rest, ":80")
	}
	return ""
}

// Downgrade is the same address by http, where it is one by https; else empty.
func Downgrade(address string) string {
	if rest, ok := strings.CutPrefix(address, "https://"); ok {
		return "http://" + withoutPort(rest, ":443")
	}
	return ""
}

// withoutPort takes a port off that is the scheme's own.
func withoutPort(rest, port string) string {
	host, path, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(host, port) + "/" + path
}

// follow takes in where permanent redirects led; empty: nowhere.
func (s *State) follow(to string, now time.Time) {
	switch {
	case to != "" && to == Upgrade(s.Asked()) && len(to) <= maxMovedURL:
		s.Moved, s.MovedSince, s.MovedTimes, s.Address = "", time.Time{}, 0, to
		return
	case to == "" || len(to) > maxMovedURL:
		s.Moved, s.MovedSince, s.MovedTimes = "", time.Time{}, 0
		return
	case to != s.Moved:
		s.Moved, s.MovedSince, s.MovedTimes = to, now, 1
	default:
		s.MovedTimes++
	}
	if s.MovedTimes >= movedTimes && now.Sub(s.MovedSince) >= movedFor {
		s.Moved, s.MovedSince, s.MovedTimes, s.Address = "", time.Time{}, 0, to
	}
}

// fallBack gives up a new address that fails, unless it only asks to wait: what
// was said there is not the last word. It returns what is to be made of err.
func (s *State) fallBack(err *Error) *Error {
	if s.Address == "" || err.Kind == failure.KindUnsaved || err.Kind == failure.KindTooManyRequests || err.RetryAfter > 0 {
		return err
	}
	s.Address = ""
	if err.Kind != failure.KindGone {
		return err
	}
	lost := *err
	lost.Kind = failure.KindNotFound
	return &lost
}
