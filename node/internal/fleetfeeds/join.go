package fleetfeeds

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
)

const (
	mostFailed = 3   // peers at which a row with a secret of its own is tried
	mostLast   = 256 // uses that an invitation names: 3.8 KB of its row
	useLen     = 12  // 60 bits

	// What a join left behind is tried to be taken back after 1 s, 2 s and so on: until the
	// others have noticed that a peer is lost, and its second holder answers.
	firstAgain  = time.Second
	triesAgain  = 6
	mostTrying  = 1024
	giveBackNow = 2 * time.Second
)

// Join implements web.Users. The invitation is used first, so that nobody has more users than
// were invited. Where no user can be made then, the use is given back: nobody was told the key.
// What is lost of that, and when, is in docs/admins.md.
func (s *Service) Join(ctx context.Context, code string) (string, error) {
	id, ok := fleet.IDOf(code)
	if !ok {
		return "", unknown("this is no invitation")
	}
	use := rand.Text()[:useLen]
	back := &request{Op: opGiveBack, ID: id.String(), Use: use}
	answer, err := s.at(ctx, id.Slot(), &request{Op: opRedeem, ID: id.String(), Use: use})
	if err == nil && len(answer.Invitations) != 1 {
		err = &web.AwayError{}
	}
	if err != nil {
		if unsure(&answer) {
			s.later(id.Slot(), back)
		}
		return "", forPeople(err)
	}
	of := answer.Invitations[0]
	secret, _, err := s.create(ctx, opMakeUser, opRevoke, userValue{
		Quota: of.Quota, Created: time.Now().UTC().Truncate(time.Second), Invitation: of.ID, Note: of.Note,
	})
	if err == nil {
		return web.UserKeyPrefix + secret, nil
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackNow)
	defer cancel()
	if _, failed := s.at(within, id.Slot(), back); failed != nil {
		s.later(id.Slot(), back)
	}
	return "", forPeople(err)
}

// unsure reports whether what failed with an answer may have been done all the same.
func unsure(answer *reply) bool { return answer.Failed == nil || answer.Failed.Kind == errorOther }

// create makes a row with a secret of its own in any slot. Where the peer that serves the slot
// does not answer or has no room, one that serves another slot is asked. A row that may have
// been made and whose secret nobody is told is erased.
func (s *Service) create(ctx context.Context, what, erase op, value any) (secret string, id fleet.ID, err error) {
	body, err := json.Marshal(value)
	if err != nil {
		return "", 0, err
	}
	var failed []feedring.PeerID
	for range attempts {
		slot, nobody := s.anySlot(failed...)
		if nobody != nil {
			return "", 0, cmp.Or(err, nobody)
		}
		secret, id = newSecret(slot)
		serves := s.cfg.Keeper.Places().Serves(slot)
		var answer reply
		answer, err = s.at(ctx, slot, &request{Op: what, ID: id.String(), Value: body})
		if err == nil {
			return secret, id, nil
		}
		if errors.Is(err, errCollision) {
			continue
		}
		if unsure(&answer) {
			s.later(slot, &request{Op: erase, ID: id.String()})
		}
		if failed = append(failed, serves); len(failed) == mostFailed || ctx.Err() != nil {
			return "", 0, err
		}
	}
	return "", 0, web.ErrUnsaved.Of(err)
}

// later has something done that failed, or whose answer was lost. It is tried a few times, also
// where there is nothing that it is about: that may still be on its way.
func (s *Service) later(slot fleet.Slot, r *request) {
	select {
	case s.trying <- struct{}{}:
	default:
		s.cfg.Log.Warn("what a failed request left is not taken back: too many failed at once", "op", r.Op, "id", r.ID)
		return
	}
	if !s.cfg.Tasks.Run(func() { s.tryAgain(slot, r) }) {
		<-s.trying
	}
}

func (s *Service) tryAgain(slot fleet.Slot, r *request) {
	defer func() { <-s.trying }()
	var err error
	pause := s.again
	for range triesAgain {
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-s.ctx.Done():
			next.Stop()
			return
		}
		if _, err = s.at(s.ctx, slot, r); err == nil {
			return
		}
		pause *= 2
	}
	if !errors.Is(err, web.ErrUnknown) && s.ctx.Err() == nil {
		s.cfg.Log.Warn("what a failed request left may stay: a use of an invitation that is counted, or a user or an invitation whose key nobody has", "op", r.Op, "id", r.ID, "err", err)
	}
}

// changeInvitation changes one that is there.
func (s *Service) changeInvitation(ctx context.Context, id fleet.ID, change func(*invitationValue) error) error {
	_, err := s.cfg.Keeper.Change(ctx, fleet.Key{Kind: fleet.Invitation, ID: id}, func(old fleet.Row, is bool) ([]byte, error) {
		if !is {
			return nil, unknown("there is no such invitation")
		}
		v, err := read[invitationValue](&old)
		if err == nil {
			err = change(&v)
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	return err
}

// redeemHere uses an invitation once. use names that; empty: a peer of before asks.
func (s *Service) redeemHere(ctx context.Context, id fleet.ID, use string) (told *web.UserInvitation, err error) {
	err = s.changeInvitation(ctx, id, func(v *invitationValue) error {
		switch {
		case use != "" && slices.Contains(v.Last, use): // counted, at the other holder
		case v.Used >= v.Uses || !time.Now().Before(v.Expires):
			return unknown("the invitation was used up, or has expired")
		default:
			v.Used++
			if len(use) == useLen {
				v.Last = append(v.Last, use)
			}
			v.Last = v.Last[max(len(v.Last)-mostLast, 0):]
		}
		told = invitationOf(id, v)
		return nil
	})
	return told, err
}

// giveBackHere takes a use back, once.
func (s *Service) giveBackHere(ctx context.Context, id fleet.ID, use string) error {
	return s.changeInvitation(ctx, id, func(v *invitationValue) error {
		i := slices.Index(v.Last, use)
		if i < 0 {
			return unknown("this use was not counted, or was given back")
		}
		v.Used--
		v.Last = slices.Delete(v.Last, i, i+1)
		return nil
	})
}
