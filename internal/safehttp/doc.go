// Package safehttp is the one HTTP client for everything that is fetched from
// outside: feeds, the documents of sites, callbacks of subscribers. It refuses
// private addresses in the dialer, so the refusal holds for redirects and for
// names that change their address, and it bounds time, redirects and headers.
//
// It does not bound bodies: whoever reads one does, knowing what it may hold.
package safehttp
