package fleetfeeds

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/web"
)

const (
	doPath   = "/fleet/v1/do"
	attempts = 8 // at a slot that somebody serves, an id that is free, a peer that knows that it serves

	againEvery = 250 * time.Millisecond
)

// at has something done by a peer that may, as holder finds it. Where that one says that it
// does not, or not yet, it has done nothing, and is asked again: members learn of each other
// one after the other.
func (s *Service) at(ctx context.Context, slot fleet.Slot, r *request) (answer reply, err error) {
	again := time.NewTicker(againEvery)
	defer again.Stop()
	for try := 1; ; try++ {
		answer, err = s.holder(ctx, slot, r)
		if try == attempts || answer.Failed == nil || answer.Failed.Kind != errorAway {
			return answer, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return answer, err
		}
	}
}

// holder asks the peer that serves a slot. Where that one does not answer and nothing is to
// be changed, the second holder is asked, whose answer names the first as silent: the others
// take a peer that was lost to be there for some --refresh.
func (s *Service) holder(ctx context.Context, slot fleet.Slot, r *request) (answer reply, err error) {
	places := s.cfg.Keeper.Places()
	to := places.Serves(slot)
	if to == "" {
		return reply{}, &web.AwayError{}
	}
	first, second := places.Holders(slot)
	if to != first || !r.reads() || !places.Present(second) {
		return s.ask(ctx, to, r, doWithin)
	}
	answer, err = s.ask(ctx, to, r, readWithin)
	if err == nil || answer.Failed != nil {
		return answer, err
	}
	stands, standsErr := s.ask(ctx, second, r, doWithin)
	switch {
	case standsErr == nil:
		stands.Silent = append(stands.Silent, first)
	case stands.Failed == nil || stands.Failed.Kind == errorAway:
		return answer, err // asking both again takes long
	}
	return stands, standsErr
}

// ask has something done by a peer, this one or another.
func (s *Service) ask(ctx context.Context, to feedring.PeerID, r *request, within time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if to == s.cfg.Self {
		answer := s.do(ctx, r)
		return answer, s.told(ctx, to, r, answer.Failed)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return reply{}, err
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, doPath, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	in, err := s.cfg.Link.RoundTrip(to, out)
	if err != nil {
		s.cfg.Log.Debug("a peer of the fleet did not answer", "peer", to.Short(), "op", r.Op, "err", err)
		return reply{}, &web.AwayError{}
	}
	defer func() { _ = in.Body.Close() }()
	var answer reply
	if in.StatusCode != http.StatusOK {
		return reply{}, web.ErrUnsaved.Of(fmt.Errorf("peer %s of the fleet answered %s", to.Short(), in.Status))
	}
	if err := json.NewDecoder(io.LimitReader(in.Body, maxReply)).Decode(&answer); err != nil {
		return reply{}, web.ErrUnsaved.Of(fmt.Errorf("peer %s of the fleet: %w", to.Short(), err))
	}
	return answer, s.told(ctx, to, r, answer.Failed)
}

// told returns what a peer answered in place of what it was asked for, as an error. One that
// is the peer's own names it, and is logged here, once a minute: who asked may not be its owner.
func (s *Service) told(ctx context.Context, by feedring.PeerID, r *request, f *failure) error {
	if !f.ofPeer() || ctx.Err() != nil { // or who asked left
		return f.err()
	}
	s.mu.Lock()
	now := time.Now()
	due := now.Sub(s.failed[by]) >= time.Minute
	if due {
		s.failed[by] = now
	}
	s.mu.Unlock()
	if due {
		s.cfg.Log.Warn("a peer of the fleet cannot do what it is asked", "peer", by, "op", r.Op, "err", f.Text)
	}
	named := *f
	named.Text = fmt.Sprintf("peer %s of the fleet: %s", by, f.Text)
	return named.err()
}

// serveDo answers ask.
func (s *Service) serveDo(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAsked)).Decode(&asked); err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	answer := s.do(r.Context(), &asked)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(&answer) // a peer that left needs none
}

