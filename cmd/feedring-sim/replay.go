package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// replayCommand is one line for a shell that plays a seed again, by the program
// that was called as arg0, and tells everything.
func (f *faultsFlags) replayCommand(arg0 string, seed uint64) string {
	return fmt.Sprintf("%s faults --from %d --seeds 1 --trace%s", callable(arg0), seed, f.worlds())
}

// callable is how a shell calls the program that was called as arg0.
func callable(arg0 string) string {
	const name = "feedring-sim"
	if strings.Contains(filepath.ToSlash(arg0), "/go-build") { // of go run, which removes it at the end
		return "go run ./cmd/" + name
	}
	if _, err := os.Stat(arg0); err != nil || !strings.ContainsRune(arg0, filepath.Separator) {
		return name
	}
	if strings.ContainsFunc(arg0, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return "'" + strings.ReplaceAll(arg0, "'", `'\''`) + "'"
	}
	return arg0
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+"
