package api

import (
	"context"
	"net/http"
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

// TakeStatements gives the peer signed statements about its network's members.
func (c *Client) TakeStatements(ctx context.Context, statements []byte) error {
	return c.do(ctx, request{method: http.MethodPost, path: "network/statements", body: map[string][]byte{"statements": statements}}, nil)
}
