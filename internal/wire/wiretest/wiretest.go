// Package wiretest has peers and entries for tests of what travels.
package wiretest

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// Network is the network that everything here is made for.
const Network = "test"

// NewSealer makes the peer number n, the same each time.
func NewSealer(t testing.TB, n byte) *wire.Sealer {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSealer(key, Network)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Noon is when sample entries were published.
var Noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// SampleEntry is an entry with something in every part.
func SampleEntry(publisher feedring.PeerID) *feedring.Entry {
	const feed = "https://example.org/feed.xml"
	return &feedring.Entry{
		ID: feedring.NewEntryID(feed, "guid", "", ""), Key: "guid", Feed: feed, Provider: "example.org", Theme: "news",
		Title: "A title", URL: "https://example.org/1", Published: Noon, Updated: Noon.Add(time.Hour),
		Summary: "A summary", ContentHTML: "<p>" + strings.Repeat("Some words of content. ", 60) + "</p>",
		Authors: []string{"Ann"}, Tags: []string{"one", "two"}, Language: "en",
		History: feedring.OlderHistory, Attachments: []feedring.Attachment{{URL: "https://example.org/1.mp3", MIMEType: "audio/mpeg", Size: 5_000_000_000, Seconds: 62}},
		Publisher: publisher, Seen: Noon.Add(2*time.Hour + 5*time.Millisecond),
		Position: feedring.Position{Epoch: 1000, Sequence: 1}, Version: 1,
	}
}

// SealEntry encodes and signs an entry, which follows the one of that hash.
func SealEntry(t testing.TB, s *wire.Sealer, e *feedring.Entry, previous [32]byte) *feedring.Seal {
	t.Helper()
	payload, err := wire.EncodeEntry(e, previous)
	if err != nil {
		t.Fatal(err)
	}
	return s.Seal(wire.KindEntry, payload)
}
