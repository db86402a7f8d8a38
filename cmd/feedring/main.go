// Command feedring runs a peer of the network, asks it and follows it. The
// commands are in its internal packages.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
