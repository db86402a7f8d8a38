// Package subscriber subscribes at the WebSub hubs that this peer's own feeds
// name (W3C Recommendation, 23 January 2018), so that it need not poll their
// origins to learn of news. It is the other end of package hub.
//
// What a hub delivers is a hint: the feed is fetched where it is at home. So a
// hub can neither make up entries nor keep any back for longer than the polls
// that go on, more rarely while the hub works. A hub works when what it sent was
// signed rightly, and no poll found before it what it should have told.
package subscriber
