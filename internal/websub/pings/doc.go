// Package pings takes what publishing tools say when they published something,
// and has the feeds that this may be about fetched: WebSub's "publish", and
// the XML-RPC calls weblogUpdates.ping and weblogUpdates.extendedPing, which
// WordPress sends to its "Update Services".
//
// A ping is believed in nothing: it says that a fetch may be worth while. Many
// within a few seconds are one fetch, and fetches that find nothing become rarer,
// so that nobody can have an origin asked often. It fetches nothing itself.
package pings
