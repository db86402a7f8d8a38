package membership

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// nowhere is a host that is connected with nobody.
type nowhere struct{}

func (nowhere) Open(context.Context, feedring.PeerID, feedring.Verb, bool) (network.Stream, error) {
	return nil, errors.New("nobody is connected")
}
func (nowhere) Welcome(feedring.PeerID)         {}
func (nowhere) Welcomed() []feedring.PeerID     { return nil }
func (nowhere) Part(feedring.PeerID)            {}
func (nowhere) KnownPeers() []feedring.PeerInfo { return nil }

type namedBy struct{ site string }

func (n namedBy) Names(site string, _ feedring.PeerID) bool { return site == n.site }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// founder makes a network and returns the keeper of its first admin, with the file of a
// root key.
func founder(t *testing.T) (*Keeper, string) {
	t.Helper()
	made, err := Create(t.TempDir(), "L", charter.Closed, time.Now())
	must(t, err)
	k, err := Open(filepath.Dir(filepath.Dir(made.Charter)))
	must(t, err)
	k.Begin(nowhere{}, namedBy{"a.example"}, slog.New(slog.DiscardHandler))
	return k, made.Roots[1]
}

// other is the keeper of another peer that has the charter only.
func (k *Keeper) other(t *testing.T) *Keeper {
	t.Helper()
	o, err := open(t.TempDir(), k.charter.Load())
	must(t, err)
	o.Begin(nowhere{}, nil, k.log)
	return o
}

// greets says hello to a peer; code: with an invitation, if it is not empty.
func (k *Keeper) greets(t *testing.T, to *Keeper, code string) error {
	t.Helper()
	var key *wire.Sealer
	if code != "" {
		c, err := charters.ParseCode(code)
		must(t, err)
		key, err = wire.NewSealer(c.Key, k.network)
		must(t, err)
	}
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- to.ServeHello(k.self(), wire.NewStream(there))
		_ = there.Close()
	}()
	err := k.greet(t.Context(), to.self(), here, k.proof(), key)
	_ = here.Close()
	if wrong := <-served; wrong != nil {
		t.Errorf("hello was not served: %v", wrong)
	}
	return err
}

func (k *Keeper) code(t *testing.T, what Invitation) string {
	t.Helper()
	code, err := k.Invite(what, []string{"/ip4/127.0.0.1/tcp/1/p2p/" + string(k.self())})
	must(t, err)
	return code
}

func wants(t *testing.T, err error, why Reason) {
	t.Helper()
	if e, ok := IsRefused(err); !ok || e.Reason != why || e.Mode != charter.Closed {
		t.Errorf("%v, want the reason %d", err, why)
	}
}

func TestInvitations(t *testing.T) {
	k, _ := founder(t)
	a, b := k.other(t), k.other(t)
	wants(t, a.greets(t, k, ""), NoCredential)
	once := k.code(t, Invitation{Rights: charter.Read, Valid: time.Hour, Uses: 1})
	must(t, a.greets(t, k, once))
	if got := a.Self().Rights; got != charter.Read || !k.Admits(a.self()) || !a.Admits(k.self()) {
		t.Errorf("the invitation gave %v", got.List())
	}
	for kind, may := range map[wire.Kind]bool{wire.KindPresence: true, wire.KindRow: false, wire.KindEntry: false} {
		if k.MaySign(kind, a.self()) != may {
			t.Errorf("a reader may sign %v: %t", kind, !may)
		}
	}
	must(t, a.greets(t, k, once)) // its answer was lost
	wants(t, b.greets(t, k, once), CodeUsedUp)
	wants(t, b.greets(t, k, k.code(t, Invitation{Rights: charter.Invited, Valid: -time.Second, Uses: 1})), CodeExpired)
	wants(t, b.greets(t, k, k.code(t, Invitation{Rights: charter.Invited, Valid: time.Hour, Uses: 1, Site: "b.example"})), CodeOfOtherSite)
	wants(t, b.greets(t, a, k.code(t, Invitation{Rights: charter.Invited, Valid: time.Hour, Uses: 1})), CodeUnknown)
	must(t, b.greets(t, k, k.code(t, Invitation{Rights: charter.Invited | charter.Admit, Valid: time.Hour, Uses: 1, Site: "a.example"})))
	if got := b.Self().Rights; got != charter.Invited {
		t.Errorf("the invitation gave %v", got.List())
	}
	if _, err := b.Invite(Invitation{Rights: charter.Read, Valid: time.Hour, Uses: 1}, nil); !errors.Is(err, ErrMayNotAdmit) {
		t.Errorf("a member invites: %v", err)
	}
	// What was used up is on disk.
	again, err := Open(k.data)
	must(t, err)
	again.Begin(nowhere{}, nil, k.log)
	wants(t, k.other(t).greets(t, again, once), CodeUsedUp)
}

