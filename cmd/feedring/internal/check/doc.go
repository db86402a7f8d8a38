// Package check judges a feed's address for who publishes it: what its answers
// say and what its document holds, with a grade and, for each finding, what to
// do.
//
// It fetches nothing: whoever asks the origin hands it what came. It prints
// nothing either.
package check
