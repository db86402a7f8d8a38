package vouch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// Limits of a Document.
const (
	MaxDocument  = 64 << 10 // bytes
	MaxPeers     = 64
	MaxAddresses = 64
	MaxFeeds     = 1_000

	maxAddress = 512 // bytes
	maxNetwork = 64  // bytes
)

// DefaultNetwork is the network of a document that names none.
const DefaultNetwork = "main"

// Document is what a site says: the peers that publish for it, where to find
// them, and which feeds it means. Without Feeds it means all of its own.
type Document struct {
	Network   string            `json:"network"`
	Peers     []feedring.PeerID `json:"peers,omitempty"`
	Addresses []string          `json:"addresses,omitempty"` // multiaddresses
	Feeds     []string          `json:"feeds,omitempty"`
	// NoMirrors says that peers which are not named shall not publish these feeds.
	NoMirrors NoMirrors `json:"feedring,omitzero"`
}

// NoMirrors is "no" in JSON. Anything else is no refusal: a mistake in one field
// must not cost the others.
type NoMirrors bool

// UnmarshalJSON reads "no", in any case, or false.
func (n *NoMirrors) UnmarshalJSON(b []byte) error {
	var word string
	no := json.Unmarshal(b, &word) == nil && strings.EqualFold(strings.TrimSpace(word), "no")
	*n = NoMirrors(no || string(b) == "false")
	return nil
}

// MarshalJSON writes "no", or "yes".
func (n NoMirrors) MarshalJSON() ([]byte, error) {
	if n {
		return []byte(`"no"`), nil
	}
	return []byte(`"yes"`), nil
}

// ParseDocument reads and checks the JSON form. Unknown fields are ignored, so
// that the form can grow.
func ParseDocument(b []byte) (Document, error) {
	if len(b) > MaxDocument {
		return Document{}, fmt.Errorf("the document has more than %d bytes", MaxDocument)
	}
	var d Document
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("the document is not the JSON that is expected: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Document{}, errors.New("the document goes on after its JSON object")
	}
	if d.Network == "" {
		d.Network = DefaultNetwork
	}
	for i, f := range d.Feeds[:min(len(d.Feeds), MaxFeeds)] {
		u, err := feedring.ParseFeedURL(f)
		if err != nil {
			return Document{}, err
		}
		d.Feeds[i] = u
	}
	return d, d.Validate()
}

// errNobody is for a document that says nothing at all.
var errNobody = errors.New("no peer is named")

// Validate reports the first thing wrong with d.
func (d Document) Validate() error {
	switch {
	case d.Network == "" || len(d.Network) > maxNetwork || !printable(d.Network):
		return fmt.Errorf("network %q is no name such as %q, without spaces", clip(d.Network), DefaultNetwork)
	case len(d.Peers) == 0 && len(d.Addresses) == 0 && !bool(d.NoMirrors):
		return errNobody
	case len(d.Peers) > MaxPeers:
		return fmt.Errorf("%d peers are named: at most %d are allowed", len(d.Peers), MaxPeers)
	case len(d.Addresses) > MaxAddresses:
		return fmt.Errorf("%d addresses are given: at most %d are allowed", len(d.Addresses), MaxAddresses)
	case len(d.Feeds) > MaxFeeds:
		return fmt.Errorf("%d feeds are listed: at most %d are allowed", len(d.Feeds), MaxFeeds)
	}
	for _, p := range d.Peers {
		if !isPeerID(string(p)) {
			return fmt.Errorf("%q is no peer id: one looks like 12D3KooW…", clip(string(p)))
		}
	}
	for _, a := range d.Addresses {
		if !strings.HasPrefix(a, "/") || len(a) > maxAddress || !printable(a) {
			return fmt.Errorf("%q is no multiaddress: one looks like /dns4/example.org/tcp/7377/p2p/12D3KooW…", clip(a))
		}
	}
	for _, f := range d.Feeds {
		if u, err := feedring.ParseFeedURL(f); err != nil || u != f {
			return fmt.Errorf("feed %q is not written as an address in its normal form", clip(f))
		}
	}
	return nil
}

// Marshal returns the JSON form, for people to read and to publish.
func (d Document) Marshal() ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("vouch: encode document: %w", err)
	}
	return out.Bytes(), nil
}

// names reports whether d names peer.
func (d Document) names(peer feedring.PeerID) bool { return slices.Contains(d.Peers, peer) }

// means returns those of feeds that d speaks of.
func (d Document) means(feeds []string) []string {
	if len(d.Feeds) == 0 {
		return feeds
	}
	var out []string
	for _, f := range feeds {
		if slices.Contains(d.Feeds, f) {
			out = append(out, f)
		}
	}
	return out
}

// size is about what d takes in memory, bytes.
func (d Document) size() int {
	total := 100
	for _, p := range d.Peers {
		total += 16 + len(p)
	}
	for _, list := range [][]string{d.Addresses, d.Feeds} {
		for _, s := range list {
			total += 16 + len(s)
		}
	}
	return total
}

// isPeerID checks the alphabet and length of a peer id in base58, as libp2p
// writes it: that is enough to tell a typing error, and a wrong id names
// nobody.
func isPeerID(s string) bool {
	const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	return len(s) >= 32 && len(s) <= 128 && strings.Trim(s, base58) == ""
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
