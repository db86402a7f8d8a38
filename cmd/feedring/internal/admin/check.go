package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/check"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/options"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/node"
	"github.com/spf13/cobra"
)

func (a *commands) checkCommand() *cobra.Command {
	timeout := options.Duration(30 * time.Second)
	var private, asJSON bool
	cmd := &cobra.Command{
		Use:   "check URL",
		Short: "Grade a feed's address for its publisher",
		Long: "check asks for a feed twice, as a reader does, and says what is well and what is not: validators and whether they\n" +
			"are honoured, compression, max-age, hub and self links, content type and encoding, and what the document holds.\n" +
			"Each line that is not ok says what to do; the grade goes from A to F. No running peer is needed.\n\n" +
			"It exits with 0 whatever the grade is, with 1 where nothing could be fetched or it is no feed.",
		Example: `  feedring check https://www.lemonde.fr/rss/une.xml
  feedring check --json https://news.example/feed.xml | jq -r 'select(.level=="fail").advice'`,
		Args: command.OneURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := feedring.ParseFeedURL(args[0])
			if err != nil {
				return exit.Usage("%w", err)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Duration(timeout))
			defer cancel()
			client, err := safehttp.New(safehttp.Config{AllowPrivate: private, UserAgent: checkAgent()})
			if err != nil {
				return exit.Failed(err)
			}
			defer client.CloseIdle()
			report, err := gradeFeed(ctx, client, address, a.Now())
			if errors.Is(err, safehttp.ErrPrivate) { // its text names the setting of serve
				err = fmt.Errorf("it is at a loopback or private address, or leads there: to check it all the same, use feedring check --allow-private-feeds %s", show.ShellWord(address))
			}
			if err != nil {
				return exit.Failed(fmt.Errorf("%s: %w", address, err))
			}
			return a.printReport(report, asJSON)
		},
	}
	cmd.Flags().Var(options.Timeout{Duration: &timeout}, "timeout", "give up after this time")
	cmd.Flags().BoolVar(&private, "allow-private-feeds", false, "let the address be a loopback or private one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object a line")
	return cmd
}

// checkAgent differs from a peer's name: a site may treat its own peer better than
// other readers.
func checkAgent() string {
	return strings.Replace(fetch.UserAgent(node.Version, "", 0), "feedring/", "feedring-check/", 1)
}

// gradeFeed asks for a feed, and again with the validators that came.
func gradeFeed(ctx context.Context, client *safehttp.Client, address string, now time.Time) (*check.Report, error) {
	seen := &check.Seen{URL: address, Now: now}
	resp, first, err := ask(ctx, client, address, nil)
	if err != nil {
		return nil, err
	}
	if first.Status != http.StatusOK {
		return nil, refusedBy(resp, now)
	}
	seen.First, seen.Location, seen.Hops = first, resp.Request.URL.String(), hopsTo(resp)
	conditions := make(http.Header)
	for validator, condition := range map[string]string{"Etag": "If-None-Match", "Last-Modified": "If-Modified-Since"} {
		if value := first.Header.Get(validator); value != "" {
			conditions.Set(condition, value)
		}
	}
	if _, seen.Again, err = ask(ctx, client, seen.Location, conditions); err != nil {
		return nil, fmt.Errorf("the first request was answered, the second was not: %w", err)
	}
	report, err := check.Judge(seen)
	var refused *failure.Error
	if errors.As(err, &refused) && refused.Kind == failure.KindNotAFeed {
		return nil, fmt.Errorf("%w: name the feed itself; its page often links to it as \"RSS\"", err)
	}
	return report, err
}

// refusedBy is the error for an answer that is not 200.
func refusedBy(resp *http.Response, now time.Time) error {
	wait := fetch.ReadHints(resp.Header, now).RetryAfter
	told := fmt.Sprintf("until %s, for %s more", now.Add(wait).UTC().Format(time.RFC3339), wait)
	switch asked := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable; {
	case asked && wait > 0:
		return fmt.Errorf("the site asked to wait %s (%s): check again then; if the site is yours, let readers in that come once an hour", told, resp.Status)
	case resp.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("the site asked for fewer requests, and does not say until when (%s): check again in an hour; if the site is yours, let readers in that come once an hour", resp.Status)
	case asked:
		return fmt.Errorf("the site serves nobody now, and does not say until when (%s): check again later, or look into the log of the web server", resp.Status)
	}
	return fmt.Errorf("the answer is %s, and no feed: %s", resp.Status, adviceOnStatus(resp.StatusCode))
}

func adviceOnStatus(status int) string {
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return "look the address up on the site"
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return "readers are programs as this one is: let them in where robots are kept out"
	case status >= http.StatusInternalServerError:
		return "look into the log of the web server"
	}
	return "a feed is answered with 200"
}

// ask makes one request as a reader does.
func ask(ctx context.Context, client *safehttp.Client, address string, conditions http.Header) (*http.Response, check.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, check.Answer{}, err
	}
	for name, values := range conditions {
		req.Header[name] = values
	}
	req.Header.Set("Accept", fetch.Accept)
	req.Header.Set("Accept-Encoding", decode.AcceptEncoding)
	resp, err := client.Do(req)
	if err != nil {
		return nil, check.Answer{}, err
	}
	defer resp.Body.Close()
	answer := check.Answer{Status: resp.StatusCode, Header: resp.Header}
	wire, err := io.ReadAll(io.LimitReader(resp.Body, decode.MaxBody+1))
	if err != nil {
		return nil, answer, err
	}
	answer.Wire = len(wire)
	if len(wire) > 0 {
		answer.Body, err = decode.ReadBody(bytes.NewReader(wire), resp.Header.Get("Content-Encoding"))
	}
	if resp.StatusCode != http.StatusOK {
		err = nil // what comes with an error need not be readable
	}
	return resp, answer, err
}

// hopsTo lists the redirects that led to resp, the first one first.
func hopsTo(resp *http.Response) (hops []check.Hop) {
	for r := resp.Request; r.Response != nil; r = r.Response.Request {
		hop := check.Hop{Status: r.Response.StatusCode, From: r.Response.Request.URL.String(), To: r.URL.String()}
		hops = append([]check.Hop{hop}, hops...)
	}
	return hops
}

func (a *commands) printReport(r *check.Report, asJSON bool) error {
	if asJSON {
		out := show.NewLines(a.Stdout)
		for _, f := range r.Findings {
			out.Print(f)
		}
		out.Print(struct {
			Event    string `json:"event"` // "graded"
			URL      string `json:"url"`
			Location string `json:"location,omitempty"`
			Grade    string `json:"grade"`
			Points   int    `json:"points"`
			Title    string `json:"title,omitempty"`
			Format   string `json:"format"`
			Entries  int    `json:"entries"`
			Bytes    int    `json:"bytes"`
		}{"graded", r.URL, r.Location, r.Grade(), r.Points(), r.Title, r.Format, r.Entries, r.Bytes})
		return out.Err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s (%s, %d of 100 points)\n\n", r.Grade(), show.Printable(r.URL), show.Printable(r.Format), r.Points())
	for _, f := range r.Findings {
		mark := f.Level.String()
		if f.Level == check.Fail {
			mark = "FAIL"
		}
		fmt.Fprintf(&b, "%-4s  %s: %s\n", mark, show.Printable(f.Name), show.Printable(f.Detail))
		if f.Level != check.OK && f.Advice != "" {
			fmt.Fprintf(&b, "      %s\n", show.Printable(f.Advice))
		}
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}
