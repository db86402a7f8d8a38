package node

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestConfirmBelievesWhatIsSigned: a member that names other publishers of an
// entry is believed where it shows what they signed. All else is its claim, and of
// that there is little.
func TestConfirmBelievesWhatIsSigned(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	liar := startPeer(t, peerConfig(t, "liar.example", a))
	formed(t, a, liar)
	check(t, a.testPublish(1, 1))
	spec := a.cfg.Feeds[0]
	id := feedring.NewEntryID(spec.URL, anEntry(1).Title, "", "")

	old := newSealer(t)
	sealed := func(by *wire.Sealer, url string, id feedring.EntryID) *feedringv1.Sealed {
		s := openStore(t)
		w, e := writer(s, by), anEntry(1)
		spec := spec
		e.ID, spec.URL = id, url
		w.append(t, spec, e)
		it := log(t, s, feedring.FeedRef{URL: url, Publisher: by.ID()})[0]
		return wire.SealTo(&feedring.Seal{Signer: by.ID(), Payload: it.Payload, Signature: it.Signature})
	}
	var mu sync.Mutex // of part: polls come on goroutines of their own
	var part feedringv1.PollPart
	liar.server.Handle(wire.VerbPoll, transport.Bound{All: 64, Each: 64}, transport.HandlerFunc(func(_ feedring.PeerID, s *wire.Stream) error {
		var req feedringv1.PollRequest
		if err := s.Receive(&req, time.Second); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		part.Head = req.GetAfter()
		return s.Send(&part, time.Second)
	}))
	retract := func(published []*feedringv1.Sealed, named ...feedring.PeerID) web.Retracted {
		t.Helper()
		mu.Lock()
		part.Reset()
		part.Published = published
		polls.PublishedByTo(&part, named)
		mu.Unlock()
		told, err := a.RetractEntry(t.Context(), id)
		check(t, err)
		if len(told) != 1 || !slices.Equal(told[0].ConfirmedBy, []feedring.PeerID{liar.ID()}) {
			t.Fatalf("%+v", told)
		}
		return told[0]
	}

	var madeUp []feedring.PeerID
	for range 10 {
		madeUp = append(madeUp, newSealer(t).ID())
	}
	if r := retract(nil, madeUp...); len(r.AlsoBy) > 0 || len(r.Claims) != polls.MaxPublished || r.Claims[0] != (web.RetractionClaim{Peer: liar.ID(), PublishedBy: madeUp[0]}) {
		t.Errorf("keys that are made up: %+v", r)
	}
	forged := sealed(old, spec.URL, id)
	forged.Payload[len(forged.Payload)-8] ^= 1
	for name, s := range map[string]*feedringv1.Sealed{
		"forged": forged, "of another feed": sealed(old, spec.URL+"/2", id), "another entry": sealed(old, spec.URL, anEntry(2).ID),
	} {
		if r := retract([]*feedringv1.Sealed{s}, old.ID()); len(r.AlsoBy) > 0 || len(r.Claims) != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := retract([]*feedringv1.Sealed{sealed(old, spec.URL, id)}, old.ID()); !slices.Equal(r.AlsoBy, []feedring.PeerID{old.ID()}) || len(r.Claims) > 0 {
		t.Errorf("signed: %+v", r)
	}
}
