package command

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// PeerFlags name a running peer, for commands that only it can answer.
type PeerFlags struct {
	URL     string
	Timeout options.Duration
	JSON    bool
	Instead string // the flags that name whom to ask

	tokenFile string
}

// Register adds the flags to a command's.
func (f *PeerFlags) Register(flags *pflag.FlagSet) {
	f.Timeout, f.Instead = options.Duration(10*time.Second), "--api"
	flags.StringVar(&f.URL, "api", "", "ask the running peer at this web address (default: the socket in --data)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the API token of that peer (default: token in --data, for addresses of this machine)")
	flags.Var(options.Timeout{Duration: &f.Timeout}, "timeout", "give up after this time")
	flags.BoolVar(&f.JSON, "json", false, "print JSON, one object a line")
}

// Running opens the API of a running peer. The token in --data goes to
// addresses of this machine only: elsewhere it would be given away.
func (e *Env) Running(f *PeerFlags) (*api.Client, error) {
	if f.URL != "" {
		tokenFile, guessed := f.tokenFile, false
		if own := filepath.Join(e.Data, "token"); tokenFile == "" && readable(own) && ofThisMachine(f.URL) {
			tokenFile, guessed = own, true
		}
		c, err := api.New(api.Config{URL: f.URL, TokenFile: tokenFile, Guessed: guessed})
		if err != nil {
			return nil, exit.Usage("%w", err)
		}
		if !guessed {
			e.warnOfOpenToken(tokenFile)
		}
		return c, nil
	}
	return api.New(api.Config{Socket: filepath.Join(e.Data, "feedring.sock"), Instead: f.Instead})
}

// warnOfOpenToken says that other users can read a token file, which is a key.
func (e *Env) warnOfOpenToken(path string) {
	if is, err := os.Stat(path); err == nil && is.Mode().IsRegular() && is.Mode()&0o077 != 0 && runtime.GOOS != "windows" {
		fmt.Fprintf(e.Stderr, "feedring: warning: others can read %s, which is a key (mode %#o): run chmod 600 %s\n",
			show.Printable(path), is.Mode().Perm(), show.ShellWord(path))
	}
}

// PeerRuns reports whether a peer answers at the socket in --data.
func (e *Env) PeerRuns() bool {
	c, err := net.DialTimeout("unix", filepath.Join(e.Data, "feedring.sock"), time.Second)
	return err == nil && c.Close() == nil
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// ofThisMachine reports whether an address is a loopback one.
func ofThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// Within is the deadline of one question.
func (f *PeerFlags) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(f.Timeout))
}

// WithPeer runs do with the API of the running peer.
func (e *Env) WithPeer(ctx context.Context, f *PeerFlags, do func(context.Context, *api.Client) error) error {
	ctx, cancel := f.Within(ctx)
	defer cancel()
	peer, err := e.Running(f)
	if err != nil {
		return err
	}
	defer peer.Close()
	return do(ctx, peer)
}
