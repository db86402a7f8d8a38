package options

import (
	"fmt"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// Write writes the flags as a configuration file, with the source of each value.
func Write(w io.Writer, flags *pflag.FlagSet) error {
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
		fmt.Fprintf(w, "%-50s # %s\n", line, Source(f))
	}
	f := flags.Lookup(tablesKey)
	text, err := f.Value.(*feedTables).text()
	if err == nil && text != "" { // last: what follows a table belongs to it
		_, err = fmt.Fprintf(w, "\n# %s\n%s", Source(f), text)
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
