// Package contacts keeps the peers that this one knows, the targets that it joins
// the network through, and its places in the address book.
package contacts
