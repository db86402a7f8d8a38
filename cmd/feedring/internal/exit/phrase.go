package exit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/origin/files"
	"github.com/feedring/feedring/internal/wire/charters"
	"github.com/feedring/feedring/node"
)

// phrase is an error in words for people: what is wrong, by the flag that it
// came from, and what to do.
func phrase(err error) string {
	text := err.Error()
	var setting *feedring.SettingError
	if errors.As(err, &setting) {
		text = strings.Replace(text, setting.Error(), phraseSetting(setting), 1)
	}
	var network *client.NetworkError // adviceFor has the flag
	if errors.As(err, &network) {
		text = strings.Replace(text, network.Error(), network.Err.Error(), 1)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		text = strings.ReplaceAll(text, context.DeadlineExceeded.Error(), "no answer in time: try again, or give more with --timeout")
	}
	for _, known := range advice {
		if errors.Is(err, known.err) {
			return text + known.text
		}
	}
	return text + adviceFor(err)
}

// phraseSetting names a setting by its flag. A range becomes a choice.
func phraseSetting(e *feedring.SettingError) string {
	if e.Err != nil {
		return "--" + e.Error()
	}
	return fmt.Sprintf("--%s %s: choose between %s and %s", e.Setting, value(e.Value), value(e.Min), value(e.Max))
}

func value(v any) string {
	if d, ok := v.(time.Duration); ok {
		return show.Duration(d)
	}
	return fmt.Sprint(v)
}

// advice says what to do about errors that have no data of their own.
var advice = []struct {
	err  error
	text string
}{
	{host.ErrPortTaken, ": stop it, or choose another port with --listen"},
	{host.ErrPortDenied, ": choose one above 1023"},
	{addr.ErrNoPeerID, ", as the command status prints it there"},
	{node.ErrFormer, ": remove the folder \"former\" in --data, or move it elsewhere, and try again"},
	{node.ErrNoData, ": name a directory"},
	{node.ErrNetworkName, ": choose another"},
	{node.ErrStoreInUse, ": stop the other peer there, or choose another data directory"},
	{node.ErrStoreNewer, ": use the version that wrote it"},
	{node.ErrStoreDamaged, ": restore it from a copy, or move it away to begin anew"},
	{node.ErrNoFleet, ": name the key of its fleet with --fleet-key, or leave --interests away"},
	{fleetkey.ErrMissing, ": make a key with \"feedring fleet new FILE\", or copy that of the fleet's other machines"},
	{fleetkey.ErrNoKey, ": copy that of the fleet's other machines, or make the key of a new fleet with \"feedring fleet new FILE\""},
	{fleetkey.ErrUnreadable, ": make it readable for the user who runs feedring"},
	{membership.ErrMayNotAdmit, ": ask an admin, or sign with a root key (--root)"},
	{membership.ErrMayNotExpel, ": ask an admin, or sign with a root key (--root)"},
	{membership.ErrMayNotModerate, ": ask a moderator, or sign with a root key (--root)"},
	{charter.ErrRootRemoved, ": sign with one (--root)"},
	{charter.ErrRemoved, ": \"feedring network log\" says by whom"},
	{charter.ErrNotRemoved, ": \"feedring network log\" lists what is removed"},
	{charter.ErrManyRemovals, ": a moderator has 1,000, and all have 4,000 together, and those that were restored or ended count, too: sign with a root key (--root), have another moderator sign, or make another network and move to it (\"feedring network move\")"},
	{membership.ErrExpelled, ": give it with --root"},
	{membership.ErrNoRoot, ": name one of the two files that the command network create made"},
	{membership.ErrRootFile, ": name one of the two files that the command network create made, where it is kept now"},
	{membership.ErrOnlyAdmin, ": make another one first (\"feedring network admin KEY --root FILE\"), or sign with a root key (--root), which admits it anew"},
	{membership.ErrRoot, ": make another network if it is lost to somebody else"},
	{membership.ErrNoMember, ": \"feedring network members\" lists those there are"},
	{charters.ErrCode, ": copy the whole line that the command network invite printed at the other peer"},
	{node.ErrStoreFull, ": make room on its disk"},
	{client.ErrRelay, ": name another peer with --via; without --via peers that answer see this machine's address"},
	{client.ErrViaCharter, ": leave --via out"},
}

