package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/feedring/feedring"
)

// Subscription is a personal feed that a running peer keeps.
type Subscription struct {
	ID       string `json:"id"`
	Theme    string `json:"theme,omitempty"`
	Provider string `json:"provider,omitempty"`
	Words    string `json:"q,omitempty"`

	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	Limit int       `json:"limit"`
	Stem  bool      `json:"stem,omitempty"`

	Atom string `json:"atom"`
	RSS  string `json:"rss"`
	JSON string `json:"json"`
}

// Subscribe makes a personal feed, and returns it as the peer told it. With stem
// its words are met by other forms of them.
func (c *Client) Subscribe(ctx context.Context, q feedring.Query, stem bool) (raw json.RawMessage, err error) {
	body := map[string]any{}
	for name, value := range values(q) {
		body[name] = value[0]
	}
	if q.Limit > 0 {
		body["limit"] = q.Limit
	}
	if stem {
		body["stem"] = true
	}
	err = c.do(ctx, request{method: http.MethodPost, path: "subscriptions", body: body}, &raw)
	return raw, err
}

// Subscriptions lists the personal feeds, as UserInvitations does invitations: all, or where
// there are very many those after one id, "" at first. next is the id to go on after; empty:
// nothing follows.
func (c *Client) Subscriptions(ctx context.Context, after string) (raw []json.RawMessage, silent []string, next string, err error) {
	return c.fleetList(ctx, request{path: "subscriptions", query: url.Values{"after": {after}}})
}

// Unsubscribe revokes a personal feed.
func (c *Client) Unsubscribe(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "subscriptions/" + url.PathEscape(id)}, nil)
}
