// Package document reads a feed of any format as entries: RSS 0.9x to 2.0, CDF,
// Atom, JSON Feed. It says what came where that is no feed.
//
// It fetches nothing and remembers nothing: whether an entry is new is for
// package fetch to say.
package document
