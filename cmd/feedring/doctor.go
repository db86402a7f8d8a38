package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

func (a *app) doctorCommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a running peer: reachable, on time, vouched for",
		Example: `  feedring doctor
  feedring doctor --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(a.withPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				checks, err := peer.Doctor(ctx)
				if err != nil {
					return err
				}
				return a.printChecks(checks, f.json)
			}))
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// printChecks fails where a check did.
func (a *app) printChecks(checks []api.Check, asJSON bool) error {
	out := newLines(a.stdout)
	wrong := 0
	for _, check := range checks {
		mark := "ok  "
		if !check.OK {
			mark, wrong = "FAIL", wrong+1
		}
		if asJSON {
			out.print(check)
			continue
		}
		fmt.Fprintf(a.stdout, "%s  %s: %s\n", mark, printable(check.Name), printable(check.Detail))
		if !check.OK && check.Advice != "" {
			fmt.Fprintf(a.stdout, "      %s\n", printable(check.Advice))
		}
	}
	if out.err != nil {
		return out.err
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks failed: the advice is beside each", wrong, len(checks))
	}
	return nil
}
