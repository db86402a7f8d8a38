package main

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) configCommand() *cobra.Command {
	o := newServeOptions()
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration that serve would use, and where each value is from",
		Long: "config takes the flags of serve and prints what serve would do with them, the environment and the\n" +
			"configuration file: a configuration file that can be saved, with the source of each value beside it.",
		Example: `  feedring config
  feedring config --feed news=https://www.lemonde.fr/rss/une.xml > feedring.toml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := o.config(a.data); err != nil {
				return err
			}
			return failed(a.printConfig(cmd.Flags()))
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func (a *app) printConfig(flags *pflag.FlagSet) error {
	for _, key := range variables() {
		f := flags.Lookup(key)
		text, err := toml.Marshal(map[string]any{key: settingOf(f)})
		if err != nil {
			return err
		}
		line := strings.TrimSpace(string(text))
		if empty(f) {
			line = "# " + line
		}
		fmt.Fprintf(a.stdout, "%-50s # %s\n", line, source(f))
	}
	f := flags.Lookup(tablesKey)
	text, err := f.Value.(*feedTables).text()
	if err == nil && text != "" { // last: what follows a table belongs to it
		_, err = fmt.Fprintf(a.stdout, "\n# %s\n%s", source(f), text)
	}
	return err
}

// settingOf returns a flag's value in the type that TOML has for it.
func settingOf(f *pflag.Flag) any {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return append([]string{}, list.GetSlice()...)
	}
	var v any = f.Value.String()
	switch f.Value.Type() {
	case "bool":
		return f.Value.String() == "true"
	case "int":
		var n int
		if _, err := fmt.Sscan(f.Value.String(), &n); err == nil {
			return n
		}
	}
	return v
}

// empty reports whether a key that was not given has no value to show.
func empty(f *pflag.Flag) bool {
	text := f.Value.String()
	return !f.Changed && (text == "" || text == "0")
}
