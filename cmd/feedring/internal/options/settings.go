// Package options reads the flags of the commands. What was not typed comes from
// the environment, else from the configuration file.
package options

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
)

const (
	envPrefix     = "FEEDRING_"
	sourceKey     = "source" // the annotation that says where a flag's value is from
	maxConfigFile = 1 << 20
)

// Load gives the flags that were not typed the values of the environment,
// else of the configuration file. Flags, variables and keys go through the same
// parsers, so they mean the same. An empty config means the usual files.
func Load(flags *pflag.FlagSet, config string, warnings io.Writer) error {
	warnOfVariables(flags, warnings)
	if err := fromEnvironment(flags); err != nil {
		return err
	}
	return fromFile(flags, config)
}

// Keys lists what a configuration file may say: the flags of serve.
func Keys() []string {
	names := []string{"data", "log-level", "log-format"}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	NewServe().Register(flags)
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func variable(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

func fromEnvironment(flags *pflag.FlagSet) error {
	for _, key := range slices.Sorted(slices.Values(variables())) {
		value := os.Getenv(variable(key))
		if value == "" {
			continue
		}
		values := []string{value}
		if f := flags.Lookup(key); f != nil && repeated(f) {
			values = strings.Fields(value)
		}
		if err := setFlag(flags, key, variable(key), values); err != nil {
			return err
		}
	}
	return nil
}

func fromFile(flags *pflag.FlagSet, config string) error {
	path, text, err := readConfig(config)
	if err != nil || path == "" {
		return err
	}
	return fromText(flags, path, text)
}

// fromText takes what a configuration file says. An error names the line.
func fromText(flags *pflag.FlagSet, path string, text []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		return exit.Usage("%s: %w", path, withPosition(err))
	}
	known := Keys()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := fromKey(flags, path, key, values[key], known); err != nil {
			return exit.Usage("%w (line %d)", err, lineOfError(err, key, text))
		}
	}
	return nil
}

func fromKey(flags *pflag.FlagSet, path, key string, value any, known []string) error {
	if !slices.Contains(known, key) {
		return unknownKey(path, key, known)
	}
	if key == tablesKey {
		return setTables(flags, path, value)
	}
	values, err := texts(value)
	if err != nil {
		return exit.Usage("%s: %s: %w", path, key, err)
	}
	return setFlag(flags, key, path, values)
}

// lineOfError is the line of a valid TOML text that an error about key is about.
func lineOfError(err error, key string, text []byte) int {
	var table *tableError
	if errors.As(err, &table) {
		if line := lineInTable(text, table.Table, table.Key); line > 0 {
			return line
		}
	}
	return lineOf(key, text)
}

// lineInTable is the line of a key in the nth table [[feeds]], or of that table's
// head if key is empty. 0: there is no such line, as in a list of inline tables.
func lineInTable(text []byte, n int, key string) int {
	var p unstable.Parser
	tables, inside := 0, false // of [[feeds]]
	for p.Reset(text); p.NextExpression(); {
		e := p.Expression()
		names := e.Key()
		if !names.Next() {
			continue
		}
		name := names.Node()
		here := inside && string(name.Data) == key
		if e.Kind != unstable.KeyValue {
			if inside = string(name.Data) == tablesKey; inside {
				tables++
			}
			here = inside && key == ""
		}
		if here && tables == n {
			return p.Shape(name.Raw).Start.Line
		}
	}
	return 0
}

// lineOf is the first line of a valid TOML text that sets key, from 1.
func lineOf(key string, text []byte) int {
	var p unstable.Parser
	for p.Reset(text); p.NextExpression(); {
		names := p.Expression().Key()
		if names.Next() && string(names.Node().Data) == key {
			return p.Shape(names.Node().Raw).Start.Line
		}
	}
	return 0
}

// withPosition names the place where a file's syntax is wrong.
func withPosition(err error) error {
	var syntax *toml.DecodeError
	if !errors.As(err, &syntax) {
		return err
	}
	line, column := syntax.Position()
	return fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(syntax.Error(), "toml: "))
}

func unknownKey(path, key string, known []string) error {
	if near := feedring.Nearest(key, known); near != "" {
		return exit.Usage("%s: unknown key %q: did you mean %q?", path, key, near)
	}
	return exit.Usage("%s: unknown key %q: the keys are the flags of %q", path, key, "feedring serve --help")
}