// all asks every peer that is there. failed are those that did not answer.
func (s *Service) all(ctx context.Context, r *request, each func(feedring.PeerID, *reply)) (failed []feedring.PeerID, err error) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, m := range s.cfg.Members.Members() {
		if !m.Present {
			continue
		}
		asked.Go(func() {
			answer, why := s.ask(ctx, m.Peer, r, doWithin)
			mu.Lock()
			defer mu.Unlock()
			if why != nil {
				failed, err = append(failed, m.Peer), why
				return
			}
			each(m.Peer, &answer)
		})
	}
	asked.Wait()
	return failed, err
}

// unserved counts the slots that no present peer serves, and names those that hold them.
func (s *Service) unserved() (slots int, holders []feedring.PeerID) {
	places := s.cfg.Keeper.Places()
	for at := range fleet.Slot(fleet.Slots) {
		first, second := places.Holders(at)
		if first == "" || places.Serves(at) != "" {
			continue
		}
		slots++
		for _, p := range []feedring.PeerID{first, second} {
			if p != "" && !slices.Contains(holders, p) {
				holders = append(holders, p)
			}
		}
	}
	return slots, holders
}

// lacking says which peers a list of all peers' rows lacks: those that failed to answer,
// for which err is one reason, and the holders of slots that nobody serves. A failure of
// this peer itself is returned as it is. nil: the list is whole.
func (s *Service) lacking(failed []feedring.PeerID, err error) error {
	if slices.Contains(failed, s.cfg.Self) {
		return err
	}
	_, away := s.unserved()
	return silentError(append(away, failed...))
}

// silentError names who did not answer for a list; nil: all did.
func silentError(silent []feedring.PeerID) error {
	if len(silent) == 0 {
		return nil
	}
	slices.Sort(silent)
	return &web.SilentError{Peers: slices.Compact(silent)}
}

// newSecret is one of a slot.
func newSecret(slot fleet.Slot) (secret string, id fleet.ID) {
	var random [fleet.SecretBytes]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	secret = slot.Secret(random)
	id, _ = fleet.IDOf(secret) // it is a secret
	return secret, id
}

// anySlot is one that somebody serves who is none of these.
func (s *Service) anySlot(not ...feedring.PeerID) (fleet.Slot, error) {
	places := s.cfg.Keeper.Places()
	for range 8 * attempts { // where one of two peers is left, each is that one's by a half
		n, err := rand.Int(rand.Reader, big.NewInt(fleet.Slots))
		if err != nil {
			return 0, err
		}
		slot := fleet.Slot(n.Int64())
		if serves := places.Serves(slot); serves != "" && !slices.Contains(not, serves) {
			return slot, nil
		}
	}
	return 0, &web.AwayError{}
}

// scans reports whether no word must be in an entry that words match: no index finds them.
func scans(words string) bool {
	expr, err := match.Parse(words)
	return words != "" && err == nil && expr.Match(match.TextOf(&feedring.Entry{}))
}

func subscriptionOf(id string, v *fleet.FeedValue) web.Subscription {
	return web.Subscription{ID: id, Secret: v.Secret, Stem: v.Stem, Created: v.Created, Query: feedring.Query{
		Theme: v.Theme, Provider: v.Provider, Words: v.Words, Since: v.Since, Until: v.Until, Limit: v.Limit,
	}}
}

// byAge sorts so that the oldest is first. A sort.Slice of each list is a tenth of the code
// that slices.SortFunc would be made into.
func byAge[V any](all []V, of func(*V) (created time.Time, id string)) []V {
	sort.Slice(all, func(i, j int) bool {
		a, idA := of(&all[i])
		b, idB := of(&all[j])
		return cmp.Or(a.Compare(b), cmp.Compare(idA, idB)) < 0
	})
	return all
}

