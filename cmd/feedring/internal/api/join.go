package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// Joined is what became of a target that is joined through.
type Joined struct {
	Join    string    `json:"join"`
	Reached []Reached `json:"reached"`
	Groups  []string  `json:"groups"`          // of which those that were reached tell
	Error   string    `json:"error,omitempty"` // why nobody was reached
	Known   bool      `json:"known,omitempty"` // it was joined through before
}

// Reached is a peer that is connected.
type Reached struct {
	Peer string `json:"peer"`
	Addr string `json:"addr"`
}

// JoinTarget is what the peer joins the network through.
type JoinTarget struct {
	Join  string `json:"join"`
	Fixed bool   `json:"from_config,omitempty"`
	Error string `json:"error,omitempty"` // why the last try reached nobody there
}

// Join makes the peer join the network through a multiaddr or a domain, too.
func (c *Client) Join(ctx context.Context, target string) (said Joined, err error) {
	err = c.do(ctx, request{method: http.MethodPost, path: "join", body: map[string]string{"join": target}}, &said)
	return said, err
}

// Joins lists what the peer joins through, as it tells it.
func (c *Client) Joins(ctx context.Context) (raw []json.RawMessage, err error) {
	err = c.do(ctx, request{path: "join"}, &raw)
	return raw, err
}

// RemoveJoin makes the peer join through a target no more.
func (c *Client) RemoveJoin(ctx context.Context, target string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "join", query: url.Values{"join": {target}}}, nil)
}
