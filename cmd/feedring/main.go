// Command feedring runs a peer of the network, asks it and follows it.
//
// This package is flags, tables and exit codes. Running a peer is package
// node's affair, asking the network package client's; neither is decided here.
package main

import (
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
