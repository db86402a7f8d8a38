// Package hub is a WebSub hub (W3C Recommendation, 23 January 2018) for what
// this peer serves: it takes subscriptions, asks each callback whether it meant
// them, and posts the topic's content to the callbacks when it changes.
//
// It speaks for no address of other sites, and knows through Topics what an
// address is. What decides who is told and when is package ledger; here are the
// effects: HTTP requests through a client that reaches no private address, and
// small records that keep subscriptions over a restart.
//
// A subscription is on disk before it counts. Which content a subscriber has
// is written some seconds later, so that a crash may tell it the same once more
// and never leaves anything out.
package hub
