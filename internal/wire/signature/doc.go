// Package signature checks Ed25519 signatures. A key that signs often costs less
// from its 16th signature on.
package signature