// adviceForKey says what to do about the file of the identity key.
func adviceForKey(e *identity.Error) string {
	switch e.Problem {
	case identity.NoFile:
		return ": move it away, and put the key's file there from a copy; with neither there the next start makes a new peer"
	case identity.OpenToOthers:
		return ": run chmod 600 " + e.Path
	case identity.Unreadable:
		return ": make it readable for the user who runs feedring"
	case identity.Damaged:
		return ": restore it from a copy, or move it away to start as a new peer"
	}
	return ""
}

// adviceForRefused says what to do for who is not served on a network with a charter.
func adviceForRefused(e *membership.RefusedError) string {
	switch e.Reason {
	case membership.NoCredential:
		return ": ask a member for an invitation, and run \"feedring network join CODE\" with the same --data"
	case membership.Expelled:
		return ": ask an admin of the network"
	case membership.CodeOfOtherSite:
		return ": have the site name it (\"feedring vouch\"), and try again"
	case membership.OtherUnproven, membership.OtherExpelled:
		return ": ask another peer of the network, with --peer"
	}
	return ": ask for another one"
}

// adviceFor says what to do about errors that have data, and about peers that
// could not be asked.
func adviceFor(err error) string {
	var (
		foreign *host.ForeignError
		nobody  *membership.NobodyError
		other   *membership.OtherError
		keep    *node.KeepError
		path    *node.LongPathError
		place   *node.NoDirectoryError
		token   *node.TokenError
		key     *node.LostKeyError
		open    *node.OpenStoreError
		setting *feedring.SettingError
		own     *identity.Error
		file    *files.NoFileError
	)
	refused, isRefused := membership.IsRefused(err)
	switch {
	case isRefused:
		return adviceForRefused(refused)
	case errors.As(err, &nobody):
		return ": see that it runs and that this machine reaches it, and try again while the code is valid"
	case errors.As(err, &other) && other.Network == "":
		return ": \"feedring network move CODE\" takes its feeds and settings along; or name another directory with --data"
	case errors.As(err, &other):
		return ": name another directory with --data"
	case errors.As(err, &foreign) && charter.Names(foreign.Speaks):
		return ": add --network " + foreign.Speaks + "; if that network is closed, it wants a credential: ask a member for an invitation, and run \"feedring network join CODE\""
	case errors.As(err, &own):
		return adviceForKey(own)
	case errors.As(err, &file) && file.Folder:
		return ": name the feed's file in it"
	case errors.As(err, &file):
		return ": name one that holds the feed"
	case errors.As(err, new(*node.StateError)):
		return ": restore the data directory from a copy"
	case errors.Is(err, client.ErrNoPeer) && errors.As(err, &foreign) && foreign.Speaks != "":
		return ": add --network " + foreign.Speaks
	case errors.Is(err, client.ErrNoPeer):
		return ": check that one of them runs, its address, and --network"
	case errors.As(err, &keep):
		return fmt.Sprintf(" (--freshness %s): entries are kept while they are fresh; choose more, or leave --keep away", show.Duration(keep.Freshness))
	case errors.As(err, new(*feedring.CredentialsError)):
		return ": add it without them, and where the site wants them have a program of yours fetch the feed into a file, and name that with --file"
	case errors.As(err, &path):
		return ": choose a shorter --data"
	case errors.As(err, &place):
		return ": move it away, or name another data directory"
	case errors.As(err, &token) && token.Open:
		return ": remove it, and the next start makes a new one; or, where nobody read it, chmod 600 " + token.Path
	case errors.As(err, &token):
		return ": remove it, and the next start makes a new one"
	case errors.As(err, &key):
		return ": restore the key from a copy, or move " + key.Data + " away to begin as a new peer"
	case errors.As(err, &open):
		return ": run chmod 700 " + open.Path
	case errors.As(err, &setting) && setting.Setting == "http":
		return ": choose another address, port 0 or off"
	case errors.As(err, &setting) && setting.Setting == "budget":
		return ", or a fixed --interval for origins that you know"
	}
	return ""
}
