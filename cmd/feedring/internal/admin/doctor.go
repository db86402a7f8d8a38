package admin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) doctorCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a running peer: reachable, on time, vouched for",
		Long: "doctor asks a running peer what it found out about itself: whether others reach it, its clock, its feeds, who\n" +
			"vouches for them. It also looks at the API token in --data: others must not read it, or the next start is\n" +
			"refused (chmod 600 corrects that).\n\n" +
			"ok is well; note is well too, but not needed or not found out; FAIL wants something done, and exits with 1.",
		Example: `  feedring doctor
  feedring doctor --json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var checks []api.Check
			if f.URL == "" {
				checks = checkToken(filepath.Join(a.Data, "token"))
			}
			err := a.WithPeer(cmd.Context(), &f, func(ctx context.Context, peer *api.Client) error {
				told, err := peer.Doctor(ctx)
				checks = append(checks, told...)
				return err
			})
			if err != nil && (len(checks) == 0 || checks[0].OK) {
				return exit.Failed(err)
			}
			if wrong := a.printChecks(checks, f.JSON); wrong != nil && err != nil {
				return exit.Failed(fmt.Errorf("%w; %w", wrong, err))
			} else if wrong != nil {
				return exit.Failed(wrong)
			}
			return exit.Failed(err)
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

// checkToken looks at the file of the API token, where there is one: the next
// start refuses one that others can read.
func checkToken(path string) []api.Check {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return []api.Check{{
			Name: "token", Detail: path + " can be read by others, so the next start is refused",
			Advice: "remove it, and the next start makes a new one; or, where nobody read it: chmod 600 " + path,
		}}
	}
	return []api.Check{{Name: "token", OK: true, Detail: "readable by its owner only"}}
}

// printChecks returns an error if a check failed.
func (a *commands) printChecks(checks []api.Check, asJSON bool) error {
	out := show.NewLines(a.Stdout)
	wrong := 0
	for _, check := range checks {
		mark := "ok  "
		switch {
		case !check.OK:
			mark, wrong = "FAIL", wrong+1
		case check.Note:
			mark = "note"
		}
		if asJSON {
			out.Print(check)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s  %s: %s\n", mark, show.Printable(check.Name), show.Printable(check.Detail))
		if (check.Note || !check.OK) && check.Advice != "" {
			fmt.Fprintf(a.Stdout, "      %s\n", a.WithFlags(show.Printable(check.Advice)))
		}
	}
	if out.Err != nil {
		return out.Err
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks failed: the advice is beside each", wrong, len(checks))
	}
	return nil
}
