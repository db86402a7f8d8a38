package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// What the Backend refuses has a status, and says what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	own := feedring.FeedSpec{URL: "https://a.example/", Theme: "news", Provider: "a"}
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{&UnknownFeedError{"https://a.example/"}, 404, "https://a.example/ is not one of this peer's feeds"},
		{&UnknownThemeError{"nws", "news"}, 404, "no group publishes nws (did you mean news?)"},
		{&UnknownEntryError{ID: "e", PublishedBy: []feedring.PeerID{"p", "q"}}, 404, "entry e is of none of this peer's feeds (p and q published it): only"},
		{&UnknownEntryError{URL: "u"}, 404, "has the address u, exactly as its feed tells it: only"},
		{&UnknownJoinError{"a.example"}, 404, "does not join through a.example"},
		{&RetractError{ID: "e"}, 504, "took too long: try again"},
		{&RetractError{ID: "e", Feed: "f"}, 409, "add that feed again"},
		{&CarriedError{"https://a.example/"}, 409, "is carried for others"},
		{&FixedError{"a.example", "join"}, 409, "by --join, FEEDRING_JOIN or the configuration file"},
		{&KnownFeedError{own, own}, 409, "is already published in news as a: remove it first"},
		{&KnownFeedError{feedring.FeedSpec{Provider: "a"}, own}, 409, "is already kept in private as a: remove it first"},
		{&KnownFeedError{own, feedring.FeedSpec{Theme: "news", Share: "titles"}}, 409, "shares what this peer shares: remove it first"},
		{&LimitError{JoinTargets, 3}, 409, "3 more places than serve was given"},
		{&PrivateAddressError{URL: "u", Host: "h"}, 409, "u was not added: h is at a loopback"},
		{&PrivateAddressError{From: "f", URL: "u"}, 409, "f was not moved: u is at a loopback"},
		{&MoveError{From: "f", To: "u"}, 409, "remove that first"},
		{&MoveError{From: "f", To: "u", Reason: "it is a picture"}, 422, "u: it is a picture: give the address of the feed itself"},
		{&OriginError{URL: "u", Reason: "404", Next: time.Unix(0, 0).UTC()}, 502, "u: 404 (it is asked again at 1970-01-01T00:00:00Z)"},
		{&LateError{URL: "u", Since: 2 * time.Second}, 504, "u: the origin has not answered yet, after 2s: it is fetched all the same, and"},
		{&LateError{URL: "u", Host: "h", Ahead: 2}, 504, "behind 2 other requests to h"},
		{&LateError{URL: "u", Held: errors.New("it is held")}, 504, "u: it is held: it is fetched then, and"},
		{ErrFull.Of(errors.New("it was not added")), http.StatusInsufficientStorage, "it was not added: make room on its disk"},
		{ErrLoop.Of(errors.New("it asks itself")), http.StatusLoopDetected, "it asks itself, so have it answer"},
		{&LimitError{BlockKiB, 3}, 409, "take 3 KiB already"},
		{&LimitError{Subscriptions, 3}, 409, "3 subscriptions already: remove one"},
		{&UnreachedError{Why: PeerBusy}, 409, "it takes no more connections now"},
		{&NotNamedError{}, 409, "no longer names it: run another peer"},
		{&NoFileError{URL: "u", Path: "/d", Folder: true}, 409, "/d is a folder: name the feed's file in it"},
	} {
		p := problemOf(refused(fmt.Errorf("context: %w", test.err)))
		if p.Status != test.status || !strings.Contains(p.Detail, test.says) {
			t.Errorf("%T: %d %s", test.err, p.Status, p.Detail)
		}
	}
}
