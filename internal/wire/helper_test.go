package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

const network = "test"

// newSealer makes the peer number n, the same each time.
func newSealer(t testing.TB, n byte) *wire.Sealer {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSealer(key, network)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func sampleEntry(publisher feedring.PeerID) *feedring.Entry {
	const feed = "https://example.org/feed.xml"
	return &feedring.Entry{
		ID: feedring.NewEntryID(feed, "guid", "", ""), Feed: feed, Provider: "example.org", Theme: "news",
		Title: "A title", URL: "https://example.org/1", Published: noon, Updated: noon.Add(time.Hour),
		Summary: "A summary", ContentHTML: "<p>" + strings.Repeat("Some words of content. ", 60) + "</p>",
		Authors: []string{"Ann"}, Tags: []string{"one", "two"}, Language: "en",
		History: feedring.OlderHistory, Attachments: []feedring.Attachment{{URL: "https://example.org/1.mp3", MIMEType: "audio/mpeg", Size: 5_000_000_000, Seconds: 62}},
		Publisher: publisher, Seen: noon.Add(2*time.Hour + 5*time.Millisecond),
		Position: feedring.Position{Epoch: 1000, Sequence: 1}, Version: 1,
	}
}

func sealEntry(t testing.TB, s *wire.Sealer, e *feedring.Entry, previous [32]byte) *feedring.Seal {
	t.Helper()
	payload, err := wire.EncodeEntry(e, previous)
	if err != nil {
		t.Fatal(err)
	}
	return s.Seal(wire.KindEntry, payload)
}

func sampleTicket(client, provider feedring.PeerID) feedring.Ticket {
	return feedring.Ticket{
		ID: feedring.QueryID{1, 2}, Attempt: 3, Group: feedring.Theme("news").Group(), Client: client,
		Peers: []feedring.PeerID{provider}, Expiry: noon.Add(1234 * time.Microsecond),
	}
}

func randomText(r *rand.Rand, most int) string {
	const letters = "abc é漢<>/ \U0001F600\n"
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}
