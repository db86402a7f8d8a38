package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/web"
)

func storeIn(data string) string { return filepath.Join(data, "store") }

// prepareData makes the data directory what a start needs: there, with a key,
// and its store closed to others. What others may do in the directory itself is
// for its owner to decide, who may have given it a name of general use: what is
// wrong there is only said.
func prepareData(data string, log *slog.Logger) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if info, err := os.Stat(data); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		log.Warn(web.AdviseCloseData.To("others can write in the data directory, and so put a key of theirs in place of this peer's"),
			"dir", data, "mode", fmt.Sprintf("%04o", info.Mode().Perm()))
	}
	if info, err := os.Stat(storeIn(data)); err == nil && !info.IsDir() {
		return &feedring.SettingError{Setting: "data", Value: data, Err: &NoDirectoryError{storeIn(data)}}
	}
	if err := ownKey(data); err != nil {
		return err
	}
	// The key comes before the store: a store without a key has lost it.
	if _, err := identity.Load(data); err != nil {
		return err
	}
	return closeToOthers(storeIn(data))
}

// ownKey refuses a directory whose key is gone: with a new one this peer would
// be somebody else, with the terms and entries of who it was.
func ownKey(data string) error {
	key := filepath.Join(data, identity.File)
	if _, err := os.Lstat(key); !errors.Is(err, fs.ErrNotExist) {
		return nil // whether it is good is for who loads it
	}
	held, err := os.ReadDir(storeIn(data))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(held) == 0:
		return nil
	case err != nil:
		return fmt.Errorf("data directory: %w", err)
	}
	return &LostKeyError{Key: key, Store: storeIn(data), Data: data}
}

// closeToOthers makes a directory that only this user can look into, whatever
// is above it: it holds what private feeds say.
func closeToOthers(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return &OpenStoreError{Path: dir, Err: err}
	}
	return nil
}
