package identity

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestIdentityIsCreatedOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %04o, want 0600", info.Mode().Perm())
	}
	second, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Equals(second) {
		t.Error("another identity after a restart")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, File+".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBadIdentityIsRefusedAndKept(t *testing.T) {
	good := t.TempDir()
	if _, err := Load(good); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(good, File))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(raw)
	flipped[6] ^= 1 // in the private half
	swapped := bytes.Clone(raw)
	swapped[len(swapped)-1] ^= 1 // in the public half
	for _, c := range []struct {
		name    string
		content []byte
		mode    os.FileMode
		says    string
	}{
		{"empty", nil, 0o600, "damaged"},
		{"garbage", []byte("hello"), 0o600, "damaged"},
		{"half", raw[:len(raw)/2], 0o600, "damaged"},
		{"flipped bit", flipped, 0o600, "damaged"},
		{"another public key", swapped, 0o600, "damaged"},
		{"huge", make([]byte, 1<<20), 0o600, "damaged"},
		{"for the group", raw, 0o640, "others can read"},
		{"for everybody", raw, 0o644, "others can read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := Load(dir)
			if !errors.Is(err, ErrBad) {
				t.Fatalf("got %v", err)
			}
			for _, want := range []string{c.says, path} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, c.content) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestUnreadableIdentity(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, File), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.Is(err, ErrBad) {
		t.Errorf("a directory in its place: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), nil, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.Is(err, ErrBad) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestIdentityRace(t *testing.T) {
	dir := t.TempDir()
	ids := make(chan string)
	const n = 8
	for range n {
		go func() {
			key, err := Load(dir)
			if err != nil {
				ids <- err.Error()
				return
			}
			id, _ := peer.IDFromPrivateKey(key)
			ids <- id.String()
		}()
	}
	first := <-ids
	for range n - 1 {
		if other := <-ids; other != first {
			t.Errorf("%s and %s", first, other)
		}
	}
}

func FuzzDecodeIdentity(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x08\x01\x12\x40aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if key, err := decodeIdentity(raw, "x"); err == nil {
			if _, err := peer.IDFromPrivateKey(key); err != nil {
				t.Error(err)
			}
		}
	})
}
