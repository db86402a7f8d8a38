package feedring

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxFeeds is the largest number of feeds in one peer's catalogue row.
const MaxFeeds = 10_000

// Feed is a feed as its publisher's catalogue row tells it.
type Feed struct {
	URL      string   `json:"url"`
	Title    string   `json:"title"`
	Provider Provider `json:"provider"`
	Epoch    uint64   `json:"-"` // when the publisher created its log, Unix seconds
	// Carried is the Unix second since when nobody has offered the feed who is there: its publisher, a volunteer, carries it
	// for others. 0: it was added there.
	Carried uint64 `json:"carried,omitempty"`
}

// Provider is who a feed comes from, as readers name it: a host such as
// "lemonde.fr", or the name that the publisher gave.
type Provider string

const maxProvider = 253 // bytes, as many as a host's name has

// ProviderOf returns the provider of a feed address that was given none: the
// host without "www.", "feeds." or "rss.".
func ProviderOf(feedURL string) Provider {
	u, err := url.Parse(feedURL)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	for _, prefix := range []string{"www.", "feeds.", "rss."} {
		if rest, ok := strings.CutPrefix(host, prefix); ok && strings.Contains(rest, ".") {
			host = rest
		}
	}
	return Provider(host)
}

// Matches reports whether asked names p: p itself, or a run of its whole
// dot-separated labels ("lemonde" names "lemonde.fr", "monde" does not). The
// empty string names every provider.
func (p Provider) Matches(asked string) bool {
	if asked == "" {
		return true
	}
	return strings.Contains("."+strings.ToLower(string(p))+".", "."+strings.ToLower(asked)+".")
}

// ParseProvider checks what a query asks for as its provider, and puts it in
// lower case. The empty string asks for every provider.
func ParseProvider(asked string) (string, error) {
	if !utf8.ValidString(asked) || len(asked) > maxProvider || strings.ContainsAny(asked, " \t\r\n/") {
		return "", fmt.Errorf("provider %q is no name such as lemonde.fr", clip(asked))
	}
	return strings.ToLower(asked), nil
}

// NotUTF8 returns the offset of the first byte of s that is no UTF-8; -1: all
// is. Text that is sent to other peers must be: see docs/protocol.md.
func NotUTF8(s string) int {
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return -1
}

// CredentialsError is for the address of a feed that holds a user name or a
// password. Address is without them.
type CredentialsError struct{ Address string }

// Error quotes the address without what must stay secret.
func (e *CredentialsError) Error() string {
	return fmt.Sprintf("feed address %q carries a user name or password: addresses are shown, kept and told to other peers", e.Address)
}

// ParseFeedURL checks and normalises the address of a feed: absolute, http or
// https, no user information, no fragment, host in lower case.
func ParseFeedURL(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("feed address %q is no UTF-8 text, in which other bytes stand as %%FF", clip(s))
	}
	u, err := url.Parse(strings.TrimSpace(s))
	shown := WithoutUser(s)
	if err == nil && u.User != nil || shown != s && (u == nil || u.Host == "") {
		return "", &CredentialsError{clip(shown)}
	}
	if lacksScheme(s, u) {
		return "", fmt.Errorf("feed address %q has no scheme: https:// or http:// comes before it", clip(s))
	}
	if err != nil {
		return "", fmt.Errorf("feed address %q cannot be read: %w", clip(s), err)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("feed address %q: only http and https are fetched", clip(s))
	case u.Hostname() == "":
		return "", fmt.Errorf("feed address %q has no host", clip(s))
	case !isPort(u.Port()):
		return "", fmt.Errorf("feed address %q: ports are 1 to 65535", clip(s))
	case len(s) > 2048:
		return "", fmt.Errorf("feed address of %q has %d characters: at most 2048 are allowed", u.Hostname(), len(s))
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// isPort reports whether there is such a port; none given is the scheme's.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// lacksScheme reports whether s begins with its host, as addresses are told by
// mouth. A port makes that unreadable (nil), or the host look like a scheme.
func lacksScheme(s string, u *url.URL) bool {
	if s = strings.TrimSpace(s); s == "" || strings.Contains(s, "://") {
		return false
	}
	return u == nil || u.Scheme == "" || u.Opaque != "" && u.Opaque[0] >= '0' && u.Opaque[0] <= '9'
}

// FeedSpec is what a publisher asks a peer to publish: the --feed flag's
// THEME=URL or THEME=PROVIDER@URL. An empty Theme makes the feed private.
type FeedSpec struct {
	Theme    Theme    `json:"Theme"`
	Provider Provider `json:"Provider"`
	URL      string   `json:"URL"`
	Share    Share    `json:"Share,omitempty"` // empty: as the peer shares; of a private feed nothing is
	// File is the absolute path of a file that is read instead of the URL; empty:
	// none.
	File string `json:"File,omitempty"`
	// Weight is what an entry counts for where fetches are planned, beside one of the peer's
	// mean feed; 0: as many people as read it.
	Weight float64 `json:"Weight,omitempty"`
}

// ParseFeedSpec reads the --feed flag.
func ParseFeedSpec(s string) (FeedSpec, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || strings.Contains(name, "://") {
		return FeedSpec{}, fmt.Errorf("feed %q has not the form THEME=URL or THEME=PROVIDER@URL", clip(s))
	}
	theme, err := ParseTheme(name)
	if err != nil {
		return FeedSpec{}, err
	}
	var provider Provider
	if at := strings.Index(rest, "@"); at >= 0 && !strings.Contains(rest[:at], "/") {
		provider, rest = Provider(rest[:at]), rest[at+1:]
		if err := provider.validate(); err != nil {
			return FeedSpec{}, err
		}
		provider = Provider(strings.ToLower(string(provider)))
	}
	return NewFeedSpec(theme, provider, rest)
}

// NewFeedSpec checks a feed's address and fills in the provider where it is
// empty.
func NewFeedSpec(theme Theme, provider Provider, address string) (FeedSpec, error) {
	u, err := ParseFeedURL(address)
	if err != nil {
		return FeedSpec{}, err
	}
	if provider == "" {
		provider = ProviderOf(u)
	}
	return FeedSpec{Theme: theme, Provider: provider, URL: u}, provider.validate()
}

func (p Provider) validate() error {
	if p == "" || len(p) > maxProvider || !utf8.ValidString(string(p)) || strings.ContainsAny(string(p), " \t\r\n/=\"") {
		return fmt.Errorf("provider %q is no name such as %q, without spaces or slashes", clip(string(p)), "lemonde.fr")
	}
	return nil
}
