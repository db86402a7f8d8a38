package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
)

func (a *commands) historyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "Look after the history of a running peer",
		Long:    "history looks after what a running peer stored, and the index by which queries find entries there.",
		Example: `  feedring history rebuild`,
		Args:    command.OneOf("rebuild"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.historyRebuildCommand())
	return cmd
}

func (a *commands) historyRebuildCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Build the index of the history anew",
		Long: "rebuild has a running peer throw the index of its history away and build it anew from the entries that it\n" +
			"stores, tells on stderr how far it came, and ends when that is done. Meanwhile queries are answered as ever, but\n" +
			"take longer. It is never needed: a peer that finds its index damaged does the same by itself. It is for who\n" +
			"has doubts.\n\n" +
			"--timeout is for each answer of the peer. Interrupting the command does not interrupt the peer, and a peer that\n" +
			"ends meanwhile goes on when it is started again.",
		Example: `  feedring history rebuild
  feedring history rebuild --api https://news.example --token-file token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Failed(a.rebuildHistory(cmd.Context(), &f))
		},
	}
	f.Register(cmd.Flags())
	return cmd
}

const (
	lookAtHistory = 200 * time.Millisecond
	tellOfHistory = 2 * time.Second
)

func (a *commands) rebuildHistory(ctx context.Context, f *command.PeerFlags) error {
	peer, err := a.Running(f)
	if err != nil {
		return err
	}
	defer peer.Close()
	ask := func(how func(context.Context) (api.History, error)) (api.History, error) {
		ctx, cancel := f.Within(ctx)
		defer cancel()
		return how(ctx)
	}
	h, err := ask(peer.RebuildHistory)
	begun := err == nil
	look := time.NewTicker(lookAtHistory)
	defer look.Stop()
	for told := time.Now(); err == nil && !h.Whole; h, err = ask(peer.History) {
		if time.Since(told) >= tellOfHistory {
			told = time.Now()
			fmt.Fprintf(a.Stderr, "feedring: %d of %d entries are in the index\n", h.Indexed, max(h.Entries, h.Indexed))
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("not waited for: the peer goes on to build the index: %w", ctx.Err())
		}
	}
	if begun && errors.Is(err, api.ErrGone) {
		err = errors.New("the peer ended while it built the index: started again it goes on by itself, and there is nothing else to do")
	}
	if err != nil {
		return err
	}
	return a.Confirm(f.JSON, map[string]any{"rebuilt": true, "indexed": h.Indexed}, fmt.Sprintf("built the index of the history anew: entries in it: %d", h.Indexed))
}
