// Package pages writes the pages of a peer as HTML: its home with the ring, a
// query and its entries, personal feeds and own feeds, and a group's catalogue.
// It is given all that it shows and asks nobody; package web answers requests
// with it.
//
// Everything works without the script, which adds entries as they appear and
// shows times in the reader's zone. What publishers wrote is shown as text:
// none of their HTML reaches a page.
package pages
