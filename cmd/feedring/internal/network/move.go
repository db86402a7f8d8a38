package network

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/node"
)

func (a *commands) move() *cobra.Command {
	var asJSON bool
	timeout := options.Duration(10 * time.Minute)
	cmd := &cobra.Command{
		Use:   "move CHARTER|CODE",
		Short: "Take this peer's own history to another network",
		Long: "move seals what the stopped peer of --data published anew, for the network of an invitation, which it redeems, or\n" +
			"of the file of a charter. Entries keep their ids, so readers there find all of them; \"serve\" on that directory then\n" +
			"runs in that network. What other peers published, and where followers stood, stays behind in the folder \"former\" of\n" +
			"--data: remove it once all is well. A crash changes nothing, or the next start goes on.",
		Example: `  feedring network move CODE`,
		Args:    one("an invitation, or the file of a charter with a / in its path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := options.ParseNetwork(args[0])
			if err != nil {
				return exit.Usage("%v", err)
			}
			if to.Charter == nil {
				return exit.Usage("%.40q is a name: write an invitation, or the file of a charter with a / in its path", args[0])
			}
			if a.PeerRuns() {
				return exit.Failed(fmt.Errorf("the peer of %s runs: stop it first, move, and start it again", a.Data))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(timeout))
			defer cancel()
			moved, err := node.Move(ctx, a.Data, to.Charter, to.Code)
			if errors.Is(err, fs.ErrNotExist) {
				return exit.Failed(fmt.Errorf("no peer ran in %s, so there is nothing to move: run \"feedring network join CODE\"", a.Data))
			}
			if err != nil {
				return exit.Failed(err)
			}
			return a.Confirm(asJSON, moved, a.WithFlags(confirmMoved(&moved)))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().Var(options.Timeout{Duration: &timeout}, "timeout", "give up after this time")
	return cmd
}

// confirmMoved says what a move did, and what to do now.
func confirmMoved(m *node.Moved) string {
	text := fmt.Sprintf("moved %d entries of %d feeds to %s: start the peer with \"feedring serve\", and remove %s once all is well",
		m.Entries, m.Feeds, m.Network, m.Former)
	if len(m.Roots) > 0 {
		text += fmt.Sprintf("; it holds root keys of the former network: first move %s to where you keep them", strings.Join(m.Roots, " and "))
	}
	return text
}
