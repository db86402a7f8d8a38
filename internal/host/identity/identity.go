// Package identity reads and makes the key that a peer is known by.
package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// File is the name of the key within the data directory. It holds an
// Ed25519 key in libp2p's protobuf form.
const File = "identity.key"

// ErrBad is returned for an identity key that cannot be used. A new
// one is never made in its place: with it the peer would be somebody else, and
// its feeds somebody else's.
var ErrBad = errors.New("identity key cannot be used")

// Problem is what is wrong with the file of a key.
type Problem int

// The problems.
const (
	NoFile       Problem = iota // something else is there
	OpenToOthers                // other users can read it
	Unreadable                  // this user cannot
	Damaged
)

// Error is ErrBad with what is wrong.
type Error struct {
	Path    string
	Problem Problem
	Mode    fs.FileMode // of OpenToOthers
	Err     error       // of Unreadable
}

// Unwrap returns ErrBad, and the error of the system.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrBad}
	}
	return []error{ErrBad, e.Err}
}

// Error implements error.
func (e *Error) Error() string {
	switch e.Problem {
	case NoFile:
		return fmt.Sprintf("%v: %s is not a file", ErrBad, e.Path)
	case OpenToOthers:
		return fmt.Sprintf("%v: others can read %s (mode %04o)", ErrBad, e.Path, e.Mode)
	case Unreadable:
		return fmt.Sprintf("%v: %v", ErrBad, e.Err)
	}
	return fmt.Sprintf("%v: %s is damaged", ErrBad, e.Path)
}

// Load reads the identity key in dir, or creates it on the first
// start. Of what is wrong with a file, the error is an *Error.
func Load(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, File)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createIdentity(dir, path)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	case !info.Mode().IsRegular():
		return nil, &Error{Path: path, Problem: NoFile}
	case info.Mode().Perm()&0o077 != 0:
		return nil, &Error{Path: path, Problem: OpenToOthers, Mode: info.Mode().Perm()}
	case info.Size() > 4096:
		return nil, corrupt(path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Path: path, Problem: Unreadable, Err: err}
	}
	return decodeIdentity(raw, path)
}

// decodeIdentity also checks that the stored public key belongs to the private
// one: a key damaged in between would sign what nobody accepts.
func decodeIdentity(raw []byte, path string) (crypto.PrivKey, error) {
	key, err := crypto.UnmarshalPrivateKey(raw)
	if err != nil || key.Type() != crypto.Ed25519 {
		return nil, corrupt(path)
	}
	inner, err := key.Raw()
	if err != nil || len(inner) != ed25519.PrivateKeySize {
		return nil, corrupt(path)
	}
	if !bytes.Equal(ed25519.NewKeyFromSeed(inner[:ed25519.SeedSize]), inner) {
		return nil, corrupt(path)
	}
	return key, nil
}

func corrupt(path string) error { return &Error{Path: path, Problem: Damaged} }

func createIdentity(dir, path string) (crypto.PrivKey, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	key, err := New()
	if err != nil {
		return nil, err
	}
	raw, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	if err := writeSynced(dir, path, raw); err != nil {
		return nil, fmt.Errorf("identity key cannot be written: %w", err)
	}
	// Another process may have been first: what is on disk counts.
	raw, err = os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	return decodeIdentity(raw, path)
}

// New makes a key.
func New() (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	return key, nil
}

// writeSynced puts content at path whole or not at all, on disk before it
// returns. It never replaces a file that is there.
func writeSynced(dir, path string, content []byte) error {
	f, err := os.CreateTemp(dir, File+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	switch err := os.Link(f.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil: // a file system without hard links
		if err := os.Rename(f.Name(), path); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some systems cannot sync a directory; the file itself is synced.
	_ = d.Sync()
	return d.Close()
}
