package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Fleet is a fleet as one of its peers sees it.
type Fleet struct {
	Fleet feedring.Theme `json:"fleet"`
	Peers []struct {
		Peer        feedring.PeerID `json:"peer"`
		Self        bool            `json:"self"`
		Present     bool            `json:"present"`
		Gone        bool            `json:"gone"`
		Capacity    int             `json:"capacity"`
		Serves      int             `json:"serves"`
		Keeps       int             `json:"keeps"`
		Feeds       int             `json:"feeds"`
		Moving      int             `json:"moving"`
		Memory      uint64          `json:"memory_bytes"`
		MemoryLimit uint64          `json:"memory_limit_bytes"`
		Full        bool            `json:"full"`
		Error       string          `json:"error"`
	} `json:"peers"`
	Users    int `json:"users"`
	Feeds    int `json:"feeds"`
	Capacity int `json:"capacity"`
	HeldOnce int `json:"held_once"`
	Silent   int `json:"silent"`
	Unserved int `json:"unserved"`
}

// Fleet tells of the peer's fleet, as the peer told it and read.
func (c *Client) Fleet(ctx context.Context) (raw json.RawMessage, f Fleet, err error) {
	if err = c.do(ctx, request{path: "fleet"}, &raw); err == nil {
		err = json.Unmarshal(raw, &f)
	}
	return raw, f, err
}

// UserInvitation lets people make themselves users.
type UserInvitation struct {
	ID      string    `json:"id"`
	Code    string    `json:"code"`
	URL     string    `json:"url"`
	Quota   int       `json:"quota"`
	Uses    int       `json:"uses"`
	Used    int       `json:"used"`
	Expires time.Time `json:"expires"`
	Created time.Time `json:"created"`
	Note    string    `json:"note"`
}

// InviteUser makes an invitation, and returns it as the peer told it. expires is how long
// it is valid.
func (c *Client) InviteUser(ctx context.Context, quota, uses int, expires time.Duration, note string) (raw json.RawMessage, err error) {
	body := map[string]any{"quota": quota, "uses": uses, "expires_s": int64(expires / time.Second)}
	if note != "" {
		body["note"] = note
	}
	err = c.do(ctx, request{method: http.MethodPost, path: "invitations", body: body}, &raw)
	return raw, err
}

// UserInvitations lists the invitations, each as the peer told it. silent are the peers
// that did not answer, of which the list lacks what they have.
func (c *Client) UserInvitations(ctx context.Context) (raw []json.RawMessage, silent []string, err error) {
	raw, silent, _, err = c.fleetList(ctx, request{path: "invitations"})
	return raw, silent, err
}

// fleetList is a list, or a page of one; next is what the next page is asked for with.
func (c *Client) fleetList(ctx context.Context, r request) (raw []json.RawMessage, silent []string, next string, err error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, nil, "", err
	}
	defer resp.Body.Close()
	if names := resp.Header.Get("Feedring-Silent"); names != "" {
		silent = strings.Split(names, ", ")
	}
	_, next, _ = strings.Cut(resp.Header.Get("Link"), "?after=")
	next, _, _ = strings.Cut(next, ">")
	err = c.read(resp, r.path, &raw)
	return raw, silent, next, err
}

// RevokeInvitation ends one.
func (c *Client) RevokeInvitation(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "invitations/" + url.PathEscape(id)}, nil)
}

// User is one who has personal feeds by invitation.
type User struct {
	ID         string    `json:"id"`
	Quota      int       `json:"quota"`
	Feeds      int       `json:"feeds"`
	Created    time.Time `json:"created"`
	Invitation string    `json:"invitation"`
	Note       string    `json:"note"`
}

// Users lists the users, as UserInvitations does invitations.
func (c *Client) Users(ctx context.Context) (raw []json.RawMessage, silent []string, err error) {
	raw, silent, _, err = c.fleetList(ctx, request{path: "users"})
	return raw, silent, err
}

// RevokeUser ends a user with all of that one's personal feeds.
func (c *Client) RevokeUser(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: "users/" + url.PathEscape(id)}, nil)
}
