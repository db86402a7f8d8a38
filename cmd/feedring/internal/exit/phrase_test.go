package exit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/origin/files"
	"github.com/feedring/feedring/node"
)

// TestErrorsBelowAreGivenAdviceHere: what is wrong comes from below, and what to do
// about it is said once, behind it.
func TestErrorsBelowAreGivenAdviceHere(t *testing.T) {
	for _, test := range []struct {
		err  error
		says string
	}{
		{&identity.Error{Path: "d/key", Problem: identity.NoFile}, "d/key is not a file: move it away, and put the key's file there from a copy"},
		{&identity.Error{Path: "d/key", Problem: identity.OpenToOthers, Mode: 0o640}, "others can read d/key (mode 0640): run chmod 600 d/key"},
		{&identity.Error{Path: "d/key", Problem: identity.Unreadable, Err: errors.New("denied")}, "denied: make it readable"},
		{&identity.Error{Path: "d/key", Problem: identity.Damaged}, "d/key is damaged: restore it from a copy"},
		{fmt.Errorf("opening d: %w", node.ErrStoreInUse), "stop the other peer there"},
		{fmt.Errorf("opening d: %w", node.ErrStoreNewer), "use the version that wrote it"},
		{fmt.Errorf("opening d: %w", node.ErrStoreDamaged), "restore it from a copy"},
		{fmt.Errorf("opening d: %w", node.ErrStoreFull), "make room on its disk"},
		{&feedring.SettingError{Setting: "fleet-key", Value: "f.key", Err: fleetkey.ErrMissing}, "--fleet-key \"f.key\": there is no such file: make a key with \"feedring fleet new FILE\", or copy that of the fleet's other machines"},
		{&feedring.SettingError{Setting: "fleet-key", Value: "f.key", Err: fleetkey.ErrNoKey}, "--fleet-key \"f.key\": it holds no key of a fleet: copy that of the fleet's other machines, or make the key of a new fleet with \"feedring fleet new FILE\""},
		{&feedring.SettingError{Setting: "fleet-key", Value: "f.key", Err: fleetkey.ErrUnreadable}, "cannot be read: make it readable for the user who runs feedring"},
		{&feedring.SettingError{Setting: "interests", Value: 7, Err: node.ErrNoFleet}, "--interests 7: the peer is in no fleet: name the key of its fleet with --fleet-key"},
		{charter.ErrManyRemovals, "those that were restored or ended count, too: sign with a root key (--root), have another moderator sign, or make another network and move to it"},
		{&node.StateError{Err: errors.New("no JSON")}, "no JSON: restore the data directory from a copy"},
		{&files.NoFileError{Path: "/d", Folder: true}, "/d is a folder: name the feed's file in it"},
		{&files.NoFileError{Path: "/dev/tty"}, "/dev/tty is no regular file: name one that holds the feed"},
	} {
		var out strings.Builder
		Report(&out, plain{}, test.err)
		if !strings.Contains(out.String(), test.says) {
			t.Errorf("%v: %s", test.err, out.String())
		}
	}
}

// Whoever asks a peer of another network from the command line is told the flag, not the field
// that a Go program sets.
func TestAnotherNetworkIsAFlag(t *testing.T) {
	foreign := fmt.Errorf("%w: 12D3A (info: %w)", client.ErrNoPeer, &host.ForeignError{Speaks: "demo", Own: "main"})
	var out strings.Builder
	Report(&out, plain{}, Failed(&client.NetworkError{Network: "demo", Err: foreign}))
	if got := out.String(); strings.Contains(got, "client.Config") || !strings.HasSuffix(got, `not "main"): add --network demo`+"\n") {
		t.Error(got)
	}
}

// plain leaves the commands that a text names as they are.
type plain struct{}

func (plain) WithFlags(text string) string { return text }
