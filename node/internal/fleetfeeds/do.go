package fleetfeeds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	keeper "github.com/feedring/feedring/node/internal/fleet"
)

// request is what one peer asks another to do in a slot that the other serves.
type request struct {
	Op    op               `json:"op"`
	ID    string           `json:"id,omitempty"`   // of a row
	User  string           `json:"user,omitempty"` // whose feeds; empty: the owner's
	Feed  *fleet.FeedValue `json:"feed,omitempty"`
	Value json.RawMessage  `json:"value,omitempty"` // of a new row
	Use   string           `json:"use,omitempty"`   // names one use of an invitation
	After string           `json:"after,omitempty"` // of the owner's feeds those with higher ids
	Most  int              `json:"most,omitempty"`  // of the owner's feeds; 0: all, as peers of before ask
	Part  bool             `json:"part,omitempty"`  // of a user's feeds: what there is, where some peers do not answer
}

// reads reports whether nothing is changed, so that a slot's second holder may answer.
func (r *request) reads() bool { return r.Op == opUser || r.Op == opFeeds }

// reply is the answer.
type reply struct {
	Feeds       []feed               `json:"feeds,omitempty"`
	More        bool                 `json:"more,omitempty"`   // of the owner's feeds
	Silent      []feedring.PeerID    `json:"silent,omitempty"` // a part of Feeds may be at these, which did not answer
	User        *web.User            `json:"user,omitempty"`
	Users       []web.User           `json:"users,omitempty"`
	Invitations []web.UserInvitation `json:"invitations,omitempty"`
	Held        *keeper.Status       `json:"held,omitempty"`
	Memory      uint64               `json:"memory,omitempty"`
	Limit       uint64               `json:"limit,omitempty"` // of Memory
	Failed      *failure             `json:"failed,omitempty"`
}

// feed is a personal feed with its id.
type feed struct {
	ID string `json:"id"`
	fleet.FeedValue
}

// op is what is to be done.
type op string

// What may be asked.
const (
	opUser      op = "user"      // who has an id
	opRedeem    op = "redeem"    // an invitation, once
	opGiveBack  op = "give-back" // a use of an invitation by which nobody became a user
	opSubscribe op = "subscribe" // a feed
	opDrop      op = "drop"      // a feed of a user
	opFeeds     op = "feeds"     // of a user
	opRevoke    op = "revoke"    // a user with all feeds
	opCancel    op = "cancel"    // an invitation
	opOwners    op = "owners"    // the owner's feeds in all slots that a peer serves
	opUsers     op = "users"     // in the same
	opInvited   op = "invited"   // the same
	opHeld      op = "held"      // what a peer has
	opMakeUser  op = "make-user"
	opMakeCode  op = "make-code"
)

// maxScans is how many feeds a user may have whose words no index finds: each entry is
// held against them.
const maxScans = 2

// The kinds of failures.
const (
	errorUnknown = "unknown"
	errorAway    = "away"
	errorQuota   = "quota"
	errorScans   = "scans"
	errorFull    = "full"
	errorLarge   = "large"
	errorAgain   = "again"
	errorOther   = "other"
)

// failure is an error as it travels.
type failure struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Most int    `json:"most,omitempty"`
}

var (
	errCollision = errors.New("the id is taken")
	errNothing   = errors.New("there is nothing to write")
	errEnough    = errors.New("as many as were asked for")
)

func unknown(text string) error { return web.ErrUnknown.Of(errors.New(text)) }

// failureOf puts an error into its form.
func failureOf(err error) *failure {
	var limit *web.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limit) && limit.Of == web.UserScans:
		return &failure{errorScans, err.Error(), limit.Most}
	case errors.As(err, &limit):
		return &failure{errorQuota, err.Error(), limit.Most}
	case errors.Is(err, web.ErrUnknown), errors.Is(err, keeper.ErrUnknown):
		return &failure{errorUnknown, err.Error(), 0}
	case errors.Is(err, web.ErrFull), errors.Is(err, store.ErrFull):
		return &failure{errorFull, err.Error(), 0}
	case errors.As(err, new(*web.AwayError)), errors.Is(err, keeper.ErrNobody), errors.Is(err, keeper.ErrUnsure), errors.As(err, new(*keeper.ElsewhereError)):
		return &failure{errorAway, err.Error(), 0}
	case errors.Is(err, fleet.ErrLarge):
		return &failure{errorLarge, "the words are too long for a fleet: write fewer", 0}
	case errors.Is(err, errCollision):
		return &failure{errorAgain, err.Error(), 0}
	default:
		return &failure{errorOther, err.Error(), 0}
	}
}

