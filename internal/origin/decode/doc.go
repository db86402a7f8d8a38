// Package decode turns the body of an origin's answer into text: it undoes the
// content encodings of HTTP and the character encoding, within limits of size.
package decode
