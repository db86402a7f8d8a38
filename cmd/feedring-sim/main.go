// Command feedring-sim runs the machines of feedring in virtual time: thousands
// of peers under faults, and the experiments of docs/experiments.md.
//
// This package is flags, progress and exit codes; what happens in virtual time
// is package sim's affair.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	explainInterrupts(os.Stderr)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes other than 0. Wrong usage is what the command line shows without a
// look at any file.
const (
	exitBroken = 1 + iota
	exitUsage
	exitFailure
)

// exits is what the help of each command says of them.
const exits = "Exit status: 0 where all holds; 1 where an invariant or a promise does not, or a running peer is beyond its spare; 2 for wrong usage; 3 where it failed or was stopped before its end\n" +
	"(a file cannot be read or written, a state is refused), and nothing that was played is broken. Standard error says which."

// run runs one command line and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := rootCommand(stdout, stderr)
	root.SetArgs(args)
	err := root.Execute()
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(broken)):
		fmt.Fprintln(stderr, "feedring-sim:", err)
		return exitBroken
	case errors.As(err, new(failure)):
		fmt.Fprintln(stderr, "feedring-sim:", err)
		return exitFailure
	default:
		fmt.Fprintln(stderr, "feedring-sim:", err)
		return exitUsage
	}
}

// failure is an error that is not the caller's: something could not be done.
type failure struct{ error }

// broken is what was played and does not hold.
type broken struct{ error }

// ended is how a command ends: what does not hold is told by the exit code
// whatever else failed.
func ended(wrong, failed error) error {
	switch {
	case wrong != nil && failed != nil:
		return broken{fmt.Errorf("%w; %w", wrong, failed)}
	case wrong != nil:
		return broken{wrong}
	case failed != nil:
		return failure{failed}
	}
	return nil
}

func rootCommand(stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "feedring-sim",
		Short:         "feedring's peers in virtual time",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(faultsCommand(stdout, stderr), exploreCommand(stdout, stderr), paperCommand(stdout, stderr),
		scaleCommand(stdout, stderr), compareCommand(stdout, stderr), policiesCommand(stdout, stderr), smallwebCommand(stdout, stderr), surveyCommand(stdout, stderr),
		exchangeCommand(stdout, stderr), promisesCommand(stdout, stderr), planCommand(stdout), localityCommand(stdout))
	for _, cmd := range root.Commands() {
		cmd.Long = cmp.Or(cmd.Long, cmd.Short) + "\n\n" + exits
	}
	root.SetFlagErrorFunc(flagError)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root
}

// flagError makes plain words of what is wrong with a number.
func flagError(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err
	}
	flag := value.GetFlag()
	takes := ""
	switch flag.Value.Type() {
	case "uint64":
		takes = "a whole number from 0 on"
	case "int", "int64":
		takes = "a whole number"
	case "float64":
		takes = "a number"
	case bytesOfMemory.name, bitsASecond.name, shareOfAll.name, timesAsMuch.name:
		return fmt.Errorf("--%s %q: %w", flag.Name, value.GetValue(), errors.Unwrap(value))
	case "intSlice":
		takes = "whole numbers with commas between"
	default:
		return err
	}
	if flag.Name == "seeds" {
		takes = "a whole number from 1 on"
	}
	if errors.Is(err, strconv.ErrRange) {
		takes += " that is not so large"
	}
	return fmt.Errorf("--%s takes %s, not %q", flag.Name, takes, value.GetValue())
}
