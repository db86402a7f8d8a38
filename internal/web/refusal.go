package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Kind is what an error of the Backend means to a caller by HTTP.
type Kind struct {
	name   string
	status int
	advice string // behind each error of the kind
}

// Error implements error.
func (k *Kind) Error() string { return k.name }

// Of returns err as an error of this kind: err says what is wrong, the kind perhaps
// what to do.
func (k *Kind) Of(err error) error { return &ofKind{err, k} }

type ofKind struct {
	error
	kind *Kind
}

// Error implements error.
func (e *ofKind) Error() string { return e.error.Error() + e.kind.advice }

func (e *ofKind) Unwrap() []error { return []error{e.error, e.kind} }

// Any other error of a change means a conflict with what is there, and any other
// error of a question that the answer may be there later.
var (
	ErrUnknown   = &Kind{name: "unknown", status: http.StatusNotFound}
	ErrMalformed = &Kind{name: "malformed", status: http.StatusBadRequest}
	ErrNoFeed    = &Kind{name: "no feed", status: http.StatusUnprocessableEntity}  // an address leads to none
	ErrOrigin    = &Kind{name: "the origin failed", status: http.StatusBadGateway} // it did not give its feed
	ErrLate      = &Kind{name: "late", status: http.StatusGatewayTimeout}          // what was asked for goes on
	ErrLoop      = &Kind{"a loop", http.StatusLoopDetected, loopAdvice}            // this peer made the request itself
	ErrFull      = &Kind{"no room", http.StatusInsufficientStorage, ": make room on its disk"}
	ErrOptedOut  = &Kind{name: "opted out", status: http.StatusConflict}           // a publisher does not want to be mirrored
	ErrUnsaved   = &Kind{name: "not kept", status: http.StatusInternalServerError} // for another reason
)

// What follows are the errors of the Backend that tell a person what to do. The
// Backend gives the facts.

// UnknownFeedError is for an address that none of the peer's feeds has.
type UnknownFeedError struct{ URL string }

// Unwrap returns its Kind.
func (e *UnknownFeedError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownFeedError) Error() string { return e.URL + " is not one of this peer's feeds" }

// UnknownThemeError is for a theme without a group. Near is a similar one; empty:
// none.
type UnknownThemeError struct {
	Theme feedring.Theme
	Near  string
}

// Unwrap returns its Kind.
func (e *UnknownThemeError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownThemeError) Error() string {
	text := "no group publishes " + string(e.Theme)
	if e.Near != "" {
		text += " (did you mean " + e.Near + "?)"
	}
	return text
}

// SilentGroupError is for a group of which nobody answers.
type SilentGroupError struct{ Theme feedring.Theme }

// Error implements error.
func (e *SilentGroupError) Error() string {
	return fmt.Sprintf("no peer of %s answers: try again in a moment", e.Theme)
}

// UnknownEntryError is for an entry that is to be retracted by its id or address,
// and is of none of this peer's feeds.
type UnknownEntryError struct {
	ID          feedring.EntryID // empty: it was named by URL
	URL         string
	PublishedBy []feedring.PeerID
}

// Unwrap returns its Kind.
func (e *UnknownEntryError) Unwrap() error { return ErrUnknown }

// Error implements error.
func (e *UnknownEntryError) Error() string {
	text := fmt.Sprintf("entry %s is of none of this peer's feeds", e.ID)
	if e.ID == "" {
		text = fmt.Sprintf("no entry of this peer's feeds has the address %s, exactly as its feed tells it", e.URL)
	}
	for i, id := range e.PublishedBy {
		before := " and "
		if i == 0 {
			before = " ("
		}
		text += before + string(id)
	}
	if len(e.PublishedBy) > 0 {
		text += " published it)"
	}
	return text + ": only its own publisher can take an entry back, with its key"
}

// RetractError is for an entry whose feed is published no more, or, without Feed,
// one that the group gave no position in time.
type RetractError struct {
	ID   feedring.EntryID
	Feed string
}

// Unwrap returns its Kind.
func (e *RetractError) Unwrap() error {
	if e.Feed == "" {
		return ErrLate
	}
	return nil
}

// Error implements error.
func (e *RetractError) Error() string {
	if e.Feed == "" {
		return fmt.Sprintf("%s was not taken back: its group took too long: try again", e.ID)
	}
	return fmt.Sprintf("%s is of %s, which this peer does not publish any more: add that feed again, so that others hear of it, then retract", e.ID, e.Feed)
}