// Subscriptions implements web.Personal. The owner's are those of all peers that answer.
// Each peer tells its next ones by id, and what follows the first end of these is left to
// the next page.
func (s *Service) Subscriptions(ctx context.Context, user, after string) (page []web.Subscription, next string, err error) {
	take := func(_ feedring.PeerID, r *reply) {
		for i := range r.Feeds {
			page = append(page, subscriptionOf(r.Feeds[i].ID, &r.Feeds[i].FeedValue))
		}
		if n := len(r.Feeds); n > 0 && r.More && (next == "" || r.Feeds[n-1].ID < next) {
			next = r.Feeds[n-1].ID
		}
	}
	if user != "" {
		id, _ := fleet.ParseID(user) // it came of User
		var answer reply
		if answer, err = s.at(ctx, id.Slot(), &request{Op: opFeeds, ID: user, Part: true}); err == nil {
			take("", &answer)
			err = silentError(answer.Silent)
		}
		err = forPeople(err)
	} else {
		if page, next, err = s.cfg.Own.Subscriptions(ctx, "", after); err != nil {
			return nil, "", err
		}
		failed, why := s.all(ctx, &request{Op: opOwners, After: after, Most: s.page}, take)
		err = s.lacking(failed, why)
	}
	paged := after != "" || next != ""
	byAge(page, func(s *web.Subscription) (time.Time, string) {
		if paged {
			return time.Time{}, s.ID
		}
		return s.Created, s.ID
	})
	if user != "" {
		return page, "", err
	}
	n := 0
	for i := range page {
		id := page[i].ID
		twice := n > 0 && page[n-1].ID == id // while the members change two peers may tell one feed
		if !twice && id > after && (next == "" || id <= next) {
			page[n] = page[i]
			n++
		}
	}
	return page[:n], next, err
}

// Subscribe implements web.Personal. The owner's feeds of all themes, which show private
// entries, are kept by this peer alone.
func (s *Service) Subscribe(ctx context.Context, user string, q feedring.Query, stem bool) (web.Subscription, error) {
	if user == "" && q.Theme == "" && s.cfg.Shared {
		return web.Subscription{}, web.ErrMalformed.Of(errors.New("a personal feed of all themes may show private feeds, so this peer alone would have it, and the fleet's public address leads to others as well: name a theme"))
	}
	if user == "" && q.Theme == "" {
		return s.cfg.Own.Subscribe(ctx, "", q, stem)
	}
	if _, err := match.Parse(q.Words); err != nil {
		return web.Subscription{}, err
	}
	for range attempts {
		slot, err := s.anySlot()
		if err != nil {
			return web.Subscription{}, err
		}
		if id, ok := fleet.ParseID(user); ok {
			slot = id.Slot()
		}
		secret, id := newSecret(slot)
		v := &fleet.FeedValue{
			Secret: secret, Theme: q.Theme, Provider: q.Provider, Words: q.Words, Since: q.Since, Until: q.Until, Limit: cmp.Or(q.Limit, feedring.DefaultLimit),
			Stem: stem, Created: time.Now().UTC().Truncate(time.Second), User: user,
		}
		_, err = s.at(ctx, slot, &request{Op: opSubscribe, ID: id.String(), User: user, Feed: v})
		if err == nil {
			return subscriptionOf(id.String(), v), nil
		}
		if user != "" {
			err = forPeople(err)
		}
		if !errors.Is(err, errCollision) {
			return web.Subscription{}, err
		}
	}
	return web.Subscription{}, web.ErrUnsaved.Of(errCollision)
}

// Unsubscribe implements web.Personal.
func (s *Service) Unsubscribe(ctx context.Context, user, id string) error {
	of, ok := fleet.ParseID(id)
	if user == "" {
		if err := s.cfg.Own.Unsubscribe(ctx, "", id); !ok || !errors.Is(err, web.ErrUnknown) {
			return err
		}
	}
	if !ok {
		return unknown("there is no personal feed with this id")
	}
	_, err := s.at(ctx, of.Slot(), &request{Op: opDrop, ID: id, User: user})
	if user != "" {
		err = forPeople(err)
	}
	return err
}

