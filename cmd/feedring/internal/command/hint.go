package command

import (
	"regexp"
	"strings"

	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// quotedCommand is a command line that a hint quotes.
var quotedCommand = regexp.MustCompile(`"feedring [^"]+"`)

// WithFlags completes the commands that a text quotes with the flags that said
// which peer the command that runs is for, so that they work for the same one.
func (e *Env) WithFlags(text string) string {
	return quotedCommand.ReplaceAllStringFunc(text, func(quoted string) string {
		line := strings.Trim(quoted, `"`)
		if e.Command != nil && line == e.Command.CommandPath() { // it names itself
			return quoted
		}
		return `"` + e.CommandLine(line) + `"`
	})
}

// CommandLine is WithFlags of a command line without quotes.
func (e *Env) CommandLine(line string) string {
	if e.Command == nil {
		return line
	}
	words := strings.Fields(line)[1:]
	meant, rest, err := e.Command.Root().Find(words)
	if err != nil || !meant.HasParent() {
		return line
	}
	name := strings.Join(append([]string{"feedring"}, words[:len(words)-len(rest)]...), " ")
	flags := ""
	for _, flag := range []string{"config", "data", "api", "token-file"} {
		typed := e.Command.Flags().Lookup(flag)
		if typed == nil || options.Source(typed) != "--"+flag || meant.Flag(flag) == nil || strings.Contains(line, " --"+flag+" ") {
			continue
		}
		flags += " --" + flag + " " + show.ShellWord(typed.Value.String())
	}
	return name + flags + strings.TrimPrefix(line, name)
}
