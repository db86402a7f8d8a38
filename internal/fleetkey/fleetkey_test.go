package fleetkey

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func load(t testing.TB, file, network string) *Key {
	t.Helper()
	k, err := Load(file, network)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func peerID(t testing.TB) feedring.PeerID {
	t.Helper()
	private, err := identity.New()
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSealer(private, "main")
	if err != nil {
		t.Fatal(err)
	}
	return s.ID()
}

func TestAKeyFileIsPrivateAndNeverReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fleet.key")
	theme, err := New(file)
	if err != nil || !theme.IsFleet() {
		t.Fatalf("%q, %v", theme, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	before, _ := os.ReadFile(file)
	if _, err := New(file); !errors.Is(err, ErrExists) {
		t.Errorf("made again: %v", err)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("the key was replaced")
	}
	if k := load(t, file, "main"); k.Theme != theme {
		t.Errorf("theme %q, was %q", k.Theme, theme)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, "main"); !errors.Is(err, ErrOpen) {
		t.Errorf("others may read it: %v", err)
	}
	if err := errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, before[:len(before)-1], 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{before[:len(before)-1], nil, []byte("no key"), append(append([]byte(nil), before[:20]...), make([]byte, len(before)-20)...)} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, "main"); !errors.Is(err, ErrNoKey) {
			t.Errorf("damaged: %v", err)
		}
	}
	if _, err := Load(file+".not", "main"); !errors.Is(err, ErrMissing) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(filepath.Join(file, "x"), "main"); !errors.Is(err, ErrUnreadable) {
		t.Errorf("below a file: %v", err)
	}
	if _, err := New(filepath.Join(file, "x")); err == nil {
		t.Error("made below a file")
	}
}

// A credential is for one peer, of one fleet, on one network, for a time.
func TestACredentialIsForOnePeerOfOneFleet(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if _, err := New(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	a, b, elsewhere := load(t, filepath.Join(dir, "a"), "main"), load(t, filepath.Join(dir, "b"), "main"), load(t, filepath.Join(dir, "a"), "other")
	now, one, two := time.Unix(1e9, 0), peerID(t), peerID(t)
	of := func(k *Key, p feedring.PeerID) []byte {
		credential, err := k.Credential(p, now)
		if err != nil || len(credential) > MaxCredential {
			t.Fatal(len(credential), err)
		}
		return credential
	}
	if until, err := a.Check(one, of(a, one), now); err != nil || until.Before(now.Add(399*24*time.Hour)) {
		t.Errorf("until %v, %v", until, err)
	}
	wrong := of(a, one)
	wrong[len(wrong)-1]++
	for name, c := range map[string]struct {
		credential []byte
		at         time.Time
	}{
		"of another peer":    {of(a, two), now},
		"of another fleet":   {of(b, one), now},
		"of another network": {of(elsewhere, one), now},
		"damaged":            {wrong, now},
		"none":               {nil, now},
		"too long":           {make([]byte, MaxCredential+1), now},
		"expired":            {of(a, one), now.Add(401 * 24 * time.Hour)},
		"of the future":      {of(a, one), now.Add(-3 * time.Hour)},
	} {
		if _, err := a.Check(one, c.credential, c.at); !errors.Is(err, ErrCredential) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Check(one, of(a, one), now.Add(-90*time.Minute)); err != nil {
		t.Errorf("from a clock that is an hour and a half behind: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	file := filepath.Join(f.TempDir(), "key")
	if _, err := New(file); err != nil {
		f.Fatal(err)
	}
	k, now, one := load(f, file, "main"), time.Unix(1e9, 0), peerID(f)
	good, err := k.Credential(one, now)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	statement := func(credential []byte) *feedring.Seal {
		var sealed feedringv1.Sealed
		_ = proto.Unmarshal(credential, &sealed) // else it holds nothing
		return wire.SealFrom(&sealed)
	}
	signed := statement(good)
	f.Fuzz(func(t *testing.T, credential []byte) {
		if _, err := k.Check(one, credential, now); err != nil {
			return
		}
		if s := statement(credential); !bytes.Equal(s.Payload, signed.Payload) || !bytes.Equal(s.Signature, signed.Signature) {
			t.Fatalf("what the fleet never signed is valid: %x", credential)
		}
	})
}
