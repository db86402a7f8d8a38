package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/feedring/feedring"
)

// Block is a peer, addresses or a domain of which a peer shows, stores, dials and serves
// nothing.
type Block struct {
	Block  string    `json:"block"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero: for good
	Reason string    `json:"reason,omitempty"`
	Origin string    `json:"origin,omitempty"` // the list of others that it is of
}

// BlockList is a list of others that a peer follows.
type BlockList struct {
	List    string    `json:"list"`
	Lines   int       `json:"lines"`
	Skipped int       `json:"skipped,omitempty"`
	Read    time.Time `json:"read"`
	Problem string    `json:"problem,omitempty"` // why it could not be read since
}

// Block makes the peer block a target, for a time such as "30d" or for good.
func (c *Client) Block(ctx context.Context, target, period, reason string) (is Block, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "blocks", body: map[string]string{"block": target, "for": period, "reason": reason}}, &is)
	return is, err
}

// Unblock takes that back, and tells whether a list of others blocks the target, which does not
// hold any more.
func (c *Client) Unblock(ctx context.Context, target string) (allowed bool, err error) {
	var is struct {
		Allowed bool `json:"allowed"`
	}
	err = c.do(ctx, request{method: http.MethodDelete, path: "blocks", query: url.Values{"block": {target}}}, &is)
	return is.Allowed, err
}

// FollowBlocks makes the peer block what a list of others blocks.
func (c *Client) FollowBlocks(ctx context.Context, list string) (is BlockList, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "blocklists", body: map[string]string{"list": list}}, &is)
	return is, err
}

// UnfollowBlocks takes that back.
func (c *Client) UnfollowBlocks(ctx context.Context, list string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "blocklists", query: url.Values{"list": {list}}}, nil)
}

// BlockLists lists what the peer follows, as it tells it.
func (c *Client) BlockLists(ctx context.Context) (raw []json.RawMessage, err error) {
	err = c.do(ctx, request{path: "blocklists"}, &raw)
	return raw, err
}

// Blocks lists what the peer blocks, as it tells it.
func (c *Client) Blocks(ctx context.Context) (raw []json.RawMessage, err error) {
	err = c.do(ctx, request{path: "blocks"}, &raw)
	return raw, err
}

// Copies lists the copies of an entry that the peer holds.
func (c *Client) Copies(ctx context.Context, id feedring.EntryID) (copies []feedring.Entry, err error) {
	err = c.do(ctx, request{path: "entries/" + url.PathEscape(string(id))}, &copies)
	return copies, err
}
