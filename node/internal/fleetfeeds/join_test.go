package fleetfeeds

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// invite makes an invitation whose part a peer serves that is not one of these.
func (p *onePeer) invite(t *testing.T, uses int, not ...feedring.PeerID) (code string, id fleet.ID) {
	t.Helper()
	for range 100 {
		made, err := p.InviteUser(t.Context(), web.UserInvitation{Quota: 5, Uses: uses, Expires: time.Now().Add(time.Hour)})
		nodetest.Check(t, err)
		id, _ = fleet.ParseID(made.ID)
		serves, ok := p.cfg.Keeper.Places().Serves(id.Slot()), true
		for _, n := range not {
			ok = ok && serves != n
		}
		if ok {
			return made.Code, id
		}
	}
	t.Fatalf("%v serve all", not)
	return "", 0
}

// used reads how often an invitation was used.
func (p *onePeer) used(t *testing.T, id fleet.ID) int {
	t.Helper()
	all, err := p.UserInvitations(t.Context())
	nodetest.Check(t, err)
	for i := range all {
		if all[i].ID == id.String() {
			return all[i].Used
		}
	}
	t.Fatalf("invitation %s is gone", id)
	return 0
}

// The use of an invitation by which nobody became a user is given back at once, and only once.
func TestAFailedJoinGivesItsUseBack(t *testing.T) {
	for _, why := range []error{store.ErrFull, errors.New("broken")} {
		p := newPeers(t, 3)[0]
		code, id := p.invite(t, 1)
		p.of.set(func() {
			p.of.fail = func(key fleet.Key) error {
				if key.Kind == fleet.User {
					return why
				}
				return nil
			}
		})
		if key, err := p.Join(t.Context(), code); err == nil || key != "" || errors.Is(err, web.ErrUnknown) {
			t.Errorf("%v: %q, %v", why, key, err)
		}
		if n := p.used(t, id); n != 0 {
			t.Errorf("%v: %d uses are counted", why, n)
		}
		p.of.set(func() { p.of.fail = nil })
		if _, err := p.Join(t.Context(), code); err != nil {
			t.Errorf("%v: tried again: %v", why, err)
		}
		if _, err := p.Join(t.Context(), code); !errors.Is(err, web.ErrUnknown) {
			t.Errorf("%v: used twice: %v", why, err)
		}
		if all, err := p.Users(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%v: %d users, %v", why, len(all), err)
		}
	}
}

// A use that was counted though the answer was lost is given back in the background: once, also
// where the answer to that is lost as well.
func TestAUseWhoseAnswerWasLostIsGivenBackOnce(t *testing.T) {
	p := newPeers(t, 3)[0]
	code, id := p.invite(t, 2, p.self)
	_, err := p.Join(t.Context(), code)
	nodetest.Check(t, err)
	lost := map[op]int{opRedeem: 1, opGiveBack: 1}
	p.of.set(func() {
		p.of.lose = func(r *request) bool { lost[r.Op]--; return lost[r.Op] >= 0 }
	})
	if _, err := p.Join(t.Context(), code); !errors.As(err, new(*web.AwayError)) {
		t.Fatal(err)
	}
	nodetest.Eventually(t, "the use is given back, and asked about again", func() (asked bool) {
		p.of.set(func() { asked = lost[opGiveBack] <= 1-triesAgain })
		return asked
	})
	if n := p.used(t, id); n != 1 {
		t.Errorf("%d uses are counted, of one user", n)
	}
	if _, err := p.Join(t.Context(), code); err != nil {
		t.Errorf("tried again: %v", err)
	}
	if _, err := p.Join(t.Context(), code); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("used once more than it is for: %v", err)
	}
}

