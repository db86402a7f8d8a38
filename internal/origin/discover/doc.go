// Package discover finds the feeds that a site's page names: by links in its
// head and in the header of its answer. It says which of them is the site's own
// feed, if one clearly is.
//
// It asks nobody and reads no feed: what it finds may be none.
package discover