// readConfig returns the configuration file, or an empty path where there is
// none.
func readConfig(config string) (path string, text []byte, err error) {
	paths := []string{config}
	if config == "" {
		paths = configPaths()
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) && config == "" {
			continue
		}
		if err == nil && info.Size() > maxConfigFile {
			err = errors.New("larger than 1 MiB: this is no configuration file")
		}
		if err == nil {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			var place *fs.PathError
			if errors.As(err, &place) {
				err = place.Err
			}
			return "", nil, exit.Usage("--config %s: %w: name a TOML file that this user can read", path, err)
		}
		return path, text, nil
	}
	return "", nil, nil
}

func configPaths() []string {
	paths := []string{"/etc/feedring/config.toml"}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = slices.Insert(paths, 0, filepath.Join(dir, "feedring", "config.toml"))
	}
	return paths
}

// texts writes a TOML value as a flag takes it.
func texts(value any) ([]string, error) {
	switch v := value.(type) {
	case []any:
		var all []string
		for _, item := range v {
			text, err := texts(item)
			if err != nil || len(text) != 1 {
				return nil, errors.New("write a list of texts")
			}
			all = append(all, text...)
		}
		return all, nil
	case string, bool, int64, float64:
		return []string{fmt.Sprint(v)}, nil
	default:
		return nil, errors.New("write a text, a number, true or false, or a list of texts")
	}
}

// repeated reports whether a flag may be given more than once.
func repeated(f *pflag.Flag) bool {
	_, ok := f.Value.(pflag.SliceValue)
	return ok
}

// setTables takes the feeds that are tables of a file, unless a source of higher
// precedence names feeds.
func setTables(flags *pflag.FlagSet, path string, value any) error {
	f, plain := flags.Lookup(tablesKey), flags.Lookup("feed")
	if f == nil || plain.Changed && Source(plain) != path {
		return nil
	}
	if err := f.Value.(*feedTables).parse(value); err != nil {
		return exit.Usage("%s: [[%s]]: %w", path, tablesKey, err)
	}
	f.Changed = true
	return flags.SetAnnotation(tablesKey, sourceKey, []string{path})
}

func setFlag(flags *pflag.FlagSet, key, source string, values []string) error {
	f := flags.Lookup(key)
	if f == nil || f.Changed {
		return nil // another command's flag, or set by a source of higher precedence
	}
	if len(values) != 1 && !repeated(f) {
		return exit.Usage("%s: %s: one value is expected, not a list", source, key)
	}
	for _, value := range values {
		if err := f.Value.Set(value); err != nil {
			return exit.Usage("%s: --%s %q: %w", source, key, feedring.WithoutUser(value), phraseValue(err))
		}
	}
	f.Changed = true
	return flags.SetAnnotation(key, sourceKey, []string{source})
}

// phraseValue says in words what a number or a yes or no must look like.
func phraseValue(err error) error {
	var number *strconv.NumError
	switch {
	case !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return errors.New("write a smaller number")
	case number.Func == "ParseBool":
		return errors.New("write true or false")
	default:
		return errors.New("write a whole number")
	}
}

// FlagError makes plain words of what cobra says of a flag. The arguments are
// those that were typed.
func FlagError(cmd *cobra.Command, args []string, err error) error {
	var number *strconv.NumError
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		if shown := feedring.WithoutUser(value.GetValue()); shown != value.GetValue() {
			text := strings.ReplaceAll(err.Error(), strconv.Quote(value.GetValue()), strconv.Quote(shown))
			return &exit.Error{Code: exit.CodeUsage, Err: &rewordedError{err, text}}
		}
	}
	if errors.As(err, &number) {
		return exit.Usage("%s%w", strings.TrimSuffix(err.Error(), number.Error()), phraseValue(err))
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "peer" && cmd.Flags().Lookup("api") != nil {
		return exit.Usage("%w: only a running peer itself can answer this: name it with --api, or --data for its socket", err)
	}
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" && strings.Contains(cmd.Use, "[WORDS]") {
		word := mistaken(args, unknown.GetSpecifiedShortnames())
		return exit.Usage("%q was taken for a flag: to leave a word out put -- before the words (%s -- europe -elections), or quote them together ('europe -elections')", word, cmd.CommandPath())
	}
	return err
}

// rewordedError is an error in other words.
type rewordedError struct {
	error
	text string
}

func (e *rewordedError) Error() string { return e.text }
func (e *rewordedError) Unwrap() error { return e.error }

// mistaken returns the argument whose last letters were taken for flags. Its first
// letters may be flags, as the h of -hurricane; pflag has removed these.
func mistaken(args []string, letters string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, letters) {
			return arg
		}
	}
	return "-" + letters
}

// Source tells where a flag's value is from.
func Source(f *pflag.Flag) string {
	switch from := f.Annotations[sourceKey]; {
	case len(from) > 0:
		return from[0]
	case f.Changed:
		return "--" + f.Name
	default:
		return "default"
	}
}
