package node

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/host/identity"
)

func TestLostKeyIsNotReplaced(t *testing.T) {
	cfg := peerConfig(t, "a.example")
	n := startPeer(t, cfg)
	kill(n)
	key := filepath.Join(cfg.Data, identity.File)
	saved, err := os.ReadFile(key)
	check(t, err)
	check(t, os.Remove(key))
	_, err = Start(t.Context(), cfg)
	var lost *LostKeyError
	if !errors.Is(err, identity.ErrBad) || !errors.As(err, &lost) || lost.Key != key || lost.Data != cfg.Data || strings.Contains(err.Error(), "\n") {
		t.Errorf("started without its key: %v", err)
	}
	if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new key was made: %v", err)
	}
	check(t, os.WriteFile(key, saved, 0o600))
	if again := startPeer(t, cfg); again.ID() != n.ID() {
		t.Error("somebody else after the key came back")
	}
}

// TestStoreIsClosedToOthers: a service manager's directory is often 0755, and a
// store that an earlier start left open is closed.
func TestStoreIsClosedToOthers(t *testing.T) {
	for _, test := range []struct {
		mode  fs.FileMode
		warns bool
	}{{0o755, false}, {0o777, true}, {0o775, true}, {0o700, false}} {
		cfg := peerConfig(t, "a.example")
		var said bytes.Buffer
		check(t, os.Chmod(cfg.Data, test.mode))
		check(t, os.Mkdir(storeIn(cfg.Data), 0o755))
		check(t, os.Chmod(storeIn(cfg.Data), 0o755))
		check(t, prepareData(cfg.Data, slog.New(slog.NewTextHandler(&said, nil))))
		for path, want := range map[string]fs.FileMode{storeIn(cfg.Data): 0o700, cfg.Data: test.mode, filepath.Join(cfg.Data, identity.File): 0o600} {
			info, err := os.Stat(path)
			check(t, err)
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
			}
		}
		if warned := strings.Contains(said.String(), "chmod go-w"); warned != test.warns {
			t.Errorf("mode %04o: said %q", test.mode, said.String())
		}
	}
}