// err is the error again.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case errorUnknown:
		return unknown(f.Text)
	case errorAway:
		return &web.AwayError{}
	case errorQuota:
		return &web.LimitError{Of: web.UserFeeds, Most: f.Most}
	case errorScans:
		return &web.LimitError{Of: web.UserScans, Most: f.Most}
	case errorAgain:
		return errCollision
	case errorLarge:
		return web.ErrMalformed.Of(errors.New(f.Text))
	case errorFull:
		return web.ErrFull.Of(errors.New(f.Text))
	default:
		return web.ErrUnsaved.Of(errors.New(f.Text))
	}
}

// ofPeer reports whether it is the peer that failed, and not what it was asked.
func (f *failure) ofPeer() bool { return f != nil && (f.Kind == errorFull || f.Kind == errorOther) }

// noRoom and notKept are what people are told who have no part in the fleet's machines. Their
// owner is told the peer and its reason, in its log or in answer to a command.
var (
	noRoom  = &unnamed{web.ErrFull, "the service has no room for this now: ask again later"}
	notKept = &unnamed{web.ErrUnsaved, "the service cannot do this now: ask again later"}
)

// unnamed is an error of a kind without that kind's advice.
type unnamed struct {
	kind *web.Kind
	text string
}

func (e *unnamed) Error() string { return e.text }

func (e *unnamed) Unwrap() error { return e.kind }

// forPeople is an error as users and strangers are told it.
func forPeople(err error) error {
	switch {
	case errors.Is(err, web.ErrFull):
		return noRoom
	case errors.Is(err, web.ErrUnsaved):
		return notKept
	}
	return err
}

// do does what this peer is asked.
func (s *Service) do(ctx context.Context, r *request) reply {
	var answer reply
	var err error
	id, isID := fleet.ParseID(r.ID)
	switch r.Op {
	case opOwners:
		answer.Feeds, answer.More, err = s.ownersHere(ctx, r)
	case opUsers:
		answer.Users, err = s.usersHere(ctx)
	case opInvited:
		answer.Invitations, err = s.invitationsHere(ctx)
	case opHeld:
		held := s.cfg.Keeper.Status()
		answer.Held = &held
		answer.Memory, answer.Limit = s.cfg.Load.Memory()
	default:
		if !isID {
			err = unknown("there is no such id")
			break
		}
		err = s.doAt(ctx, id, r, &answer)
	}
	if err != nil {
		answer = reply{Failed: failureOf(err)}
	}
	return answer
}

// doAt does what is about one row and its slot.
func (s *Service) doAt(ctx context.Context, id fleet.ID, r *request, answer *reply) (err error) {
	switch r.Op {
	case opUser:
		answer.User, err = s.userHere(ctx, id)
	case opMakeUser:
		err = s.make(ctx, fleet.Key{Kind: fleet.User, ID: id}, r.Value)
	case opMakeCode:
		err = s.make(ctx, fleet.Key{Kind: fleet.Invitation, ID: id}, r.Value)
	case opRedeem:
		var of *web.UserInvitation
		if of, err = s.redeemHere(ctx, id, r.Use); err == nil {
			answer.Invitations = []web.UserInvitation{*of}
		}
	case opGiveBack:
		err = s.giveBackHere(ctx, id, r.Use)
	case opSubscribe:
		err = s.subscribeHere(ctx, id, r)
	case opDrop:
		err = s.dropHere(ctx, id, r.User)
	case opFeeds:
		answer.Feeds, err = s.feedsHere(ctx, id.Slot(), r.ID)
		var unsure *keeper.UnsureError
		if r.Part && errors.As(err, &unsure) {
			answer.Silent, err = unsure.Silent, nil
		}
	case opRevoke:
		err = s.revokeHere(ctx, id)
	case opCancel:
		err = s.delete(ctx, fleet.Key{Kind: fleet.Invitation, ID: id}, nil)
	default:
		err = fmt.Errorf("%.20q is nothing that this version does", r.Op)
	}
	return err
}

