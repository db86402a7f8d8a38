// Package fetch fetches a feed once: it asks the origin politely, with what it
// knows already, reads what came within its budgets, and tells the entries apart
// from those seen before. When to fetch is package watch's.
//
// What it remembers between two fetches is a State, which the caller keeps.
package fetch
