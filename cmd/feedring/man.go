package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/node"
)

func manCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory, which is made where there is none",
		Example: `  feedring man /usr/local/share/man/man1
  feedring man . && man ./feedring-query.1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage("man: name one directory, such as %q", "feedring man .")
			}
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return exit.Failed(fmt.Errorf("manual pages: %w", err))
			}
			return exit.Failed(env.Confirm(false, nil, "wrote the manual pages into "+args[0]))
		},
	}
}

func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// The default of --data is the home of whoever writes the pages.
	if f := root.PersistentFlags().Lookup("data"); f != nil {
		f.DefValue = "$XDG_DATA_HOME/feedring"
	}
	return writePages(root, dir, time.Now())
}

// writePages writes the page of a command, and those of the commands below it.
func writePages(cmd *cobra.Command, dir string, at time.Time) error {
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			if err := writePages(below, dir, at); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(manualPage(cmd, at)), 0o644) //nolint:gosec // everybody reads manuals
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is a command's page in the language of man(7). The packages that make such
// pages out of Markdown are a hundredth of the whole program.
func manualPage(cmd *cobra.Command, at time.Time) string {
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	section := func(name, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s\n", name, text)
		}
	}
	fmt.Fprintf(&b, ".nh\n.TH %q \"1\" %q %q \"feedring\"\n", strings.ToUpper(pageName(cmd)), at.Format("Jan 2006"), "feedring "+node.Version)
	section("NAME", roff(pageName(cmd))+" \\- "+roff(cmd.Short))
	section("SYNOPSIS", "\\fB"+roff(cmd.UseLine())+"\\fP")
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	section("DESCRIPTION", strings.ReplaceAll(roff(strings.TrimSpace(long)), "\n\n", "\n.PP\n"))
	section("OPTIONS", optionsOf(cmd.NonInheritedFlags()))
	section("OPTIONS INHERITED FROM PARENT COMMANDS", optionsOf(cmd.InheritedFlags()))
	if cmd.Example != "" {
		section("EXAMPLE", ".EX\n"+roff(strings.Trim(cmd.Example, "\n"))+"\n.EE")
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			others = append(others, pageName(below))
		}
	}
	for i, name := range others {
		others[i] = "\\fB" + roff(name) + "(1)\\fP"
	}
	section("SEE ALSO", strings.Join(others, ", "))
	return b.String()
}

// optionsOf lists flags with their defaults.
func optionsOf(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		b.WriteString(".TP\n")
		if f.Shorthand != "" && f.ShorthandDeprecated == "" {
			fmt.Fprintf(&b, "\\fB%s\\fP, ", roff("-"+f.Shorthand))
		}
		value := f.DefValue
		if f.Value.Type() == "string" {
			value = fmt.Sprintf("%q", value)
		}
		format := "\\fB%s\\fP=%s\n%s\n"
		if f.NoOptDefVal != "" {
			format = "\\fB%s\\fP[=%s]\n%s\n"
		}
		fmt.Fprintf(&b, format, roff("--"+f.Name), roff(value), roff(f.Usage))
	})
	return b.String()
}

// roff is a text that means itself, in each of its lines.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = "\\&" + line
		}
	}
	return strings.Join(lines, "\n")
}
