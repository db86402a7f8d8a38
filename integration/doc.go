// Package integration tests the built binary: real processes on real ports, a
// real origin over HTTP, real signals. It holds no code of the product.
package integration
