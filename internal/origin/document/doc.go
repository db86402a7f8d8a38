// Package document reads what an origin answered: it undoes encodings, refuses
// what costs too much, and turns any format of feed into entries.
//
// It fetches nothing and remembers nothing: whether an entry is new is for
// package feed to say.
package document
