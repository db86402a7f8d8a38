// Package watch fetches many feeds, each when its policy says so: it decides
// when to fetch again, keeps hosts apart and to their turns, and does what origins
// ask for. One fetch is package fetch's.
//
// It publishes, stores and signs nothing: what it finds goes to a Handler, whose
// answer says whether the find is durable. It knows no groups; what other peers
// say of a fetch is handed to it.
package watch
