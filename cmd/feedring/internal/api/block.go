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
}

// Block makes the peer block a target, for a time such as "30d" or for good.
func (c *Client) Block(ctx context.Context, target, period, reason string) (is Block, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "blocks", body: map[string]string{"block": target, "for": period, "reason": reason}}, &is)
	return is, err
}

// Unblock takes that back.
func (c *Client) Unblock(ctx context.Context, target string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "blocks", query: url.Values{"block": {target}}}, nil)
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
