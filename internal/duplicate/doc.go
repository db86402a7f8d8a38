// Package duplicate recognizes entries of different feeds that tell the same
// story: they link one page, or have one text. Personal feeds show such a story
// once, and so do lists of entries: Fold is for an answer that is whole, and
// KeysOf with Keys.Hides and Keys.Replaces for a list that grows. Copies of one entry,
// by several publishers of one feed, are told apart by CopyOf; Merge gathers them.
package duplicate