// make writes a new row.
func (s *Service) make(ctx context.Context, key fleet.Key, value []byte) error {
	if len(value) == 0 {
		return errNothing
	}
	_, err := s.cfg.Keeper.Change(ctx, key, func(old fleet.Row, is bool) ([]byte, error) {
		if is || old.Version > 0 { // what was deleted stays so
			return nil, errCollision
		}
		return value, nil
	})
	return err
}

// delete ends a row, if it is there and may be.
func (s *Service) delete(ctx context.Context, key fleet.Key, may func(*fleet.Row) bool) error {
	_, err := s.cfg.Keeper.Change(ctx, key, func(old fleet.Row, is bool) ([]byte, error) {
		if !is || may != nil && !may(&old) {
			return nil, unknown("there is none with this id")
		}
		return nil, nil
	})
	return err
}

func read[V any](row *fleet.Row) (v V, err error) {
	if err = json.Unmarshal(row.Value, &v); err != nil {
		err = fmt.Errorf("row %s: %w", row.ID, err)
	}
	return v, err
}

func (s *Service) userHere(ctx context.Context, id fleet.ID) (*web.User, error) {
	row, err := s.cfg.Keeper.Get(ctx, fleet.Key{Kind: fleet.User, ID: id})
	if errors.Is(err, keeper.ErrUnknown) {
		err = unknown("there is no such user, or its key was revoked")
	}
	if err != nil {
		return nil, err
	}
	v, err := read[userValue](&row)
	return &web.User{ID: id.String(), Quota: v.Quota, Created: v.Created, Invitation: v.Invitation, Note: v.Note}, err
}

func invitationOf(id fleet.ID, v *invitationValue) *web.UserInvitation {
	return &web.UserInvitation{ID: id.String(), Quota: v.Quota, Uses: v.Uses, Used: v.Used, Expires: v.Expires, Created: v.Created, Note: v.Note}
}

// feedsHere lists the feeds of a user, which are in one slot.
func (s *Service) feedsHere(ctx context.Context, slot fleet.Slot, user string) (all []feed, err error) {
	rows, err := s.cfg.Keeper.Rows(ctx, slot, fleet.Feed)
	for i := range rows {
		if v, err := fleet.FeedOf(&rows[i]); err == nil && v.User == user {
			all = append(all, feed{rows[i].ID.String(), v})
		}
	}
	return all, err
}

// subscribeHere makes a feed. That of a user is in the slot of the user's row.
func (s *Service) subscribeHere(ctx context.Context, id fleet.ID, r *request) error {
	if r.Feed == nil {
		return errNothing
	}
	if of, ok := fleet.IDOf(r.Feed.Secret); !ok || of != id {
		return errors.New("the secret is not that of the id")
	}
	if err := s.addFeed(ctx, id, r); err != nil {
		return err
	}
	if err := s.cfg.Keeper.Wake(ctx, r.Feed.Secret); err != nil && !errors.Is(err, keeper.ErrFilling) {
		s.cfg.Log.Warn("a new personal feed of the fleet is not open yet", "err", err)
	}
	return nil
}

// addFeed writes the row of a new feed, if its user may have one more.
func (s *Service) addFeed(ctx context.Context, id fleet.ID, r *request) error {
	value, err := json.Marshal(r.Feed)
	if err != nil {
		return err
	}
	if r.User != "" {
		one := s.user(id.Slot())
		one.Lock()
		defer one.Unlock()
		if err := s.mayHave(ctx, r); err != nil {
			return err
		}
	}
	return s.make(ctx, fleet.Key{Kind: fleet.Feed, ID: id}, value)
}

