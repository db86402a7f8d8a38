package vouch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// maxRecords bounds how many TXT records of one name are read.
const maxRecords = 64

// ParseTXT reads the records of _feedring.SITE, such as
// "network=main peer=12D3… feed=https://…", for one network. Records of other
// networks and unknown keys are ignored; several records add up.
func ParseTXT(records []string, network string) (Document, error) {
	d := Document{Network: network}
	for _, record := range records[:min(len(records), maxRecords)] {
		if of := recordNetwork(record); of != network {
			continue
		}
		for word := range strings.FieldsSeq(record) {
			key, value, _ := strings.Cut(word, "=")
			switch strings.ToLower(key) {
			case "peer":
				d.Peers = addOnce(d.Peers, feedring.PeerID(value))
			case "addr":
				d.Addresses = addOnce(d.Addresses, value)
			case "feed":
				u, err := feedring.ParseFeedURL(value)
				if err != nil {
					return Document{}, err
				}
				d.Feeds = addOnce(d.Feeds, u)
			}
			if len(d.Peers) > MaxPeers || len(d.Addresses) > MaxAddresses || len(d.Feeds) > MaxFeeds {
				return Document{}, errors.New("the records name too much")
			}
		}
	}
	if err := d.Validate(); err != nil {
		return Document{}, fmt.Errorf("the records for network %q: %w", clip(network), err)
	}
	return d, nil
}

func recordNetwork(record string) string {
	for word := range strings.FieldsSeq(record) {
		if key, value, ok := strings.Cut(word, "="); ok && strings.EqualFold(key, "network") {
			return value
		}
	}
	return DefaultNetwork
}

// parseDNSAddr reads the records of _dnsaddr.DOMAIN, "dnsaddr=/ip4/…/p2p/…".
func parseDNSAddr(records []string) []string {
	var out []string
	for _, record := range records {
		a, ok := strings.CutPrefix(strings.TrimSpace(record), "dnsaddr=")
		if ok && strings.HasPrefix(a, "/") && len(a) <= maxAddress && printable(a) && len(out) < MaxAddresses {
			out = addOnce(out, a)
		}
	}
	return out
}

// txt returns d as the value of a TXT record.
func (d Document) txt() string {
	words := []string{"network=" + d.Network}
	for _, p := range d.Peers {
		words = append(words, "peer="+string(p))
	}
	for _, f := range d.Feeds {
		words = append(words, "feed="+f)
	}
	return strings.Join(words, " ")
}

func addOnce[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