func TestCredentialsAreRenewed(t *testing.T) {
	const day = 24 * time.Hour
	k, _ := founder(t)
	now := time.Now()
	for name, test := range map[string]struct {
		rights      charter.Rights
		began, life time.Duration
		renewed     bool
	}{
		"in its last 30 days":          {charter.Invited, 371 * day, 400 * day, true},
		"before":                       {charter.Invited, 369 * day, 400 * day, false},
		"of a day, in its last hours":  {charter.Read, 19 * time.Hour, day, true},
		"of a day, before":             {charter.Read, 17 * time.Hour, day, false},
		"over":                         {charter.Read, 25 * time.Hour, day, false},
		"what only a root gives again": {charter.Invited | charter.Expel, 371 * day, 400 * day, true}, // without the right to expel
	} {
		o := k.other(t)
		c, err := Credential(k.sealer.Load(), charter.Credential{Subject: o.self(), Rights: test.rights, NotBefore: now.Add(-test.began), Expires: now.Add(test.life - test.began)})
		must(t, err)
		k.take([]charter.Statement{c})
		before := k.Roll()
		k.renew(o.self())
		if got := k.Roll() != before; got != test.renewed {
			t.Errorf("%s: renewed: %t", name, got)
		}
		if rights, until := k.Roll().Rights(o.self(), now); test.renewed && (rights != test.rights&charter.Invited || until.Sub(now) > test.life+time.Minute || until.Sub(now) < test.life-time.Minute) {
			t.Errorf("%s: %v until %s", name, rights.List(), until)
		}
	}
}

func TestTheExpelledAreTold(t *testing.T) {
	k, root := founder(t)
	o := k.other(t)
	must(t, o.greets(t, k, k.code(t, Invitation{Rights: charter.Invited, Valid: time.Hour, Uses: 1})))
	signer, err := k.Signer("")
	must(t, err)
	out, err := signer.Expel([]feedring.PeerID{o.self()}, time.Time{}, "sold")
	must(t, err)
	_, err = k.Merge(out)
	must(t, err)
	if k.Admits(o.self()) || !o.Admits(o.self()) {
		t.Error("the expulsion has no effect, or came by itself")
	}
	wants(t, o.greets(t, k, ""), Expelled)
	if o.Admits(o.self()) || !o.Self().Expelled {
		t.Error("it does not know that it was expelled")
	}
	wants(t, o.greets(t, k, k.code(t, Invitation{Rights: charter.Invited, Valid: time.Hour, Uses: 1})), Expelled)
	if _, err := signer.Admit(o.self(), charter.Invited, time.Hour); !errors.Is(err, ErrExpelled) {
		t.Errorf("an admin admits it anew: %v", err)
	}
	byRoot, err := k.Signer(root)
	must(t, err)
	back, err := byRoot.Admit(o.self(), charter.Invited, time.Hour)
	must(t, err)
	_, err = k.Merge(back)
	must(t, err)
	must(t, o.greets(t, k, ""))
	// Since then admins admit it as any other.
	renewed, err := signer.Admit(o.self(), charter.Invited, 2*time.Hour)
	must(t, err)
	_, err = k.Merge(renewed)
	must(t, err)
	if _, until := k.Roll().Rights(o.self(), time.Now()); time.Until(until) < 90*time.Minute {
		t.Errorf("renewed until %s", until)
	}
	// The roll is on disk.
	again, err := Open(k.data)
	must(t, err)
	if again.Roll().Hash() != k.Roll().Hash() {
		t.Error("the roll on disk is another one")
	}
	if _, err := byRoot.Expel([]feedring.PeerID{byRoot.sealer.ID()}, time.Time{}, ""); !errors.Is(err, ErrRoot) {
		t.Errorf("a root is expelled: %v", err)
	}
}

// TestAPeerHearsThatItMayPublish: whenever its rights became others, and no more often.
func TestAPeerHearsThatItMayPublish(t *testing.T) {
	k, _ := founder(t)
	o, sites := k.other(t), &answers{}
	o.Vouch(sites, time.Second)
	own, err := k.Signer("")
	must(t, err)
	for want, rights := range []charter.Rights{1: charter.Read, 2: charter.Invited, 3: charter.Invited} {
		if rights == 0 {
			continue
		}
		admitted, err := own.Admit(o.self(), rights, time.Hour)
		must(t, err)
		_, err = k.Merge(admitted)
		must(t, err)
		k.exchangesWith(t, o)
		if o.Self().Rights != rights || sites.feeds != min(want, 2) {
			t.Errorf("with the rights %v it was told %d times", o.Self().Rights.List(), sites.feeds)
		}
	}
}

