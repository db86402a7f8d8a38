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

// Load reads the identity key in dir, or creates it on the first
// start. The error says what to do.
func Load(dir string) (crypto.PrivKey, error) {
	path := filepath.Join(dir, File)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createIdentity(dir, path)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a file", ErrBad, path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%w: others can read it (mode %04o): run chmod 600 %s", ErrBad, info.Mode().Perm(), path)
	case info.Size() > 4096:
		return nil, corrupt(path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: make it readable for the user who runs feedring", ErrBad, err)
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

func corrupt(path string) error {
	return fmt.Errorf("%w: %s is damaged: restore it from a copy, or move it away to start as a new peer", ErrBad, path)
}

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
