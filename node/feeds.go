package node

import (
	"context"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// Feeds implements web.Backend.
func (n *Node) Feeds(private bool) []web.FeedStatus { return n.origins.Feeds(private) }

// Feed implements web.Backend.
func (n *Node) Feed(url string) (web.FeedStatus, error) { return n.origins.Status(url) }

// AddFeeds implements web.Backend.
func (n *Node) AddFeeds(ctx context.Context, specs []feedring.FeedSpec, titles []string) []web.Added {
	return n.origins.Add(ctx, specs, titles)
}

// RemoveFeed implements web.Backend.
func (n *Node) RemoveFeed(ctx context.Context, url string) error { return n.origins.Remove(ctx, url) }

// MoveFeed implements web.Backend.
func (n *Node) MoveFeed(ctx context.Context, from, to string, force bool) (web.FeedStatus, string, error) {
	return n.origins.Move(ctx, from, to, force)
}

// Ping implements web.Backend.
func (n *Node) Ping(ctx context.Context, url string) (web.FeedStatus, error) {
	return n.origins.Ping(ctx, url)
}
