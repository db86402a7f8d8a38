// Package fetch looks at a feed once: it asks the origin politely, with what it
// knows already, reads what came within its budgets, and tells the entries apart
// from those seen before. When to look is package watch's.
//
// What it remembers between two looks is a State, which the caller keeps.
package fetch
