package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestManPage(t *testing.T) {
	parent := &cobra.Command{Use: "feedring"}
	cmd := &cobra.Command{
		Use: "query WORDS", Short: "Ask - now", Long: "First.\n\n.so /etc/passwd\n'quoted \\fB", Example: "  feedring query 'a b'",
		Run: func(*cobra.Command, []string) {},
	}
	cmd.Flags().Int("limit", 10, "at most `N` entries")
	cmd.Flags().Bool("hidden", false, "not shown")
	_ = cmd.Flags().MarkHidden("hidden")
	parent.AddCommand(cmd)
	page := manPage(cmd, "feedring 1")
	for _, want := range []string{
		".TH \"FEEDRING-QUERY\" \"1\" \"\" \"feedring 1\" \"feedring\"\n",
		"\nfeedring\\-query \\- Ask \\- now\n",
		"\nFirst.\n.PP\n\\&.so /etc/passwd\n\\&'quoted \\efB\n",
		".TP\n\\fB\\-\\-limit\\fP \\fIN\\fP\nat most N entries (default 10)\n",
		".SH EXAMPLE\n.nf\n  feedring query 'a b'\n.fi\n",
		".SH SEE ALSO\n\\fBfeedring\\fP(1)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "hidden") {
		t.Error("the page shows a hidden flag")
	}
}
