// Package segment keeps records in files that are written once, at their end. It
// does not know which records are in use: who keeps the places of records decides
// that, and removes a file that has none.
//
// A record is on disk when Sync has returned. What a crash leaves after the last
// record that somebody refers to is cut off by that one.
package segment
