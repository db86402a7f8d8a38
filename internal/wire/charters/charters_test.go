package charters

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func key(t testing.TB, n byte) crypto.PrivKey {
	t.Helper()
	k, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sealer(t testing.TB, n byte, network string) *wire.Sealer {
	t.Helper()
	s, err := wire.NewSealer(key(t, n), network)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func theCharter(t testing.TB) *charter.Charter {
	t.Helper()
	c := &charter.Charter{Label: "Thirty sites", Mode: charter.Closed, Roots: []feedring.PeerID{sealer(t, 1, "main").ID()}, Created: at}
	if err := Encode(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// three are a credential, an expulsion and a removal on a network.
func three(t testing.TB, network string) []charter.Statement {
	t.Helper()
	root := sealer(t, 1, network)
	subject := sealer(t, 2, network).ID()
	c, err := SealCredential(root, charter.Credential{
		Subject: subject, Rights: charter.Invited, NotBefore: at, Expires: at.Add(time.Hour), Serial: 7, Lifts: []charter.ID{{1}, {2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := SealExpulsion(root, charter.Expulsion{
		Subject: subject, Since: at, At: at, Until: at.Add(time.Hour), Reason: "sold", Keeps: []charter.ID{{3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := SealRemoval(root, &charter.Removal{
		Target: "0123456789abcdef0123456789abcdef", At: at, Until: at.Add(time.Hour), Reason: "advertising", Restores: []charter.ID{{4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []charter.Statement{c, e, m}
}

func TestStatementsTravel(t *testing.T) {
	network := theCharter(t).Network()
	sent := three(t, network)
	got, err := StatementsFrom(network, StatementsTo(sent), 3)
	if err != nil || !reflect.DeepEqual(sent, got) {
		t.Errorf("%v: sent %+v, got %+v", err, sent, got)
	}
	if got[0].Credential.Serial != 7 || got[1].Expulsion.Reason != "sold" || len(got[0].Credential.Lifts) != 2 || got[2].Removal.Reason != "advertising" {
		t.Errorf("%+v", got)
	}
	if _, err := StatementsFrom(network, StatementsTo(sent), 2); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("more than is taken: %v", err)
	}
}

// TestForgedStatementsAreRefused: those that were changed, those of another network,
// and those of one kind that are shown as the other.
func TestForgedStatementsAreRefused(t *testing.T) {
	network := theCharter(t).Network()
	changed := StatementsTo(three(t, network))
	for _, s := range changed {
		for _, sealed := range []*feedringv1.Sealed{s.GetCredential(), s.GetExpulsion(), s.GetRemoval()} {
			if sealed != nil {
				sealed.Payload = slices.Clone(sealed.Payload)
				sealed.Payload[len(sealed.Payload)-1] ^= 1
			}
		}
	}
	list := StatementsTo(three(t, network))
	crossed := []*feedringv1.Statement{
		{Is: &feedringv1.Statement_Credential{Credential: list[1].GetExpulsion()}}, {Is: &feedringv1.Statement_Expulsion{Expulsion: list[0].GetCredential()}},
		{Is: &feedringv1.Statement_Removal{Removal: list[1].GetExpulsion()}}, {Is: &feedringv1.Statement_Expulsion{Expulsion: list[2].GetRemoval()}},
	}
	for name, forged := range map[string][]*feedringv1.Statement{
		"changed": changed, "of another network": StatementsTo(three(t, "main")), "of another kind": crossed,
		"unsigned": {{Is: &feedringv1.Statement_Credential{}}, {Is: &feedringv1.Statement_Removal{}}, {Is: &feedringv1.Statement_Expulsion{Expulsion: &feedringv1.Sealed{}}}},
	} {
		for i := range forged {
			if _, err := StatementsFrom(network, forged[i:i+1], 1); !errors.Is(err, wire.ErrSignature) {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
	}
}

func TestHelloTravels(t *testing.T) {
	network := theCharter(t).Network()
	holder, code := sealer(t, 2, network).ID(), sealer(t, 9, network)
	sent := Hello{
		Statements: three(t, network), Roll: charter.ID{5}, Whole: charter.ID{6}, Refusal: feedringv1.HelloRefusal_HELLO_REFUSAL_USED_UP, Mode: charter.Vouched,
		Site: "a.example", Charter: theCharter(t).Text,
	}
	p, err := HelloTo(sent, holder, code)
	if err != nil {
		t.Fatal(err)
	}
	got, err := HelloFrom(network, holder, p)
	sent.Invitation, sent.Statements = code.ID(), nil
	if err != nil || !reflect.DeepEqual(sent, got) {
		t.Errorf("%v: sent %+v, got %+v", err, sent, got)
	}
	// Whoever saw the hello cannot redeem the invitation for itself.
	if _, err := HelloFrom(network, sealer(t, 3, network).ID(), p); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("replayed by another peer: %v", err)
	}
	if _, err := HelloFrom("main", holder, &feedringv1.Hello{Invitation: p.GetInvitation()}); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("on another network: %v", err)
	}
}

func TestCodes(t *testing.T) {
	c := theCharter(t)
	text := Code{Charter: c, Addrs: []string{"/ip4/127.0.0.1/tcp/1"}, Key: key(t, 4)}.String()
	got, err := ParseCode(" " + text[:20] + "\n" + text[20:] + "\n")
	if err != nil || got.Charter.Network() != c.Network() || len(got.Addrs) != 1 || !got.Key.Equals(key(t, 4)) {
		t.Errorf("%v: %+v", err, got)
	}
	for _, bad := range []string{"", "a", text[:len(text)-1], text[1:], "!" + text, strings.Repeat("A", maxCode+1), strings.Replace(text, text[30:31], "-", 1) + "A"} {
		if _, err := ParseCode(bad); err == nil {
			t.Errorf("%.40q is taken", bad)
		}
	}
}

func TestCharters(t *testing.T) {
	for name, body := range map[string]*feedringv1.CharterBody{
		"no mode": {Label: "a", Roots: [][]byte{{1}}}, "no root": {Label: "a", Mode: 1}, "label": {Label: strings.Repeat("a", MaxLabel+1), Mode: 2},
	} {
		text, err := proto.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(text); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func FuzzCharter(f *testing.F) {
	f.Add(theCharter(f).Text)
	open := &charter.Charter{Label: "nobody moderates", Mode: charter.Vouched, Created: at}
	if err := Encode(open); err != nil {
		f.Fatal(err)
	}
	f.Add(open.Text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := Decode(text); err == nil && (!charter.Names(c.Network()) || wire.CheckNetwork(c.Network()) != nil) {
			t.Errorf("%q", c.Network())
		}
	})
}

func FuzzCode(f *testing.F) {
	f.Add(Code{Charter: theCharter(f), Addrs: []string{"/ip4/127.0.0.1/tcp/1"}, Key: key(f, 4)}.String())
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCode(text)
		if err != nil {
			return
		}
		if again, err := ParseCode(c.String()); err != nil || again.Charter.Network() != c.Charter.Network() {
			t.Errorf("%v", err)
		}
	})
}

// TestTargetsOfRemovals: whatever is named is kept, since a later version may know it.
func TestTargetsOfRemovals(t *testing.T) {
	network := theCharter(t).Network()
	root := sealer(t, 1, network)
	for _, target := range []charter.Target{"", "https://a.example/feed.xml", charter.PeerTarget(root.ID()), "a.example"} {
		sent, err := SealRemoval(root, &charter.Removal{Target: target, At: at, Until: at})
		if err != nil {
			t.Fatal(err)
		}
		got, err := StatementsFrom(network, StatementsTo([]charter.Statement{sent}), 1)
		if err != nil || len(got) != 1 || got[0].Removal.Target != target {
			t.Errorf("%v: %+v", err, got)
		}
	}
	if _, err := SealRemoval(root, &charter.Removal{Target: charter.Target(strings.Repeat("a", wire.MaxURL+1)), At: at, Until: at}); err == nil {
		t.Error("a long target is taken")
	}
}

// FuzzRemoval opens removals whose signer made them as it liked: what is taken travels on
// as it came.
func FuzzRemoval(f *testing.F) {
	network := theCharter(f).Network()
	root := sealer(f, 1, network)
	f.Add(three(f, network)[2].Seal().Payload)
	for _, target := range []charter.Target{"", "http://a.example/feed.xml", charter.PeerTarget(root.ID())} {
		s, err := SealRemoval(root, &charter.Removal{Target: target, At: at, Until: at.Add(time.Hour)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Seal().Payload)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		one := &feedringv1.Statement{Is: &feedringv1.Statement_Removal{Removal: wire.SealTo(root.Seal(wire.KindRemoval, body))}}
		list, err := StatementsFrom(network, []*feedringv1.Statement{one}, 1)
		if err != nil {
			return
		}
		m := list[0].Removal
		r := charter.NewRoll(theCharter(t)).Merge(list, at)
		ref := feedring.FeedRef{URL: string(m.Target), Publisher: feedring.PeerID(m.Target)}
		if hides := r.Removes(ref, feedring.EntryID(m.Target)); hides != r.RemovesAny() || hides && len(m.Restores) > 0 {
			t.Errorf("it hides what it names: %t; anything: %t", hides, r.RemovesAny())
		}
		if again, err := StatementsFrom(network, StatementsTo(r.Statements()), 1); err != nil || len(again) == 1 && again[0].ID() != list[0].ID() {
			t.Errorf("sent on: %v", err)
		}
	})
}

// FuzzBodies opens bodies that their signer made as it liked.
func FuzzBodies(f *testing.F) {
	network := theCharter(f).Network()
	for i, s := range three(f, network)[:2] {
		f.Add(i == 0, s.Seal().Payload)
	}
	root := sealer(f, 1, network)
	f.Fuzz(func(t *testing.T, isCredential bool, body []byte) {
		one := &feedringv1.Statement{Is: &feedringv1.Statement_Expulsion{Expulsion: wire.SealTo(root.Seal(wire.KindExpulsion, body))}}
		if isCredential {
			one = &feedringv1.Statement{Is: &feedringv1.Statement_Credential{Credential: wire.SealTo(root.Seal(wire.KindCredential, body))}}
		}
		list, err := StatementsFrom(network, []*feedringv1.Statement{one}, 1)
		if err != nil {
			return
		}
		r := charter.NewRoll(theCharter(t)).Merge(list, at)
		r.Members(at)
		r.Proof(list[0].Subject(), at)
	})
}

func FuzzHello(f *testing.F) {
	network := theCharter(f).Network()
	holder := sealer(f, 2, network).ID()
	p, err := HelloTo(Hello{Statements: three(f, network), Mode: charter.Vouched, Site: "a.example", Charter: theCharter(f).Text}, holder, sealer(f, 9, network))
	if err != nil {
		f.Fatal(err)
	}
	raw, err := proto.Marshal(p)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p feedringv1.Hello
		if wire.Unmarshal(raw, &p) != nil {
			return
		}
		h, err := HelloFrom(network, holder, &p)
		if err != nil {
			return
		}
		if c, err := Decode(h.Charter); err == nil && len(c.Text) > maxText {
			t.Errorf("a charter of %d bytes", len(c.Text))
		}
		if list, err := StatementsFrom(network, p.GetStatements(), charter.MaxProof); err == nil {
			charter.NewRoll(theCharter(t)).Merge(list, at)
		}
	})
}

func FuzzRoll(f *testing.F) {
	network := theCharter(f).Network()
	holder := sealer(f, 2, network).ID()
	message, err := RollTo(Roll{
		Hash: charter.ID{1}, Have: []uint64{1}, Want: []uint64{2}, Statements: three(f, network),
		Asked: []feedring.PeerID{holder}, Named: []NamedPeer{{holder, "a.example"}},
	})
	if err != nil {
		f.Fatal(err)
	}
	raw, err := proto.Marshal(message)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p feedringv1.Roll
		if wire.Unmarshal(raw, &p) != nil {
			return
		}
		for _, s := range p.GetStatements() {
			SealOf(s)
		}
		r, err := RollFrom(&p)
		if err != nil {
			return
		}
		if len(r.Have)+len(r.Want) > 2*MaxStatements || len(r.Asked) > MaxAsked || len(r.Named) > MaxAsked+1 {
			t.Errorf("%d and %d ids, %d and %d peers", len(r.Have), len(r.Want), len(r.Asked), len(r.Named))
		}
		if _, err := RollTo(r); err != nil {
			t.Error(err)
		}
	})
}