// TestMembersHearThatTheirGuideWasExpelled: they are not told that they lack a credential. Who is
// no member is told nothing of it.
func TestMembersHearThatTheirGuideWasExpelled(t *testing.T) {
	k, _ := founder(t)
	guide, reader := k.other(t), k.other(t)
	for _, o := range []*Keeper{guide, reader} {
		k.admits(t, o)
		k.exchangesWith(t, o)
	}
	must(t, reader.greets(t, guide, ""))
	own, err := k.Signer("")
	must(t, err)
	out, err := own.Expel([]feedring.PeerID{guide.self()}, time.Time{}, "")
	must(t, err)
	_, err = k.Merge(out)
	must(t, err)
	wants(t, guide.greets(t, k, ""), Expelled)
	stranger := k.other(t)
	wants(t, stranger.greets(t, guide, ""), NoCredential)
	if len(stranger.Roll().Statements()) > 0 {
		t.Error("a stranger is told of members")
	}
	wants(t, reader.greets(t, guide, ""), OtherExpelled)
	if reader.Admits(guide.self()) || !reader.Admits(k.self()) {
		t.Error("the reader does not know who was expelled")
	}
}

// TestTheLastAdminStays: it does not expel itself, nor with others, unless somebody else may do
// all that it may, or a root key signs.
func TestTheLastAdminStays(t *testing.T) {
	k, root := founder(t)
	o := k.other(t)
	k.admits(t, o)
	own, err := k.Signer("")
	must(t, err)
	byRoot, err := k.Signer(root)
	must(t, err)
	expels := func(want error, peers ...feedring.PeerID) {
		t.Helper()
		if _, err := own.Expel(peers, time.Time{}, ""); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	expels(ErrOnlyAdmin, k.self())
	for _, rights := range []charter.Rights{charter.Expel, charter.Admit} { // both together are enough
		expels(ErrOnlyAdmin, k.self())
		admin, err := byRoot.Admit(o.self(), charter.Invited|rights, time.Hour)
		must(t, err)
		_, err = k.Merge(admin)
		must(t, err)
	}
	expels(ErrOnlyAdmin, o.self(), k.self())
	expels(nil, k.self())
	if _, err := byRoot.Expel([]feedring.PeerID{k.self(), o.self()}, time.Time{}, ""); err != nil {
		t.Errorf("a root key expels: %v", err)
	}
}

// TestHalfWrittenFilesAreRemoved: those that a crash left, and not those of another process.
func TestHalfWrittenFilesAreRemoved(t *testing.T) {
	k, _ := founder(t)
	old, young := filepath.Join(k.data, folder, rollFile+".new-1"), filepath.Join(k.data, folder, rollFile+".new-2")
	for _, name := range []string{old, young} {
		must(t, os.WriteFile(name, nil, 0o600))
	}
	must(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*litter)))
	_, err := Open(k.data)
	must(t, err)
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old one is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("one that is being written: %v", err)
	}
}

// TestStrangersCostNoSignature: statements of neither a root nor an admin are dropped
// unchecked, and the first wrong one of a root ends the message.
func TestStrangersCostNoSignature(t *testing.T) {
	k, _ := founder(t)
	stranger, err := wire.NewSealer(mustKey(t), k.network)
	must(t, err)
	made, err := Credential(stranger, charter.Credential{Subject: stranger.ID(), Rights: charter.Invited, NotBefore: time.Now(), Expires: time.Now().Add(time.Hour)})
	must(t, err)
	list := charters.StatementsTo([]charter.Statement{made})
	list[0].GetCredential().Signature = make([]byte, 64)
	before := k.Roll()
	if err := k.takeFrom(list, 1); err != nil || k.Roll() != before {
		t.Errorf("a stranger's statement: %v", err)
	}
	forged := *made.Credential.Seal
	forged.Signer = k.charter.Load().Roots[0]
	made.Credential.Seal = &forged
	if err := k.takeFrom(charters.StatementsTo([]charter.Statement{made}), 1); !errors.Is(err, wire.ErrSignature) || k.Roll() != before {
		t.Errorf("a forged one of a root: %v", err)
	}
	if err := k.takeFrom(make([]*feedringv1.Statement, 2), 1); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("too many: %v", err)
	}
}

// TestDirectoriesOfOtherNetworks: what was used in one is not taken into another.
func TestDirectoriesOfOtherNetworks(t *testing.T) {
	k, _ := founder(t)
	var other *OtherError
	if _, err := Create(k.data, "M", charter.Closed, time.Now()); !errors.As(err, &other) {
		t.Errorf("made twice: %v", err)
	}
	if err := mayBecome(k.data, "x-other"); !errors.As(err, &other) {
		t.Errorf("joined twice: %v", err)
	}
	used := t.TempDir()
	must(t, write(used, "store-is-beside-it", nil))
	must(t, mayBecome(used, k.network))
	open := t.TempDir() // a peer of an open network ran there
	must(t, os.Mkdir(filepath.Join(open, "store"), 0o700))
	if _, err := Create(open, "label", charter.Closed, time.Now()); !errors.As(err, &other) {
		t.Errorf("a network was made where an open one's peer ran: %v", err)
	}
	must(t, NoteName(used, k.network))
	must(t, NoteName(used, k.network))
	if is, err := NetworkOf(used); err != nil || is != "" {
		t.Errorf("%q, %v", is, err)
	}
}

func mustKey(t *testing.T) crypto.PrivKey {
	t.Helper()
	key, err := identity.New()
	must(t, err)
	return key
}
