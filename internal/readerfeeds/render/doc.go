// Package render writes entries as a feed that any reader understands: Atom
// 1.0 (RFC 4287), RSS 2.0 and JSON Feed 1.1. What it writes is valid by the
// rules of the W3C's feed validator, whatever a publisher signed. It asks
// nobody for entries and serves nothing.
package render
