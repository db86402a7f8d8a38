// Command feedring-sim runs the machines of feedring in virtual time: thousands
// of peers under faults, and the experiments of docs/experiments.md.
//
// This package is flags, progress and exit codes; what happens in virtual time
// is package sim's affair.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	explainInterrupts(os.Stderr)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs one command line and returns its exit code: 0, 1 where an invariant
// did not hold or something failed, 2 for wrong usage, which is what the command
// line shows without a look at any file.
func run(args []string, stdout, stderr io.Writer) int {
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
	switch {
	case err == nil:
		return 0
	case isFailure(err):
		fmt.Fprintln(stderr, "feedring-sim:", err)
		return 1
	default:
		fmt.Fprintln(stderr, "feedring-sim:", err)
		return 2
	}
}

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "feedring-sim",
		Short:         "feedring's peers in virtual time",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(faultsCommand(stdout, stderr), exploreCommand(stdout, stderr), paperCommand(stdout, stderr),
		scaleCommand(stdout, stderr), compareCommand(stdout, stderr), policiesCommand(stdout, stderr), smallwebCommand(stdout, stderr),
		exchangeCommand(stdout, stderr), promisesCommand(stdout, stderr))
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root
}
