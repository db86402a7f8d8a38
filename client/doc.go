// Package client is the library for programs that query and follow the
// network. A client never listens, belongs to no group and holds nothing for
// others; it does not publish.
//
// A query travels in two steps. The client asks any peer, which finds who
// serves the theme and answers with one final: for each group a provider,
// alternates, and a ticket. Then the client presents the ticket to the
// provider, together with the words that it looks for, which nobody else
// hears, and entries flow back on that stream. Each is checked against its
// publisher's signature before it is shown. See docs/protocol.md.
package client
