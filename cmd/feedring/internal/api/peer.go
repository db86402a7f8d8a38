package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// Feed is one of the running peer's own feeds.
type Feed struct {
	URL       string    `json:"url"`
	Fetched   string    `json:"fetched,omitempty"` // the present address, where the feed moved
	Theme     string    `json:"theme,omitempty"`   // empty: private
	Provider  string    `json:"provider,omitempty"`
	File      string    `json:"file,omitempty"`  // on the peer's machine, read instead of the URL
	Share     string    `json:"share,omitempty"` // empty: as the peer shares
	Weight    float64   `json:"weight,omitempty"`
	Title     string    `json:"title,omitempty"`
	LastFetch time.Time `json:"last_fetch,omitzero"`
	LastOK    time.Time `json:"last_success,omitzero"`
	FetchedBy string    `json:"looked_at_by,omitempty"` // empty: by the peer, which offers it alone
	Rests     bool      `json:"rests,omitempty"`        // the peer itself does not fetch now
	Turn      int       `json:"turn,omitempty"`         // of Turns, where several fetch
	Turns     int       `json:"turns,omitempty"`
	Error     string    `json:"error,omitempty"`
	Entries   int       `json:"entries,omitempty"`
	Taken     int       `json:"taken,omitempty"` // the document has more entries, In, of which the newest are taken
	In        int       `json:"document_entries,omitempty"`
	Front     string    `json:"front,omitempty"`   // where the peer serves it to pollers
	Readers   int       `json:"readers,omitempty"` // there, within a day
	Carried   time.Time `json:"carried,omitzero"`  // carried for others since then; zero: the peer's owner added it
	Site      string    `json:"site,omitempty"`    // the page that was given, where that names the feed
	Force     bool      `json:"force,omitempty"`   // asked for: added also where no feed is there
	Joinable
}

// Joinable is the peer that a feed's site runs, where this one has not joined it.
type Joinable struct {
	Join     string `json:"join,omitempty"`      // what --join takes
	SitePeer string `json:"site_peer,omitempty"` // the peer, where nobody says how to join it
}

