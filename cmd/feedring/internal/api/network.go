package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/feedring/feedring"
)

// Invitation says what an invitation gives.
type Invitation struct {
	Role  string `json:"role"`
	Valid int64  `json:"valid_s"`
	Uses  int    `json:"uses"`
	Site  string `json:"site,omitempty"`
}

// Invite makes the peer give an invitation and returns its code.
func (c *Client) Invite(ctx context.Context, what Invitation) (string, error) {
	var said struct {
		Code string `json:"code"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "network/invitations", body: what}, &said)
	return said.Code, err
}

// Meant is what a removal or restoration is about.
type Meant struct {
	Targets []string `json:"targets"`
	Feeds   []struct {
		URL       string          `json:"feed"`
		Publisher feedring.PeerID `json:"publisher"`
	} `json:"feeds"`
	Known bool `json:"known"`
}

// Meant says what a removal or restoration is about that names an entry's id or address,
// a feed or a peer.
func (c *Client) Meant(ctx context.Context, text string) (m Meant, err error) {
	err = c.do(ctx, request{path: "network/meant", query: url.Values{"of": {text}}}, &m)
	return m, err
}

// TakeStatements gives the peer signed statements about its network's members.
func (c *Client) TakeStatements(ctx context.Context, statements []byte) error {
	return c.do(ctx, request{method: http.MethodPost, path: "network/statements", body: map[string][]byte{"statements": statements}}, nil)
}
