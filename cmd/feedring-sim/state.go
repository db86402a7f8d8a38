package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// stamp says which program wrote a state, and by which command. Seeds that
// another one played say nothing about this one, so they are not counted together.
type stamp struct {
	Program string `json:"program"` // SHA-256 of the executable, in hex
	Kind    string `json:"kind"`    // the command
}

// What keeps a state.
const (
	kindFaults  = "faults"
	kindExplore = "explore"
)

// ownStamp reads the whole executable: call it once.
func ownStamp(kind string) (stamp, error) {
	path, err := os.Executable()
	if err != nil {
		return stamp{}, fmt.Errorf("which program this is: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return stamp{}, fmt.Errorf("which program this is: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return stamp{}, fmt.Errorf("which program this is: %w", err)
	}
	return stamp{hex.EncodeToString(h.Sum(nil)), kind}, nil
}

// mostState bounds what is read of a file that may be something else, in bytes.
const mostState = 1 << 20

// recall reads into v what own kept in a file, and reports whether there is one.
// v must be empty: what a file lacks must not pass as what the flags say.
func recall(path string, own stamp, v any) (found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("--state: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostState))
	if err != nil {
		return false, fmt.Errorf("--state: %w", err)
	}
	var by stamp
	if err := json.Unmarshal(data, &by); err != nil {
		return false, wrongState(path, err)
	}
	if by.Program != own.Program {
		return false, fmt.Errorf("--state: %s was written by another build of feedring-sim: begin anew with another file", path)
	}
	if by.Kind != own.Kind {
		return false, fmt.Errorf("--state: %s was written by %q, not by %q: give another file", path, by.Kind, own.Kind)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, wrongState(path, err)
	}
	return true, nil
}

// wrongState says that a file holds what no run can have written.
func wrongState(path string, why error) error {
	return fmt.Errorf("--state: %s does not say how far a run came (%w): begin anew with another file", path, why)
}

// keep writes a file, whole or not at all.
func keep(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("--state %s: %w", path, err)
	}
	f, err := os.Create(path + ".new")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--state %s cannot be kept: create the directory %s first", path, filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("--state %s cannot be kept: %w", path, cause(err))
	}
	_, err = f.Write(data)
	for _, step := range []func() error{f.Sync, f.Close, func() error { return os.Rename(path+".new", path) }} {
		if next := step(); err == nil {
			err = next
		}
	}
	if err != nil {
		return fmt.Errorf("--state %s cannot be kept: %w", path, cause(err))
	}
	return nil
}

// cause is an error without the file's name that nobody typed.
func cause(err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		return file.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