// User implements web.Users.
func (s *Service) User(ctx context.Context, key string) (string, error) {
	secret, ok := strings.CutPrefix(key, web.UserKeyPrefix)
	id, isSecret := fleet.IDOf(secret)
	if !ok || !isSecret {
		return "", unknown("this is no user's key")
	}
	_, err := s.at(ctx, id.Slot(), &request{Op: opUser, ID: id.String()})
	return id.String(), forPeople(err)
}

// InviteUser implements web.Users.
func (s *Service) InviteUser(ctx context.Context, i web.UserInvitation) (web.UserInvitation, error) {
	i.Created = time.Now().UTC().Truncate(time.Second)
	code, id, err := s.create(ctx, opMakeCode, opCancel, invitationValue{
		Quota: i.Quota, Uses: i.Uses, Expires: i.Expires, Created: i.Created, Note: i.Note,
	})
	i.ID, i.Code = id.String(), code
	return i, err
}

// UserInvitations implements web.Users.
func (s *Service) UserInvitations(ctx context.Context) (all []web.UserInvitation, err error) {
	failed, err := s.all(ctx, &request{Op: opInvited}, func(_ feedring.PeerID, r *reply) { all = append(all, r.Invitations...) })
	return byAge(all, func(i *web.UserInvitation) (time.Time, string) { return i.Created, i.ID }), s.lacking(failed, err)
}

// Users implements web.Users.
func (s *Service) Users(ctx context.Context) (all []web.User, err error) {
	failed, err := s.all(ctx, &request{Op: opUsers}, func(_ feedring.PeerID, r *reply) { all = append(all, r.Users...) })
	return byAge(all, func(u *web.User) (time.Time, string) { return u.Created, u.ID }), s.lacking(failed, err)
}

// RevokeInvitation implements web.Users.
func (s *Service) RevokeInvitation(ctx context.Context, id string) error {
	return s.revoke(ctx, opCancel, id)
}

// RevokeUser implements web.Users.
func (s *Service) RevokeUser(ctx context.Context, id string) error {
	return s.revoke(ctx, opRevoke, id)
}

func (s *Service) revoke(ctx context.Context, what op, id string) error {
	of, ok := fleet.ParseID(id)
	if !ok {
		return unknown("there is none with this id")
	}
	_, err := s.at(ctx, of.Slot(), &request{Op: what, ID: id})
	return err
}

// Fleet implements web.Fleet.
func (s *Service) Fleet(ctx context.Context) (web.FleetStatus, error) {
	status := web.FleetStatus{Fleet: s.cfg.Theme}
	at := make(map[feedring.PeerID]int)
	for _, m := range s.cfg.Members.Members() {
		at[m.Peer] = len(status.Peers)
		status.Peers = append(status.Peers, web.FleetPeer{Peer: m.Peer, Self: m.Peer == s.cfg.Self, Present: m.Present, Gone: m.Gone, Capacity: m.Interests})
		if m.Present {
			status.Capacity += m.Interests
		}
	}
	failed, _ := s.all(ctx, &request{Op: opHeld}, func(p feedring.PeerID, r *reply) {
		if r.Held == nil {
			return
		}
		one, h := &status.Peers[at[p]], r.Held
		one.Serves, one.Keeps, one.Feeds, one.Rows, one.Moving, one.Memory, one.MemoryLimit, one.Full = h.Serves, h.Keeps, h.Feeds, h.Rows, h.Moving, r.Memory, r.Limit, h.Full
		status.Feeds += h.Feeds
		status.Users += h.Users
		status.HeldOnce += h.Once
	})
	for _, p := range failed {
		status.Peers[at[p]].Error = "it did not answer"
		status.Silent++
	}
	status.Unserved, _ = s.unserved()
	return status, nil
}
