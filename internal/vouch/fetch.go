package vouch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/safehttp"
)

const (
	wellKnownPath = "/.well-known/feedring"
	fetchTime     = 10 * time.Second
)

// noDocument is the error of a site that answers and has nothing for us.
type noDocument struct {
	why    string
	absent bool // it answered that there is none
}

func (e *noDocument) Error() string { return e.why }

func none(format string, args ...any) error { return &noDocument{why: fmt.Sprintf(format, args...)} }

// NetworkError is for a domain whose peers are of another network.
type NetworkError struct{ Domain, Network, Own string }

// Error names the domain and both networks.
func (e *NetworkError) Error() string {
	return fmt.Sprintf("join %s: it is of the network %q, not of %q", e.Domain, e.Network, e.Own)
}

// Fetch returns what domain tells those who want to join: its document, else
// the addresses of DNS _dnsaddr. The error is one line that says what was
// looked for. It blocks for at most 10 s and the resolver's time.
func (c Checker) Fetch(ctx context.Context, domain string) (Document, error) {
	d, err := c.wellKnown(ctx, domain)
	switch {
	case err == nil && d.Network != c.Network:
		return Document{}, &NetworkError{Domain: domain, Network: d.Network, Own: c.Network}
	case err == nil && len(d.Addresses) > 0:
		return d, nil
	case err == nil:
		err = none("https://%s%s gives no addresses", domain, wellKnownPath)
	}
	records, dnsErr := c.lookup(ctx, "_dnsaddr."+hostOf(domain))
	if addrs := parseDNSAddr(records); len(addrs) > 0 {
		return Document{Network: c.Network, Peers: peersOf(addrs), Addresses: addrs}, nil
	}
	if dnsErr == nil {
		dnsErr = none("DNS _dnsaddr.%s gives no addresses", hostOf(domain))
	}
	return Document{}, fmt.Errorf("join %s: %w; %w", domain, err, dnsErr)
}

// peersOf returns the peers at the ends of addresses.
func peersOf(addrs []string) []feedring.PeerID {
	var peers []feedring.PeerID
	for _, a := range addrs {
		if at := strings.LastIndex(a, "/p2p/"); at >= 0 && isPeerID(a[at+5:]) {
			peers = addOnce(peers, feedring.PeerID(a[at+5:]))
		}
	}
	return peers
}

func (c Checker) wellKnown(ctx context.Context, site string) (Document, error) {
	u, err := url.Parse("https://" + site + wellKnownPath)
	if err != nil || u.Host != site {
		return Document{}, none("%q is no site", clip(site))
	}
	if !c.mayBePlain(ctx, site) {
		return c.get(ctx, u)
	}
	plain := *u
	plain.Scheme = "http"
	d, err := c.get(ctx, &plain)
	if err == nil {
		return d, nil
	}
	var no *noDocument
	d, tlsErr := c.get(ctx, u)
	if tlsErr != nil && !errors.As(tlsErr, &no) {
		return d, err // there is no TLS at all: what plain http said is the reason
	}
	return d, tlsErr
}

// mayBePlain reports whether site may be asked without TLS: only at private
// addresses, and only where those are allowed at all.
func (c Checker) mayBePlain(ctx context.Context, site string) bool {
	if !c.Client.AllowsPrivate() {
		return false
	}
	host := hostOf(site)
	if safehttp.IsPrivateHost(host) {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	addrs, err := c.Resolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addrs {
		if !safehttp.IsPrivateHost(a.Unmap().String()) {
			return false
		}
	}
	return err == nil && len(addrs) > 0
}

// get fetches a document. The error is a *noDocument where the site answered
// and has none that can be read.
func (c Checker) get(ctx context.Context, u *url.URL) (Document, error) {
	if u.Scheme != "https" && !(u.Scheme == "http" && c.mayBePlain(ctx, u.Host)) {
		return Document{}, none("%s is not https", u.Redacted())
	}
	if err := c.MayAsk(ctx, u.String()); err != nil {
		return Document{}, err
	}
	if err := outbound.Request(ctx, u.Host); err != nil {
		return Document{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Document{}, none("%q is no address", clip(u.String()))
	}
	req.Header.Set("Accept", "application/json")
	req.Close = outbound.Counted(ctx) // one that is kept would carry more, uncounted
	resp, err := c.Client.WithoutRedirects().Do(req)
	if errors.Is(err, safehttp.ErrRedirected) {
		return Document{}, none("%s redirects elsewhere, which is not followed", u)
	}
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", u, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
		c.applyHints(resp)
		return Document{}, fmt.Errorf("%s: %s", u, resp.Status)
	case resp.StatusCode != http.StatusOK:
		absent := resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone
		return Document{}, &noDocument{why: fmt.Sprintf("%s: %s", u, resp.Status), absent: absent}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxDocument+1))
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", u, err)
	}
	d, err := ParseDocument(body)
	if err != nil {
		return Document{}, &noDocument{why: fmt.Sprintf("%s: %v", u, err), absent: errors.Is(err, errNobody)}
	}
	return d, nil
}

func (c Checker) dns(ctx context.Context, site string) (Document, error) {
	name := "_feedring." + hostOf(site)
	records, err := c.lookup(ctx, name)
	if err != nil {
		return Document{}, err
	}
	d, err := ParseTXT(records, c.Network)
	if err != nil {
		return Document{}, none("DNS TXT %s: %v", name, err)
	}
	return d, nil
}

// lookup returns the TXT records of a name; a *noDocument where there are none.
func (c Checker) lookup(ctx context.Context, name string) ([]string, error) {
	_, host, _ := strings.Cut(name, ".")
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") || safehttp.IsPrivateHost(host) {
		return nil, none("%s is not in DNS", host)
	}
	if err := outbound.Lookup(ctx, host); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	records, err := c.Resolver.LookupTXT(ctx, name)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound, err == nil && len(records) == 0:
		return nil, none("DNS has no TXT %s", name)
	case err != nil:
		return nil, fmt.Errorf("DNS TXT %s: %w", name, err)
	}
	return records, nil
}
