// Package codec turns the messages of the machines into frames and back. On
// the way out it seals what this peer says itself, on the way in it checks
// every seal, who made it, and every limit: what it returns a machine may take
// as said by whom it names. It decides nothing about what was said, and knows
// nothing of streams; the requests of clients are internal/wire's.
package codec
