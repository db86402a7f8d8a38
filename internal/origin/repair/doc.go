// Package repair makes a feed's text one that the parser reads as it was meant,
// and refuses what would cost too much to parse. It knows XML and JSON by their
// brackets alone: what else is wrong with a document is for the parser to say.
package repair
