// Package membership keeps what a peer or client knows of the members of its network:
// the charter and the roll, in files, and the hellos and exchanges by which both reach
// others. Who belongs to the network is for package charter.
package membership

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// What is in the folder of the network, below the data directory.
const (
	folder      = "network"
	charterFile = "charter"
	rollFile    = "roll"
	addrsFile   = "addresses"
	nameFile    = "name" // of a network whose charter this peer does not have
	codesFile   = "invitations"
)

// How long credentials are valid: those of admins, which only a root gives anew, for ten
// years.
const (
	Lifetime      = 400 * 24 * time.Hour
	AdminLifetime = 10 * 365 * 24 * time.Hour
)

const roots = 2 // of a new network, so that one may be lost

// ErrNone is for a data directory that belongs to no network with a charter.
var ErrNone = errors.New("this data directory belongs to no network with a charter")

// OtherError is for a data directory that was used in another network: what it
// published there is signed for that one.
type OtherError struct{ Data, Network string }

// Error implements error.
func (e *OtherError) Error() string {
	if e.Network == "" {
		return e.Data + " was used in an open network, for which its entries are signed"
	}
	return fmt.Sprintf("%s belongs to the network %s", e.Data, e.Network)
}

// NetworkOf returns the name of the network that a data directory belongs to; empty:
// none with a charter.
func NetworkOf(data string) (string, error) {
	text, err := os.ReadFile(filepath.Join(data, folder, charterFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("charter: %w", err)
	}
	c, err := charters.Decode(text)
	if err != nil {
		return "", err
	}
	return c.Network(), nil
}

// NoteName notes the network of a peer that has no charter, so that it may join that
// network later.
func NoteName(data, network string) error {
	if name, err := os.ReadFile(filepath.Join(data, folder, nameFile)); err == nil && string(name) == network {
		return nil
	}
	return write(data, nameFile, []byte(network))
}

// mayBecome refuses a data directory that was used in another network than this one.
func mayBecome(data, network string) error {
	is, err := NetworkOf(data)
	switch {
	case err != nil:
		return err
	case is == network:
		return nil
	case is != "":
		return &OtherError{data, is}
	}
	if _, err := os.Stat(filepath.Join(data, "store")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name, err := os.ReadFile(filepath.Join(data, folder, nameFile))
	if err != nil || string(name) != network {
		return &OtherError{data, string(name)}
	}
	return nil
}

// write puts a file into the folder, whole or not at all, on disk before it returns.
func write(data, name string, content []byte) error {
	dir := filepath.Join(data, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, name+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

// litter is how old a file has to be to be taken for one that a crash left half written.
const litter = time.Hour

// tidy removes what crashes left of write.
func tidy(data string) {
	files, _ := os.ReadDir(filepath.Join(data, folder))
	for _, f := range files {
		if info, err := f.Info(); err == nil && strings.Contains(f.Name(), ".new-") && time.Since(info.ModTime()) > litter {
			_ = os.Remove(filepath.Join(data, folder, f.Name()))
		}
	}
}

// readRoll reads the statements of the roll that are kept.
func readRoll(data string, c *charter.Charter) ([]charter.Statement, error) {
	raw, err := os.ReadFile(filepath.Join(data, folder, rollFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p feedringv1.Roll
	if err := proto.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("roll: %w", err)
	}
	return charters.StatementsFrom(c.Network(), p.GetStatements(), charters.MaxStatements)
}

// ReadStatements reads what WriteStatements wrote, and checks it.
func ReadStatements(network string, raw []byte) ([]charter.Statement, error) {
	var p feedringv1.Roll
	if err := wire.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	return charters.StatementsFrom(network, p.GetStatements(), charter.MaxProof)
}

// WriteStatements encodes a few statements.
func WriteStatements(list []charter.Statement) ([]byte, error) {
	return proto.Marshal(&feedringv1.Roll{Statements: charters.StatementsTo(list)})
}

func writeRoll(data string, r *charter.Roll) error {
	raw, err := proto.Marshal(&feedringv1.Roll{Statements: charters.StatementsTo(r.Statements())})
	if err != nil {
		return err
	}
	return write(data, rollFile, raw)
}

// readJSON reads a file of the folder, if it is there.
func readJSON(data, name string, into any) error {
	raw, err := os.ReadFile(filepath.Join(data, folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func writeJSON(data, name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return write(data, name, raw)
}

// Created is a network that was made.
type Created struct {
	Network string
	Charter string   // the charter's file
	Roots   []string // the files of the root keys
}

// Create makes a network, with its root keys in the data directory, whose peer is the
// first admin.
func Create(data, label string, mode charter.Mode, now time.Time) (made Created, err error) {
	if is, err := NetworkOf(data); err != nil || is != "" {
		return made, errors.Join(err, &OtherError{data, is})
	}
	if _, err := os.Stat(filepath.Join(data, "store")); !errors.Is(err, fs.ErrNotExist) { // a peer ran there
		name, _ := os.ReadFile(filepath.Join(data, folder, nameFile))
		return made, errors.Join(err, &OtherError{data, string(name)})
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return made, fmt.Errorf("data directory: %w", err)
	}
	key, err := identity.Load(data)
	if err != nil {
		return made, err
	}
	c := &charter.Charter{Label: label, Mode: mode, Created: now}
	keys := make([]crypto.PrivKey, roots)
	for i := range keys {
		if keys[i], err = identity.New(); err != nil {
			return made, err
		}
		id, err := idOf(keys[i])
		if err != nil {
			return made, err
		}
		c.Roots = append(c.Roots, id)
	}
	if err := charters.Encode(c); err != nil {
		return made, err
	}
	made.Network, made.Charter = c.Network(), filepath.Join(data, folder, charterFile)
	for i, root := range keys {
		name := rootFile(i)
		raw, err := crypto.MarshalPrivateKey(root)
		if err != nil {
			return made, err
		}
		if err := write(data, name, raw); err != nil {
			return made, fmt.Errorf("root key: %w", err)
		}
		made.Roots = append(made.Roots, filepath.Join(data, folder, name))
	}
	self, err := idOf(key)
	if err != nil {
		return made, err
	}
	signer, err := wire.NewSealer(keys[0], made.Network)
	if err != nil {
		return made, err
	}
	rights := charter.Invited | charter.Admit | charter.Expel | charter.Moderate
	if mode == charter.Vouched {
		rights = charter.Read | charter.Expel | charter.Moderate
	}
	admin, err := Credential(signer, charter.Credential{
		Subject: self, Rights: rights, NotBefore: now, Expires: now.Add(AdminLifetime),
	})
	if err != nil {
		return made, err
	}
	if err := writeRoll(data, charter.NewRoll(c).Merge([]charter.Statement{admin}, now)); err != nil {
		return made, fmt.Errorf("roll: %w", err)
	}
	// The charter comes last: with it the directory belongs to the network.
	return made, write(data, charterFile, c.Text)
}

func rootFile(i int) string { return fmt.Sprintf("root-%d.key", i+1) }

// RootKeys returns the files of root keys that Create left in a data directory and that are there still.
func RootKeys(data string) (files []string) {
	for i := range roots {
		file := filepath.Join(data, folder, rootFile(i))
		if _, err := os.Lstat(file); err == nil {
			files = append(files, file)
		}
	}
	return files
}

func idOf(key crypto.PrivKey) (feedring.PeerID, error) {
	s, err := wire.NewSealer(key, "main")
	if err != nil {
		return "", err
	}
	return s.ID(), nil
}