// Where the row of a user was made and the answer was lost, another peer makes the user, and the
// first row is erased: nobody has its key.
func TestARowOfAUserWhomNobodyIsIsErased(t *testing.T) {
	p := newPeers(t, 3)[0]
	code, _ := p.invite(t, 10)
	lost := 0
	p.of.set(func() {
		p.of.lose = func(r *request) bool {
			if r.Op == opMakeUser {
				lost++
			}
			return r.Op == opMakeUser
		}
	})
	for range 10 {
		key, err := p.Join(t.Context(), code)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.User(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	if lost == 0 {
		t.Fatal("no answer was lost")
	}
	nodetest.Eventually(t, "users without a key are erased", func() bool {
		all, err := p.Users(t.Context())
		return err == nil && len(all) == 10
	})
}

// Where a peer does not answer, or has no room, a user is made at another one.
func TestAJoinIsMadeWhereThereIsRoom(t *testing.T) {
	all := newPeers(t, 4)
	p, mute := all[0], all[1].self
	var codes []string
	for range 40 {
		code, _ := p.invite(t, 1, mute)
		codes = append(codes, code)
	}
	p.of.set(func() { p.of.mute = mute })
	for _, code := range codes {
		if _, err := p.Join(t.Context(), code); err != nil {
			t.Fatal(err)
		}
	}
}

// A user or a stranger is told nothing of the owner's machines. The peer that refused is in the
// log of the one that asked it, and the owner is told it.
func TestOnlyTheOwnerIsToldWhichDiskIsFull(t *testing.T) {
	p := newPeers(t, 3)[0]
	code, _ := p.invite(t, 2)
	_, key, user := inviteAndJoin(t, p, p, 5, 1)
	for _, c := range []struct {
		why  error
		kind *web.Kind
	}{{fmt.Errorf("writing to /data/store: %w", store.ErrFull), web.ErrFull}, {errors.New("writing to /data/store: input/output error"), web.ErrUnsaved}} {
		p.of.set(func() {
			p.of.fail = func(key fleet.Key) error {
				if key.Kind == fleet.Invitation {
					return nil
				}
				return c.why
			}
		})
		_, joined := p.Join(t.Context(), code)
		_, subscribed := p.Subscribe(t.Context(), user, feedring.Query{Theme: "news"}, false)
		for _, err := range []error{joined, subscribed, p.Unsubscribe(t.Context(), user, user)} {
			if text := fmt.Sprint(err); !errors.Is(err, c.kind) || strings.ContainsAny(text, "/") || strings.Contains(text, "peer") || strings.Contains(text, "disk") || !strings.Contains(text, "ask again later") {
				t.Errorf("%v: people are told: %v", c.why, err)
			}
		}
		_, err := p.Subscribe(t.Context(), "", feedring.Query{Theme: "news"}, false)
		if text := fmt.Sprint(err); !errors.Is(err, c.kind) || !strings.Contains(text, "peer peer") || !strings.Contains(text, c.why.Error()) {
			t.Errorf("%v: the owner is told: %v", c.why, err)
		}
	}
	if log := p.log.String(); !strings.Contains(log, "peer=peer") || !strings.Contains(log, "writing to /data/store") || strings.Count(log, "cannot do what it is asked") > 3 {
		t.Errorf("the log: %s", log)
	}
	if _, err := p.User(t.Context(), key); err != nil {
		t.Error(err)
	}
}

// The owner is shown which peer's disk is full. Users are made at the others, and lists are whole.
func TestAPeerWithAFullDiskIsShown(t *testing.T) {
	p := newPeers(t, 3, 1)[0]
	code, _ := p.invite(t, 20)
	for range 20 {
		if _, err := p.Join(t.Context(), code); err != nil {
			t.Fatal(err)
		}
	}
	is, err := p.Fleet(t.Context())
	if err != nil || is.Users != 20 || is.HeldOnce == 0 || is.Silent != 0 {
		t.Errorf("%+v, %v", is, err)
	}
	for i, one := range is.Peers {
		if one.Full != (i == 1) {
			t.Errorf("%+v", one)
		}
	}
	if all, err := p.Users(t.Context()); err != nil || len(all) != 20 {
		t.Errorf("%d users, %v", len(all), err)
	}
}
