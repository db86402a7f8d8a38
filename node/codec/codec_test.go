package codec_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// TestEveryMessageHasACodec reads the machines' source for messages, so that
// one without a form is noticed here and not on a running peer.
func TestEveryMessageHasACodec(t *testing.T) {
	var declared, tested []feedring.Verb
	for _, room := range []string{"../../group/internal/message", "../../ring/internal/message", "../../internal/peer"} {
		declared = append(declared, verbsIn(t, room)...)
	}
	for _, m := range messages {
		tested = append(tested, m.Verb())
	}
	slices.Sort(declared)
	slices.Sort(tested)
	if !slices.Equal(declared, codec.Verbs()) {
		t.Errorf("declared: %v\nwith a form: %v", declared, codec.Verbs())
	}
	if !slices.Equal(declared, tested) {
		t.Errorf("declared: %v\ntested: %v", declared, tested)
	}
}

// verbsIn finds what the methods Verb of a package return.
func verbsIn(t *testing.T, room string) (verbs []feedring.Verb) {
	names, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != "Verb" || f.Recv == nil {
				continue
			}
			literal := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
			verb, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			verbs = append(verbs, feedring.Verb(verb))
		}
	}
	return verbs
}

// TestRandomMessagesComeBack holds that every field of every message survives,
// and that a peer that passes statements on passes on the same bytes.
func TestRandomMessagesComeBack(t *testing.T) {
	self, other, v := newSealer(t, 1), newSealer(t, 2), wire.NewVerifier(network)
	mk := newMaker(t, 1)
	for _, kind := range messages {
		for range 40 {
			m := mk.like(kind)
			sent := encode(t, self, m)
			got, err := codec.Decode(v, m.Verb(), sent)
			if err != nil {
				t.Fatalf("%+v: %v", m, err)
			}
			if !reflect.DeepEqual(unseal(got), unseal(m)) {
				t.Fatalf("got  %+v\nwant %+v", unseal(got), m)
			}
			if passed := encode(t, other, got); !bytes.Equal(passed, sent) {
				t.Fatalf("%s is passed on as other bytes", m.Verb())
			}
		}
	}
}

// TestZeroMessages holds that fields that may be absent may be.
func TestZeroMessages(t *testing.T) {
	self, v := newSealer(t, 1), wire.NewVerifier(network)
	for _, m := range []feedring.Message{
		group.HandOver{}, group.BeaconAnswer{}, group.Rows{}, group.HeadsWanted{}, group.Heads{}, group.Intention{},
		group.Probe{}, group.Objection{}, group.Replace{}, group.Placed{}, group.Assigned{},
		group.Join{Row: group.Row{Peer: self.ID()}},
		group.Stale{Claim: group.Claim{Term: feedring.Term{Number: 1, Claimant: self.ID()}}},
		group.Beacon{Claim: group.Claim{Term: feedring.Term{Number: 1, Claimant: self.ID()}}},
		ring.Swap{}, ring.Versions{}, ring.Rows{},
	} {
		got, err := codec.Decode(v, m.Verb(), encode(t, self, m))
		if err != nil || !reflect.DeepEqual(unseal(got), m) {
			t.Errorf("%T: got %+v, want %+v: %v", m, got, m, err)
		}
	}
}

func TestStatementsOfOthersAreNotSealed(t *testing.T) {
	self, other := newSealer(t, 1), newSealer(t, 2).ID()
	term := feedring.Term{Number: 1, Claimant: other}
	for _, m := range []feedring.Message{
		group.Join{Row: group.Row{Peer: other}},
		group.Confirmation{Claim: group.Claim{Term: term}},
		group.Beacon{Claim: group.Claim{Term: term}},
		ring.Rows{Rows: []*ring.Row{{Theme: "news", Group: news, Term: term, Manager: feedring.PeerInfo{ID: other}}}},
		ring.Rows{Lost: []ring.Lost{{By: other}}},
		group.Stale{},
	} {
		if _, err := codec.Encode(self, m); !errors.Is(err, wire.ErrSignature) {
			t.Errorf("%T: %v", m, err)
		}
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	self := newSealer(t, 1)
	rows := group.Rows{}
	for range 100 {
		rows.Rows = append(rows.Rows, &group.Row{Seal: &feedring.Seal{Payload: make([]byte, 100_000)}})
	}
	long := group.Join{Row: group.Row{Peer: self.ID()}}
	for range 40_000 {
		long.Row.Addrs = append(long.Row.Addrs, strings.Repeat("a", 200))
	}
	for _, test := range []struct {
		m    feedring.Message
		want error
	}{
		{rows, wire.ErrTooLarge},
		{long, wire.ErrTooLarge},
		{group.Replace{Secondary: "nobody"}, wire.ErrMalformed},
		{ring.Search{Provider: "\xff"}, wire.ErrMalformed},
		{ring.Rows{Rows: []*ring.Row{{Theme: "news"}}}, wire.ErrMalformed},
		{unknown{}, wire.ErrMalformed},
		{disguised{}, wire.ErrMalformed},
	} {
		if _, err := codec.Encode(self, test.m); !errors.Is(err, test.want) {
			t.Errorf("%T: %v", test.m, err)
		}
	}
}

type unknown struct{}

func (unknown) Verb() feedring.Verb { return "unknown" }

type disguised struct{}

func (disguised) Verb() feedring.Verb { return "beacon" }

func TestEncodeLeavesTheMessageAlone(t *testing.T) {
	mk, self := newMaker(t, 3), newSealer(t, 1)
	mk.full = true
	for _, kind := range messages {
		m := mk.like(kind)
		encode(t, self, m)
		if _, nothingElse := m.(group.Evidence); nothingElse {
			continue
		}
		if stripped := unseal(m); !reflect.DeepEqual(m, stripped) {
			t.Errorf("%T came back with a seal", m)
		}
	}
}
