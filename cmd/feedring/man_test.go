package main

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestManualPage(t *testing.T) {
	root := &cobra.Command{Use: "feedring", Short: "a peer"}
	root.PersistentFlags().String("data", "home", "directory")
	ask := &cobra.Command{
		Use: "ask [WORDS]", Short: "Ask", Long: "Ask for what is there.\n\n.dots and 'quotes' and C:\\d begin lines:\n'here", Example: "  feedring ask --limit 3",
		Run: func(*cobra.Command, []string) {},
	}
	ask.Flags().IntP("limit", "n", 50, "at most so many")
	ask.Flags().Bool("json", false, "JSON")
	ask.Flags().Bool("secret", false, "nobody's business")
	_ = ask.Flags().MarkHidden("secret")
	root.AddCommand(ask)
	page := manualPage(ask, time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		".TH \"FEEDRING-ASK\" \"1\" \"Nov 2026\"", ".SH NAME\nfeedring\\-ask \\- Ask\n", ".SH SYNOPSIS\n\\fBfeedring ask [WORDS] [flags]\\fP\n",
		"what is there.\n.PP\n\\&.dots and 'quotes' and C:\\ed begin lines:\n\\&'here\n",
		".TP\n\\fB\\-n\\fP, \\fB\\-\\-limit\\fP=50\nat most so many\n", "\\fB\\-\\-json\\fP[=false]\n",
		".SH OPTIONS INHERITED FROM PARENT COMMANDS\n.TP\n\\fB\\-\\-data\\fP=\"home\"\n", ".EX\n  feedring ask \\-\\-limit 3\n.EE\n", ".SH SEE ALSO\n\\fBfeedring(1)\\fP\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if strings.Contains(page, "secret") {
		t.Error("a hidden flag is told")
	}
	if page := manualPage(root, time.Now()); !strings.Contains(page, "\\fBfeedring\\-ask(1)\\fP") {
		t.Errorf("the command below is not named in\n%s", page)
	}
}
