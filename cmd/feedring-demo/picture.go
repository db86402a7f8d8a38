package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/feedring/feedring"
)

// drawRing draws the groups in ring order, as a loop on the left side.
func drawRing(out io.Writer, groups []feedring.RingGroup, nameOf func(feedring.PeerID) string) {
	fmt.Fprintf(out, "\nThe ring:\n\n")
	for i, g := range groups {
		corner, side := "  │   ", "  │   "
		if i == 0 {
			corner = "  ╭─▶ "
		}
		if i == len(groups)-1 {
			corner, side = "  ╰── ", "      "
			if i == 0 {
				corner = "  ──▶ "
			}
		}
		fmt.Fprintf(out, "%s%-9s manager   %-7s …%s   %s, %s\n", corner, g.Theme, nameOf(g.Manager), g.Manager.Short(),
			count(g.Peers, "peer"), count(g.Feeds, "feed"))
		if g.Secondary != "" {
			fmt.Fprintf(out, "%s%-9s secondary %-7s …%s\n", side, "", nameOf(g.Secondary), g.Secondary.Short())
		}
		if i < len(groups)-1 {
			fmt.Fprintf(out, "  │   │\n  │   ▼\n")
		}
	}
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// printCommands shows the page and what to try. Commands stand on one line
// each, however long, so that they can be pasted.
func printCommands(out io.Writer, binary string, c *child) {
	address := peerAddress(c.start.Addrs)
	fmt.Fprintf(out, "\nThe page of %s: %s/\n\n", c.name, c.start.HTTP)
	fmt.Fprintf(out, "Try in another terminal\n")
	fmt.Fprintf(out, "- a question across the ring, answered by whoever can:\n\n  %s query --network %s --peer %s 'storm OR sturm OR energie'\n\n",
		binary, networkName, address)
	fmt.Fprintf(out, "- everything new about one theme, as it appears:\n\n  %s follow --network %s --peer %s --theme news\n\n",
		binary, networkName, address)
	fmt.Fprintf(out, "- the groups, their managers and their clients:\n\n  %s ring --api %s\n\n", binary, c.start.HTTP)
}

// peerAddress prefers TCP, which passes where UDP is filtered.
func peerAddress(addrs []string) string {
	for _, a := range addrs {
		if strings.Contains(a, "/tcp/") && !strings.Contains(a, "/ws") {
			return a
		}
	}
	return addrs[0]
}

// clip cuts a text to so many characters.
func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
