// Package personal keeps personal feeds: who subscribed to what, and which
// entries each interest was given. It is Cobra's reflector (Rose et al., "Cobra:
// Content-based Filtering and Aggregation of Blogs and RSS Feeds", section 3.3)
// within one peer. It serves nothing over HTTP and writes no XML: a front asks
// it for the entries of a secret.
//
// Subscriptions that ask the same are one interest with one list. A list holds
// no entries but references to them, the newest that were given, in the order
// in which they were given: what a reader has seen never moves. History, which a
// feed had before it was offered, is put below what is newer, and takes no place
// from news that readers may not have polled yet. Entries are
// read when somebody looks. Those of this peer's own feeds are in the store for
// good; those of others, which the store drops when they are past freshness, are
// copied beside it. Where the copies take too much room the oldest lose their
// content and stay with title, link and summary.
//
// # On disk
//
// Rows are small records of store.BucketSubscription, under a prefix:
//
//	s id        a subscription
//	i interest  an interest and its list, as of some time
//	f feed      a feed that entries came from, and how far it was read
//	m entry     what must be known of an entry without reading it
//	e entry     a copy of an entry that another peer published
//	j serial    the journal: one entry that was given, to which interests, and whether by date
//
// An adopted subscription says so in its row, and so does an interest that shows no
// private feeds: what an earlier version wrote is neither. A peer that has left its fleet
// leaves adopted subscriptions and their lists there, and does not open them. Only what
// must be erased or is taken back goes. Their interests are marked as never filled, so the
// fleet, once the peer is in it again, shows none before it has what came meanwhile.
//
// The journal row says both which lists got an entry and how far its feed was
// read, so a crash neither loses an entry nor gives it twice: what has no row
// is read again. Now and then the lists that changed are written whole, and the
// journal is emptied.
package personal