// FixedError is for what was given to serve by a flag, and is to be removed.
type FixedError struct{ Name, Flag string }

// Error implements error.
func (e *FixedError) Error() string {
	return fmt.Sprintf("%s was given to serve by --%s, FEEDRING_%s or the configuration file, and would be back at the next start: take it out there and start again",
		e.Name, e.Flag, strings.ToUpper(e.Flag))
}

// CarriedError is for a feed that the peer carries for others, and is to be removed.
type CarriedError struct{ URL string }

// Error implements error.
func (e *CarriedError) Error() string {
	return e.URL + " is carried for others, since nobody offers it at present: that ends by itself, after a week at most. " +
		"With serve --volunteer=false this peer carries nothing"
}

// KnownFeedError is for a feed that is there already with another theme, provider
// or share.
type KnownFeedError struct{ Known, Requested feedring.FeedSpec }

// Error implements error.
func (e *KnownFeedError) Error() string {
	if e.Known.Theme == e.Requested.Theme && e.Known.Provider == e.Requested.Provider && e.Known.Weight != e.Requested.Weight && e.Known.Share == e.Requested.Share {
		return e.Requested.URL + " is a feed of the peer's configuration: write its weight there, in its [[feeds]] table, and start the peer again"
	}
	text := fmt.Sprintf("is already published in %s as %s", e.Known.Theme, e.Known.Provider)
	switch {
	case e.Known.Theme == "":
		text = "is already kept in private as " + string(e.Known.Provider)
	case e.Known.Theme == e.Requested.Theme && e.Known.Share != e.Requested.Share:
		text = fmt.Sprintf("is already published in %s, and shares %s", e.Known.Theme, cmp.Or(e.Known.Share, "what this peer shares"))
	}
	return e.Requested.URL + " " + text + ": remove it first"
}

// LimitError is for one more than the Most that a peer keeps of something.
type LimitError struct {
	Of   Limited
	Most int
}

// Limited is what a peer keeps a number of.
type Limited int

// What LimitError tells of.
const (
	PublicFeeds Limited = iota
	PrivateFeeds
	JoinTargets
	Subscriptions
	BlockTargets
	BlockKiB
	BlockLists
	UserFeeds
	UserScans
)

// Error implements error.
func (e *LimitError) Error() string {
	switch e.Of {
	case PublicFeeds:
		return fmt.Sprintf("this peer publishes %d feeds already: run another peer for more", e.Most)
	case PrivateFeeds:
		return fmt.Sprintf("this peer keeps %d private feeds already: run another peer for more", e.Most)
	case Subscriptions:
		return fmt.Sprintf("this peer keeps %d subscriptions already: remove one, or subscribe at another peer", e.Most)
	case UserFeeds:
		return fmt.Sprintf("you may have %d personal feeds, and have them: revoke one first", e.Most)
	case UserScans:
		return fmt.Sprintf("you may have %d personal feeds whose words no index finds, such as those of exclusions alone, and have them: name a word that entries must have", e.Most)
	case BlockLists:
		return fmt.Sprintf("this peer follows %d block lists already: unfollow one first, \"feedring block list\" shows them", e.Most)
	case BlockKiB:
		return fmt.Sprintf("this peer's blocks and their reasons take %d KiB already, or the exceptions to lists do: give a shorter reason or none, or take some back first, \"feedring block list\" shows them", e.Most)
	case BlockTargets:
		return fmt.Sprintf("this peer blocks %d targets already: take some back first, \"feedring block list\" shows them", e.Most)
	default:
		return fmt.Sprintf("this peer joins through %d more places than serve was given: remove one first, \"feedring join --list\" shows them", e.Most)
	}
}

// NoFileError is for a feed that is to be read from what is no file.
type NoFileError struct {
	URL, Path string
	Folder    bool
}

// Error implements error.
func (e *NoFileError) Error() string {
	if e.Folder {
		return fmt.Sprintf("%s was not added: %s is a folder: name the feed's file in it", e.URL, e.Path)
	}
	return fmt.Sprintf("%s was not added: %s is no regular file: name one that holds the feed", e.URL, e.Path)
}

// PrivateAddressError is for a feed at an address that this peer does not fetch.
// From is the feed that was to move there; empty: it was to be added.
type PrivateAddressError struct{ From, URL, Host string }

// Error implements error.
func (e *PrivateAddressError) Error() string {
	text := e.URL + " was not added: " + e.Host
	if e.From != "" {
		text = e.From + " was not moved: " + e.URL
	}
	return text + " is at a loopback or private address, which this peer fetches only when it is started with --allow-private-feeds"
}