// mayHave reports whether a user is one, and may have one more feed.
func (s *Service) mayHave(ctx context.Context, r *request) error {
	user, ok := fleet.ParseID(r.User)
	if of, isSecret := fleet.SlotOf(r.Feed.Secret); !ok || r.Feed.User != r.User || !isSecret || of != user.Slot() {
		return unknown("there is no such user")
	}
	who, err := s.userHere(ctx, user)
	if err != nil {
		return err
	}
	has, err := s.feedsHere(ctx, user.Slot(), r.User)
	if err != nil {
		return err
	}
	if len(has) >= who.Quota {
		return &web.LimitError{Of: web.UserFeeds, Most: who.Quota}
	}
	if !scans(r.Feed.Words) {
		return nil
	}
	slow := 0
	for i := range has {
		if scans(has[i].Words) {
			slow++
		}
	}
	if slow >= maxScans {
		return &web.LimitError{Of: web.UserScans, Most: maxScans}
	}
	return nil
}

// dropHere revokes a feed of a user.
func (s *Service) dropHere(ctx context.Context, id fleet.ID, user string) error {
	return s.delete(ctx, fleet.Key{Kind: fleet.Feed, ID: id}, func(row *fleet.Row) bool {
		v, err := fleet.FeedOf(row)
		return err == nil && v.User == user
	})
}

// revokeHere ends a user, and then its feeds: nobody makes new ones meanwhile.
func (s *Service) revokeHere(ctx context.Context, id fleet.ID) error {
	one := s.user(id.Slot())
	one.Lock()
	defer one.Unlock()
	gone := s.delete(ctx, fleet.Key{Kind: fleet.User, ID: id}, nil)
	if gone != nil && !errors.Is(gone, web.ErrUnknown) {
		return gone
	}
	feeds, err := s.feedsHere(ctx, id.Slot(), id.String())
	if err != nil {
		return err
	}
	if gone != nil && len(feeds) == 0 {
		return gone
	} // else the last try ended amid its feeds
	for _, f := range feeds {
		of, _ := fleet.ParseID(f.ID) // it is the row's
		if err := s.dropHere(ctx, of, id.String()); err != nil && failureOf(err).Kind != errorUnknown {
			return err
		}
	}
	return nil
}

// served calls each for the rows of a kind by their ids, in all slots from one on that this
// peer serves, but for users' feeds in slots that have no other.
func (s *Service) served(ctx context.Context, kind fleet.Kind, from fleet.Slot, each func(*fleet.Row) error) error {
	places := s.cfg.Keeper.Places()
	for slot := from; slot < fleet.Slots; slot++ {
		if places.Serves(slot) != s.cfg.Self || !s.cfg.Keeper.Lists(slot, kind) {
			continue
		}
		rows, err := s.cfg.Keeper.Rows(ctx, slot, kind)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := each(&rows[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownersHere lists the owner's feeds by their ids. more: others follow.
func (s *Service) ownersHere(ctx context.Context, r *request) (all []feed, more bool, err error) {
	after, _ := fleet.ParseID(r.After) // anything else is before, after or between ids
	err = s.served(ctx, fleet.Feed, after.Slot(), func(row *fleet.Row) error {
		id := row.ID.String()
		if v, err := fleet.FeedOf(row); err != nil || v.User != "" || id <= r.After {
			return nil
		} else if all = append(all, feed{id, v}); r.Most > 0 && len(all) > r.Most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		all, more, err = all[:r.Most], true, nil
	}
	return all, more, err
}

func (s *Service) usersHere(ctx context.Context) (all []web.User, err error) {
	err = s.served(ctx, fleet.User, 0, func(row *fleet.Row) error {
		v, err := read[userValue](row)
		if err != nil {
			return err
		}
		feeds, err := s.feedsHere(ctx, row.ID.Slot(), row.ID.String())
		all = append(all, web.User{ID: row.ID.String(), Quota: v.Quota, Feeds: len(feeds), Created: v.Created, Invitation: v.Invitation, Note: v.Note})
		return err
	})
	return all, err
}

func (s *Service) invitationsHere(ctx context.Context) (all []web.UserInvitation, err error) {
	err = s.served(ctx, fleet.Invitation, 0, func(row *fleet.Row) error {
		v, err := read[invitationValue](row)
		all = append(all, *invitationOf(row.ID, &v))
		return err
	})
	return all, err
}
