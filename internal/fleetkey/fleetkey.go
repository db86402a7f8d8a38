// Package fleetkey keeps the key of a fleet, in a file that each of its machines has, and makes
// and checks the credentials by which its peers know each other.
package fleetkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	lifetime = 400 * 24 * time.Hour
	skew     = time.Hour // by which clocks may differ
	maxFile  = 4096
	// MaxCredential is the longest credential as it travels, in bytes.
	MaxCredential = 1024
)

// Errors of key files and credentials.
var (
	ErrExists     = errors.New("the file is there already: whoever has a fleet's key is one of its peers, so it is not replaced")
	ErrOpen       = errors.New("others may read the key, and so belong to the fleet: take that right from them (chmod 600)")
	ErrMissing    = errors.New("there is no such file")
	ErrUnreadable = errors.New("the file cannot be read")
	ErrNoKey      = errors.New("it holds no key of a fleet")
	ErrCredential = errors.New("the credential is not one of this fleet and peer, or has expired")
)

// New makes a key and writes it to a file that only its owner may read. It never replaces
// a file: ErrExists.
func New(file string) (feedring.Theme, error) {
	made, err := identity.New()
	if err != nil {
		return "", err
	}
	raw, err := crypto.MarshalPrivateKey(made)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s: %w", file, ErrExists)
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	if d, err := os.Open(filepath.Dir(file)); err == nil { // some systems cannot sync a directory
		_ = d.Sync()
		_ = d.Close()
	}
	public, err := publicOf(made)
	return themeOf(public), err
}

// Key is the key of a fleet on one network. It is safe for concurrent use.
type Key struct {
	Theme  feedring.Theme // of the group of the fleet's peers
	sealer *wire.Sealer
}

// Load reads a key file. ErrMissing, ErrUnreadable, ErrOpen, ErrNoKey.
func Load(file, network string) (*Key, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%s: %w", file, ErrNoKey)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: %w", file, ErrOpen)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	private, err := crypto.UnmarshalPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, ErrNoKey)
	}
	public, err := publicOf(private)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, ErrNoKey)
	}
	sealer, err := wire.NewSealer(private, network)
	if err != nil {
		return nil, err
	}
	return &Key{themeOf(public), sealer}, nil
}

// publicOf is the public half, if it belongs to the private one: of a damaged file it does not.
func publicOf(private crypto.PrivKey) ([]byte, error) {
	inner, err := private.Raw()
	if err != nil || private.Type() != crypto.Ed25519 || len(inner) != ed25519.PrivateKeySize ||
		!bytes.Equal(ed25519.NewKeyFromSeed(inner[:ed25519.SeedSize]), inner) {
		return nil, ErrNoKey
	}
	return inner[ed25519.SeedSize:], nil
}

func themeOf(public []byte) feedring.Theme {
	sum := sha256.Sum256(append([]byte("feedring fleet\x00"), public...))
	return feedring.FleetTheme([8]byte(sum[:8]))
}

// Credential says that a peer belongs to the fleet from now on, as it travels.
func (k *Key) Credential(p feedring.PeerID, now time.Time) ([]byte, error) {
	seal, err := charters.SealFleetMember(k.sealer, charters.FleetMember{
		Subject: p, Group: k.Theme.Group(), NotBefore: now.Add(-skew), Expires: now.Add(lifetime),
	})
	if err != nil {
		return nil, err
	}
	return proto.Marshal(wire.SealTo(seal))
}

// Check reports until when a credential that a peer showed is valid. ErrCredential.
func (k *Key) Check(p feedring.PeerID, credential []byte, now time.Time) (time.Time, error) {
	var sealed feedringv1.Sealed
	if len(credential) > MaxCredential || proto.Unmarshal(credential, &sealed) != nil {
		return time.Time{}, ErrCredential
	}
	seal := wire.SealFrom(&sealed)
	if seal == nil || seal.Signer != k.sealer.ID() {
		return time.Time{}, ErrCredential // before its signature costs anything
	}
	m, err := charters.OpenFleetMember(k.sealer.Network(), seal)
	if err != nil || m.Subject != p || m.Group != k.Theme.Group() || now.Before(m.NotBefore.Add(-skew)) || !now.Before(m.Expires) {
		return time.Time{}, ErrCredential
	}
	return m.Expires, nil
}
