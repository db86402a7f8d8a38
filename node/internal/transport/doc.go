// Package transport carries messages and streams between this peer and others:
// it keeps links to whom the machine writes, and serves what others open within
// limits.
package transport
