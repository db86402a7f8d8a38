// Package pages renders the pages of a peer as HTML: its home with the ring, a
// query and its entries, personal feeds and own feeds; a group's catalogue; and
// errors. It is given all that it shows; package web answers requests with it.
//
// Everything works without the script, which adds entries as they appear and
// shows times in the reader's zone. What publishers wrote is shown as text:
// none of their HTML reaches a page.
package pages