// MoveError is for a feed that cannot move to an address: another feed has it, or,
// with a Reason, no feed is there.
type MoveError struct{ From, To, Reason string }

// Unwrap returns its Kind.
func (e *MoveError) Unwrap() error {
	if e.Reason == "" {
		return nil
	}
	return ErrNoFeed
}

// Error implements error.
func (e *MoveError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s was not moved: %s is a feed of this peer's already: remove that first, or leave both as they are", e.From, e.To)
	}
	return fmt.Sprintf("%s was not moved: %s: %s: give the address of the feed itself, or --force where it will be there", e.From, e.To, e.Reason)
}

// OptedOutError is for a feed that does not want to be mirrored.
type OptedOutError struct {
	URL    string
	Site   string // whose document says so; empty: the feed itself does
	Adding bool   // it was to be added; else it is there, and is not published
}

// Unwrap returns its Kind.
func (e *OptedOutError) Unwrap() error { return ErrOptedOut }

// Error implements error.
func (e *OptedOutError) Error() string {
	text, by := "this peer does not publish it", "the feed itself"
	if e.Adding {
		text = e.URL + " was not added"
	}
	if e.Site != "" {
		by = e.Site
	}
	text += ": its publisher does not want it mirrored, as " + by + " says: add it without --theme to read it in private"
	if !e.Adding {
		text = text + ", after \"feedring feed remove\""
	}
	return text + "; if the site is yours, have it name this peer: see \"feedring vouch\""
}

// NotFeedError is for an address that leads to no feed.
type NotFeedError struct {
	URL    string
	Reason string // what is there instead, in some words
	Page   bool   // a page of HTML, which names no feed either
}

// Error implements error.
func (e *NotFeedError) Error() string {
	todo := "correct the address"
	if e.Page {
		todo = "give the address of the feed itself, which sites show as \"RSS\" or \"Atom\""
	}
	return fmt.Sprintf("%s was not added: %s: %s", e.URL, e.Reason, todo)
}

// SeveralFeeds is for a page that names several feeds.
type SeveralFeeds struct {
	Page  string
	Feeds []NamedFeed
}

// NamedFeed is a feed as a page names it.
type NamedFeed struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// Error implements error.
func (e *SeveralFeeds) Error() string {
	text := fmt.Sprintf("%s names %d feeds: add the one that is meant:", e.Page, len(e.Feeds))
	for i, f := range e.Feeds {
		if i > 0 {
			text += ","
		}
		text += " " + f.URL
		if f.Title != "" {
			text += fmt.Sprintf(" (%s)", f.Title)
		}
	}
	return text
}

// OriginError is for a fetch of a feed that failed.
type OriginError struct {
	URL, Reason string
	Next        time.Time // of the next fetch; zero: none will be
}

// Unwrap returns its Kind.
func (e *OriginError) Unwrap() error { return ErrOrigin }

// Error implements error.
func (e *OriginError) Error() string {
	text := e.URL + ": " + e.Reason
	if !e.Next.IsZero() {
		text += " (it is asked again at " + e.Next.Format(time.RFC3339) + ")"
	}
	return text
}

// LateError is for a fetch of a feed that goes on.
type LateError struct {
	URL   string
	Since time.Duration // how long the origin has not answered; 0: it was not asked yet
	Held  error         // why its host is not asked now; nil: it may be
	Host  string
	Ahead int // requests to Host that come first
}

// Unwrap returns its Kind.
func (e *LateError) Unwrap() error { return ErrLate }

// Error implements error.
func (e *LateError) Error() string {
	why, then := "this peer has as many fetches under way as it may", "it is fetched all the same"
	switch {
	case e.Since > 0:
		why = fmt.Sprintf("the origin has not answered yet, after %s", e.Since.Round(time.Second))
	case e.Held != nil:
		why, then = e.Held.Error(), "it is fetched then"
	case e.Ahead == 1:
		why = fmt.Sprintf("it waits behind another request to %s, which has not answered it yet", e.Host)
	case e.Ahead > 1:
		why = fmt.Sprintf("it waits behind %d other requests to %s, which has not answered them yet", e.Ahead, e.Host)
	}
	return e.URL + ": " + why + ": " + then + `, and "feedring status" tells how that ends; or wait longer: --timeout, or by HTTP "Prefer: wait=SECONDS"`
}
