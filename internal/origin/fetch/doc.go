// Package fetch is an origin: it fetches a feed politely, reads what came,
// tells its entries apart from those seen before, and decides when to look
// again. A Watcher does so for many feeds at once.
//
// It publishes, stores and signs nothing: what it finds goes to a Handler,
// whose answer says whether the find is durable. It knows no groups and no
// other peers.
package fetch