// Check is one line of a doctor's report.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Note   bool   `json:"note,omitempty"` // OK, and yet worth knowing
	Detail string `json:"detail,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// Vouching is what a site publishes to name this peer as its own.
type Vouching struct {
	Document     json.RawMessage `json:"document"`
	Instructions string          `json:"instructions"`
	Sites        []Site          `json:"sites"`

	// FetchEvery and VouchedFetchEvery are the seconds between two fetches of a feed, at least,
	// whose site does not name the peer, and whose does.
	FetchEvery        int `json:"looks_s"`
	VouchedFetchEvery int `json:"vouched_looks_s"`

	Required bool `json:"required"` // a peer that no site names takes no part in this network
}

// Site says whether a site names the peer now.
type Site struct {
	Site    string `json:"site"`
	Vouched bool   `json:"vouched"`
	Way     string `json:"way,omitempty"`
	Error   string `json:"error,omitempty"`

	Told []string `json:"told,omitempty"` // what is at each place that was asked
}

// Status returns the peer's state as it tells it.
func (c *Client) Status(ctx context.Context) (state json.RawMessage, err error) {
	err = c.do(ctx, request{path: "status"}, &state)
	return state, err
}

// ID asks the peer who it is.
func (c *Client) ID(ctx context.Context) (feedring.PeerID, error) {
	var state struct {
		Peer feedring.PeerID `json:"peer"`
	}
	err := c.do(ctx, request{path: "status"}, &state)
	return state.Peer, err
}

// Doctor returns the peer's checks of itself.
func (c *Client) Doctor(ctx context.Context) (checks []Check, err error) {
	var report struct {
		Checks []Check `json:"checks"`
	}
	err = c.do(ctx, request{path: "doctor"}, &report)
	return report.Checks, err
}

// Vouch returns what to publish at a site; an empty site means those of the
// peer's feeds.
func (c *Client) Vouch(ctx context.Context, site string) (v Vouching, err error) {
	query := url.Values{}
	set(query, "site", site)
	err = c.do(ctx, request{path: "vouch", query: query}, &v)
	return v, err
}

// Feeds lists the peer's own feeds. Each comes as the peer told it, too.
func (c *Client) Feeds(ctx context.Context) (raw []json.RawMessage, err error) {
	err = c.do(ctx, request{path: "feeds"}, &raw)
	return raw, err
}

// Added is a feed that was added.
type Added struct {
	URL     string `json:"url"`               // of the feed
	Fetched string `json:"fetched,omitempty"` // the present one, where that is another
	Site    string `json:"site,omitempty"`    // the page that was given, which names the feed; empty: the feed itself was
	Note    string `json:"note,omitempty"`    // why it may be no feed
	Theme   string `json:"theme,omitempty"`   // as of Feed, as the next
	Share   string `json:"share,omitempty"`
	Joinable
	Known bool `json:"-"` // it was there already
}

// AddFeed makes the peer publish a feed, or without a theme keep it private. The
// address may be a site's page that names its feed.
func (c *Client) AddFeed(ctx context.Context, feed Feed) (said Added, err error) {
	resp, err := c.send(ctx, request{method: http.MethodPost, path: "feeds", body: feed})
	if err != nil {
		return said, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&said); err != nil && !errors.Is(err, io.EOF) {
		return said, fmt.Errorf("feeds: the answer cannot be read (is a feedring peer listening there?): %w", err)
	}
	said.URL = cmp.Or(said.URL, feed.URL)
	said.Known = resp.StatusCode != http.StatusCreated
	return said, nil
}

// Imported is what became of one feed of a list: it was added, it was there
// already, or it was refused for Error.
type Imported struct {
	URL       string `json:"url"`
	Site      string `json:"site,omitempty"`  // the page that the list has, which names the feed
	Theme     string `json:"theme,omitempty"` // empty: private
	Added     bool   `json:"added"`
	Warning   string `json:"warning,omitempty"`   // why it may be no feed
	Unchecked bool   `json:"unchecked,omitempty"` // it was added before the peer fetched it
	Error     string `json:"error,omitempty"`
	NoFeed    bool   `json:"no_feed,omitempty"` // Error is what its address led to
}

// ImportOPML makes the peer add the feeds of a list: to theme, with folders to
// those that its folders name, else in private; with force whatever is there.
func (c *Client) ImportOPML(ctx context.Context, list []byte, theme feedring.Theme, folders, force bool) (said []Imported, err error) {
	query := url.Values{}
	set(query, "theme", string(theme))
	for name, is := range map[string]bool{"folders": folders, "force": force} {
		if is {
			query.Set(name, "true")
		}
	}
	err = c.do(ctx, request{method: http.MethodPost, path: "opml", query: query, body: opmlList(list)}, &said)
	return said, err
}

// ExportOPML returns the peer's feeds as a list.
func (c *Client) ExportOPML(ctx context.Context) ([]byte, error) {
	resp, err := c.send(ctx, request{path: "opml"})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// History is how far the index of a peer's history is.
type History struct {
	Indexed int  `json:"indexed"`
	Entries int  `json:"entries"` // stored, older versions included
	Whole   bool `json:"whole"`   // everything is in it
}

// History tells how far the index is.
func (c *Client) History(ctx context.Context) (h History, err error) {
	err = c.do(ctx, request{path: "history"}, &h)
	return h, err
}

// RebuildHistory makes the peer build the index anew, and does not wait for that.
func (c *Client) RebuildHistory(ctx context.Context) (h History, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "history/rebuild"}, &h)
	return h, err
}

// RemoveFeed makes the peer forget a feed.
func (c *Client) RemoveFeed(ctx context.Context, address string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "feeds", query: url.Values{"url": {address}}}, nil)
}

// Moved is a feed at its new address.
type Moved struct {
	Feed
	Note string `json:"note,omitempty"` // why it may not be there yet
}

// MoveFeed has a feed go on at another address; force does so without a fetch there.
func (c *Client) MoveFeed(ctx context.Context, from, to string, force bool) (moved Moved, err error) {
	body := map[string]any{"from": from, "to": to, "force": force}
	err = c.do(ctx, request{method: http.MethodPost, path: "feeds/move", body: body}, &moved)
	return moved, err
}

// Ping makes the peer fetch a feed now, waits for the end of the fetch, and
// returns how the feed stands then. A fetch that failed is an error.
func (c *Client) Ping(ctx context.Context, address string) (feed Feed, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "ping", body: map[string]string{"url": address}}, &feed)
	return feed, err
}

// Ring returns the groups as the peer sees them, in ring order.
func (c *Client) Ring(ctx context.Context) (groups []feedring.RingGroup, err error) {
	err = c.do(ctx, request{path: "ring"}, &groups)
	return groups, err
}

// Catalogue returns a group, or a *client.NoGroupError.
func (c *Client) Catalogue(ctx context.Context, theme feedring.Theme) (cat feedring.Catalogue, err error) {
	err = c.do(ctx, request{path: "catalog/" + url.PathEscape(string(theme))}, &cat)
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		err = &client.NoGroupError{Theme: theme}
	}
	return cat, err
}

// Retracted is an entry that was taken back, and who knows.
type Retracted struct {
	feedring.Retraction
	ConfirmedBy []feedring.PeerID `json:"confirmed_by,omitempty"`
	Unconfirmed []feedring.PeerID `json:"unconfirmed,omitempty"`
	Unheard     bool              `json:"unheard,omitempty"`
	AlsoBy      []feedring.PeerID `json:"also_published_by,omitempty"`
	Claims      []RetractionClaim `json:"unproven_claims,omitempty"`
}

// RetractionClaim is a peer's word that another one published an entry, too.
type RetractionClaim struct {
	Peer        feedring.PeerID `json:"peer"`
	PublishedBy feedring.PeerID `json:"published_by"`
}

// RetractEntry makes the peer take back an entry of its own feeds.
func (c *Client) RetractEntry(ctx context.Context, id feedring.EntryID) (told []Retracted, err error) {
	err = c.do(ctx, request{method: http.MethodDelete, path: "entries/" + url.PathEscape(string(id))}, &told)
	return told, err
}

// RetractURL makes the peer take back the entries of its own feeds that have an
// address.
func (c *Client) RetractURL(ctx context.Context, address string) (told []Retracted, err error) {
	err = c.do(ctx, request{method: http.MethodDelete, path: "entries", query: url.Values{"url": {address}}}, &told)
	return told, err
}
