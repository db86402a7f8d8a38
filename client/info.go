package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const infoWait = 4 * time.Second // for one peer to answer

// Catalogue returns a group as the asked peer sees it, or a member tells it.
// *NoGroupError where there is no such group; ErrNoPeer.
func (c *Client) Catalogue(ctx context.Context, theme feedring.Theme) (feedring.Catalogue, error) {
	var catalogue feedring.Catalogue
	c, err := c.through(ctx, theme)
	if err != nil {
		return catalogue, err
	}
	err = c.inform(ctx, string(theme), func(reply *feedringv1.InfoReply) (err error) {
		catalogue, err = info.CatalogueFrom(reply)
		return err
	})
	var remote *wire.RemoteError
	if errors.As(err, &remote) {
		err = c.absent(ctx, theme, remote)
	}
	return catalogue, err
}

// Ring returns every group in ring order, as the asked peer sees them.
func (c *Client) Ring(ctx context.Context) (groups []feedring.RingGroup, err error) {
	if c, err = c.through(ctx, ""); err != nil {
		return nil, err
	}
	err = c.inform(ctx, "", func(reply *feedringv1.InfoReply) (err error) {
		groups, err = info.RingFrom(reply)
		groups = slices.DeleteFunc(groups, func(g feedring.RingGroup) bool { return g.Theme.IsFleet() }) // peers of before name them
		return err
	})
	return groups, err
}

// absent tells a group that does not exist from one that cannot be asked now.
func (c *Client) absent(ctx context.Context, theme feedring.Theme, told *wire.RemoteError) error {
	groups, err := c.Ring(ctx)
	if err != nil {
		return told
	}
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = string(g.Theme)
	}
	if slices.Contains(names, string(theme)) {
		return told
	}
	nobody := &NoGroupError{Theme: theme}
	if near := feedring.Nearest(string(theme), names); near != "" {
		nobody.Suggest = []string{near}
	}
	return nobody
}

// inform asks one peer after the other until one knows.
func (c *Client) inform(ctx context.Context, theme string, take func(*feedringv1.InfoReply) error) error {
	failures := make(map[feedring.PeerID]error)
	peers := c.peers.Peers()
	for _, id := range peers {
		reply, err := c.informOne(ctx, id, theme)
		if err == nil {
			c.peers.Answered(id)
			return take(reply)
		}
		c.peers.Failed(id)
		failures[id] = err
		if ctx.Err() != nil {
			break
		}
	}
	return unreachable(failures, peers)
}

func (c *Client) informOne(ctx context.Context, id feedring.PeerID, theme string) (*feedringv1.InfoReply, error) {
	ctx, cancel := context.WithTimeout(ctx, infoWait)
	defer cancel()
	raw, err := c.transport.Open(ctx, id, wire.VerbInfo)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = raw.Reset() })()
	s := wire.NewStream(raw)
	reply := new(feedringv1.InfoReply)
	err = s.Send(&feedringv1.InfoRequest{Theme: theme}, infoWait)
	if err == nil {
		err = s.Receive(reply, infoWait)
	}
	if err != nil {
		_ = raw.Reset()
		if ctx.Err() != nil {
			err = errors.New("no answer in time")
		}
		return nil, fmt.Errorf("info: %w", err)
	}
	return reply, raw.Close()
}
