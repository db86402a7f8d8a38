package fleetfeeds

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
)

// Whichever peer is asked, a user has the same feeds, and others have none of them.
func TestAnyPeerKnowsAUsersFeeds(t *testing.T) {
	all := newPeers(t, 3)
	_, key, user := inviteAndJoin(t, all[0], all[1], 5, 1)
	_, _, other := inviteAndJoin(t, all[1], all[2], 5, 1)
	sub, err := all[2].Subscribe(t.Context(), user, feedring.Query{Theme: "news", Words: "gaz"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		has, _, err := p.Subscriptions(t.Context(), user, "")
		if err != nil || len(has) != 1 || has[0].Secret != sub.Secret || !has[0].Stem || has[0].Query.Words != "gaz" {
			t.Errorf("%s: %v, %v", p.self, has, err)
		}
		for _, who := range []string{other, ""} {
			if has, _, err := p.Subscriptions(t.Context(), who, ""); err != nil || len(has) != 0 {
				t.Errorf("%s shows it to %q: %v, %v", p.self, who, has, err)
			}
			if err := p.Unsubscribe(t.Context(), who, sub.ID); !errors.Is(err, web.ErrUnknown) {
				t.Errorf("%s: %q revokes it: %v", p.self, who, err)
			}
		}
		if code, body, err := p.poll(sub.Secret); err != nil || code != http.StatusOK || body == "" {
			t.Errorf("%s: %d %q %v", p.self, code, body, err)
		}
	}
	made, err := all[0].Subscribe(t.Context(), "", feedring.Query{Theme: "news"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if has, _, err := all[1].Subscriptions(t.Context(), "", ""); err != nil || len(has) != 1 || has[0].ID != made.ID {
		t.Errorf("the owner has %v, %v", has, err)
	}
	if sub, err := all[0].Subscribe(t.Context(), "", feedring.Query{}, false); err != nil || sub.ID != "own" {
		t.Errorf("a feed that may show private entries is given to the fleet: %v, %v", sub, err)
	}
	status, err := all[2].Fleet(t.Context())
	if err != nil || status.Users != 2 || status.Feeds != 2 || len(status.Peers) != 3 || status.Capacity != 300_000 || status.Silent != 0 || status.Peers[1].Memory != 1<<20 || status.Peers[1].MemoryLimit != 1<<30 {
		t.Errorf("%+v, %v", status, err)
	}
	users, err := all[1].Users(t.Context())
	if err != nil || len(users) != 2 || users[0].Feeds+users[1].Feeds != 1 || users[0].Note != "note" {
		t.Errorf("%+v, %v", users, err)
	}

	if err := all[1].RevokeUser(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if _, err := p.User(t.Context(), key); !errors.Is(err, web.ErrUnknown) {
			t.Errorf("%s: the key of a revoked user: %v", p.self, err)
		}
		if _, err := p.Subscribe(t.Context(), user, feedring.Query{Theme: "news"}, false); !errors.Is(err, web.ErrUnknown) {
			t.Errorf("%s: a revoked user subscribes: %v", p.self, err)
		}
		if code, _, err := p.poll(sub.Secret); err != nil || code != http.StatusNotFound {
			t.Errorf("%s: a revoked user's feed: %d, %v", p.self, code, err)
		}
	}
}

// Asked at once at all peers, an invitation makes no more users, and a user has no more
// feeds, than was said.
func TestAskedAtOnceNobodyGetsMore(t *testing.T) {
	all := newPeers(t, 3)
	code, _, user := inviteAndJoin(t, all[0], all[1], 3, 5)
	var mu sync.Mutex
	var asked sync.WaitGroup
	users, feeds := 1, 0
	for i := range 20 {
		p := all[i%len(all)]
		asked.Go(func() {
			_, err := p.Join(t.Context(), code)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				users++
			} else if !errors.Is(err, web.ErrUnknown) {
				t.Error(err)
			}
		})
		asked.Go(func() {
			_, err := p.Subscribe(t.Context(), user, feedring.Query{Theme: "news", Words: fmt.Sprint("gaz", i)}, false)
			mu.Lock()
			defer mu.Unlock()
			var limit *web.LimitError
			if err == nil {
				feeds++
			} else if !errors.As(err, &limit) || limit.Of != web.UserFeeds || limit.Most != 3 {
				t.Error(err)
			}
		})
	}
	asked.Wait()
	if users != 5 || feeds != 3 {
		t.Errorf("%d users of an invitation for 5, and %d feeds of a quota of 3", users, feeds)
	}
	left, err := all[2].UserInvitations(t.Context())
	if err != nil || len(left) != 1 || left[0].Used != 5 || left[0].Code != "" {
		t.Errorf("%+v, %v", left, err)
	}
}

// A user may have two feeds that every entry has to be held against.
func TestAUserHasFewFeedsThatNoIndexFinds(t *testing.T) {
	p := newPeers(t, 2)[0]
	_, _, user := inviteAndJoin(t, p, p, 10, 1)
	for i, words := range []string{"NOT gaz", "NOT (solar OR gaz)", "gaz NOT solar", "", "NOT vent"} {
		_, err := p.Subscribe(t.Context(), user, feedring.Query{Theme: "news", Words: words}, false)
		var limit *web.LimitError
		if refused := errors.As(err, &limit) && limit.Of == web.UserScans; refused != (i == 4) || !refused && err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// What one peer may hold that is away is not said to be nowhere.
func TestNobodySaysThatAFeedIsGoneWhileAHolderIsAway(t *testing.T) {
	all := newPeers(t, 2)
	sub, err := all[0].Subscribe(t.Context(), "", feedring.Query{Theme: "news"}, false)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := fleet.IDOf(sub.Secret)
	serves := all[0].cfg.Keeper.Places().Serves(id.Slot())
	keeps := all[0]
	if serves == keeps.self {
		keeps = all[1]
	}
	nothing, _ := newSecret(id.Slot())
	if code, _, err := keeps.poll(nothing); err != nil || code != http.StatusNotFound {
		t.Errorf("a secret of nobody: %d, %v", code, err)
	}
	if code, body, err := keeps.poll(sub.Secret); err != nil || code != http.StatusOK || body != "from "+string(serves)+" at https://feeds.example" {
		t.Errorf("%d %q %v", code, body, err)
	}
	keeps.of.end(serves)
	if code, body, err := keeps.poll(sub.Secret); err != nil || code != http.StatusOK || body != "from "+string(keeps.self) {
		t.Errorf("the second holder does not stand in: %d %q %v", code, body, err)
	}
	if _, _, err := keeps.poll(nothing); !errors.As(err, new(*web.AwayError)) {
		t.Errorf("of a secret that the peer that is away may know: %v", err)
	}
	if code, _, err := keeps.poll("nosecret"); err != nil || code != http.StatusNotFound {
		t.Errorf("what is no secret: %d, %v", code, err)
	}
}

// Lists of all peers, and the fleet's sums, say what they lack while a peer does not answer
// and while both holders of a part are away.
func TestListsSayWhatTheyLack(t *testing.T) {
	all := newPeers(t, 3)
	one := all[0]
	whole := func() (silent []feedring.PeerID) {
		_, err := one.Users(t.Context())
		_, invited := one.UserInvitations(t.Context())
		_, _, listed := one.Subscriptions(t.Context(), "", "")
		var users, invitations, feeds *web.SilentError
		errors.As(err, &users)
		errors.As(invited, &invitations)
		errors.As(listed, &feeds)
		if !reflect.DeepEqual(users, invitations) || !reflect.DeepEqual(users, feeds) || err != nil && users == nil {
			t.Fatalf("users: %v; invitations: %v; feeds: %v", err, invited, listed)
		}
		if users != nil {
			silent = users.Peers
		}
		return silent
	}
	end := func(peer feedring.PeerID) {
		one.of.end(peer)
		one.rows.Changed()
		for start := time.Now(); one.cfg.Keeper.Places().Present(peer); time.Sleep(time.Millisecond) {
			if time.Since(start) > time.Minute {
				t.Fatalf("%s is not taken to be away", peer)
			}
		}
	}
	if silent := whole(); silent != nil {
		t.Errorf("of a whole list: %v", silent)
	}
	end(all[1].self)
	if status, err := one.Fleet(t.Context()); err != nil || status.Unserved != 0 {
		t.Errorf("%+v, %v", status, err)
	}
	if silent := whole(); silent != nil {
		t.Errorf("the seconds stand in: %v", silent)
	}
	end(all[2].self)
	if silent := whole(); !slices.Equal(silent, []feedring.PeerID{all[1].self, all[2].self}) {
		t.Errorf("both holders of a part are away: %v", silent)
	}
	if status, err := one.Fleet(t.Context()); err != nil || status.Unserved == 0 || status.Unserved >= fleet.Slots/2 {
		t.Errorf("%d parts, %v", status.Unserved, err)
	}
}

// The owner is shown the feeds of the peers that answer, and told of the one that does not.
func TestTheOwnersFeedsAreListedWhileAPeerIsSilent(t *testing.T) {
	all := newPeers(t, 3)
	one, mute := all[0], all[1]
	there := map[string]bool{} // that others serve
	const feeds = 30
	for range feeds {
		sub, err := one.Subscribe(t.Context(), "", feedring.Query{Theme: "news"}, false)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := fleet.IDOf(sub.Secret)
		if one.cfg.Keeper.Places().Serves(id.Slot()) != mute.self {
			there[sub.ID] = true
		}
	}
	if len(there) == 0 || len(there) == feeds {
		t.Fatalf("one peer serves all feeds: %d", len(there))
	}
	one.of.mu.Lock()
	one.of.mute = mute.self
	one.of.mu.Unlock()
	has, _, err := one.Subscriptions(t.Context(), "", "")
	var silent *web.SilentError
	if !errors.As(err, &silent) || !slices.Equal(silent.Peers, []feedring.PeerID{mute.self}) {
		t.Errorf("who did not answer: %v", err)
	}
	if len(has) != len(there) || slices.ContainsFunc(has, func(s web.Subscription) bool { return !there[s.ID] }) {
		t.Errorf("%d feeds, where peers that answer serve %d", len(has), len(there))
	}
}

// A long list of the owner's feeds comes in pages that have each feed once, also where one
// peer is of a version that knows no pages. A short one is whole, the oldest first.
func TestTheOwnersFeedsComeInPages(t *testing.T) {
	for _, old := range []feedring.PeerID{"", "peer2"} {
		all := newPeers(t, 3)
		one := all[0]
		one.of.old = old
		made := map[string]bool{}
		const feeds = 40
		for range feeds {
			sub, err := one.Subscribe(t.Context(), "", feedring.Query{Theme: "news"}, false)
			if err != nil {
				t.Fatal(err)
			}
			made[sub.ID] = true
		}
		_, _, user := inviteAndJoin(t, one, one, 5, 1)
		if _, err := one.Subscribe(t.Context(), user, feedring.Query{Theme: "news"}, false); err != nil {
			t.Fatal(err)
		}
		whole, next, err := one.Subscriptions(t.Context(), "", "")
		byAge := func(a, b web.Subscription) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) }
		if len(whole) != feeds || next != "" || err != nil || !slices.IsSortedFunc(whole, byAge) {
			t.Errorf("%d feeds, then %q, %v", len(whole), next, err)
		}
		one.page = 3
		var shown []string
		pages := 0
		for after, more := "", true; more; pages++ {
			page, next, err := one.Subscriptions(t.Context(), "", after)
			if err != nil || len(page) == 0 || len(page) > len(all)*one.page && old == "" || next != "" && next <= after {
				t.Fatalf("after %q: %d feeds, then %q, %v", after, len(page), next, err)
			}
			for _, sub := range page {
				if !made[sub.ID] {
					t.Errorf("%s is none of the owner's", sub.ID)
				}
				shown = append(shown, sub.ID)
			}
			after, more = next, next != ""
		}
		if len(shown) != feeds || !slices.IsSorted(shown) || len(slices.Compact(slices.Clone(shown))) != feeds || pages < 5 {
			t.Errorf("%d pages, %d feeds: %q", pages, len(shown), shown)
		}
	}
}

// A user who was revoked while a peer was away, so that some feeds stayed, is revoked again.
func TestARevocationThatWasCutOffIsEnded(t *testing.T) {
	all := newPeers(t, 2)
	_, _, user := inviteAndJoin(t, all[0], all[1], 5, 1)
	sub, err := all[0].Subscribe(t.Context(), user, feedring.Query{Theme: "news"}, false)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := fleet.ParseID(user)
	for _, p := range all {
		if p.cfg.Keeper.Places().Serves(id.Slot()) == p.self {
			if err := p.delete(t.Context(), fleet.Key{Kind: fleet.User, ID: id}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := all[1].RevokeUser(t.Context(), user); err != nil {
		t.Errorf("revoked again: %v", err)
	}
	for _, p := range all {
		if code, _, err := p.poll(sub.Secret); err != nil || code != http.StatusNotFound {
			t.Errorf("%s: a feed outlives its user: %d, %v", p.self, code, err)
		}
	}
	if err := all[1].RevokeUser(t.Context(), user); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("and again: %v", err)
	}
}

// Words that no row has room for are the caller's fault, and a feed of all themes has no
// place behind an address that leads to several peers.
func TestWhatAFleetDoesNotKeepIsRefused(t *testing.T) {
	p := newPeers(t, 2)[0]
	if _, err := p.Subscribe(t.Context(), "", feedring.Query{Theme: "news", Words: "a " + strings.Repeat("‹& ", 815)}, false); !errors.Is(err, web.ErrMalformed) {
		t.Errorf("too long: %v", err)
	}
	p.cfg.Shared = true
	if _, err := p.Subscribe(t.Context(), "", feedring.Query{}, false); !errors.Is(err, web.ErrMalformed) {
		t.Errorf("of all themes: %v", err)
	}
}

// While others take a lost peer to be there, the second holder of a user's part knows the
// user's key and tells the user's feeds, with the first as silent. It does not say that
// there is no such user, and nothing is changed.
func TestTheSecondHolderAnswersForAUserWhereTheFirstIsSilent(t *testing.T) {
	all := newPeers(t, 3)
	_, key, user := inviteAndJoin(t, all[0], all[0], 5, 1)
	sub, err := all[0].Subscribe(t.Context(), user, feedring.Query{Theme: "news", Words: "gaz"}, false)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := fleet.ParseID(user)
	mute := all[0].cfg.Keeper.Places().Serves(id.Slot())
	all[0].of.mu.Lock()
	all[0].of.mute = mute
	all[0].of.mu.Unlock()
	nobody, _ := newSecret(id.Slot())
	for _, p := range all {
		if p.self == mute {
			continue
		}
		if is, err := p.User(t.Context(), key); err != nil || is != user {
			t.Errorf("%s: %q, %v", p.self, is, err)
		}
		has, _, err := p.Subscriptions(t.Context(), user, "")
		var silent *web.SilentError
		if !errors.As(err, &silent) || !slices.Equal(silent.Peers, []feedring.PeerID{mute}) || len(has) != 1 || has[0].ID != sub.ID {
			t.Errorf("%s: %v, %v", p.self, has, err)
		}
		if _, err := p.User(t.Context(), web.UserKeyPrefix+nobody); !errors.As(err, new(*web.AwayError)) {
			t.Errorf("%s: a user that the first may know: %v", p.self, err)
		}
		if err := p.Unsubscribe(t.Context(), user, sub.ID); !errors.As(err, new(*web.AwayError)) {
			t.Errorf("%s: a feed is revoked: %v", p.self, err)
		}
	}
}
