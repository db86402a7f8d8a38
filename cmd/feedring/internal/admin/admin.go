// Package admin holds the commands that look after a running peer and its feeds.
package admin

import (
	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// Commands are the commands that look after a running peer.
func Commands(env *command.Env) (all []*cobra.Command) {
	a := &commands{env}
	for _, cmd := range []*cobra.Command{
		a.feedCommand(), a.opmlCommand(), a.pingCommand(), a.retractCommand(), a.vouchCommand(), a.checkCommand(),
	} {
		all = append(all, command.InGroup(command.Publish, cmd))
	}
	for _, cmd := range []*cobra.Command{a.statusCommand(), a.doctorCommand(), a.joinCommand(), a.historyCommand(), a.blockCommand(), a.unblockCommand(), a.reportCommand()} {
		all = append(all, command.InGroup(command.LookAfter, cmd))
	}
	return all
}

type commands struct{ *command.Env }
