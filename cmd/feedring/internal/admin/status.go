package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

func (a *commands) statusCommand() *cobra.Command {
	var f command.PeerFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show one running peer: roles, feeds, peers, clients, store",
		Example: `  feedring status
  feedring status --api http://127.0.0.1:7378 --json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return exit.Failed(a.status(cmd.Context(), &f)) },
	}
	f.Register(cmd.Flags())
	return cmd
}

func (a *commands) status(ctx context.Context, f *command.PeerFlags) error {
	ctx, cancel := f.Within(ctx)
	defer cancel()
	peer, err := a.Running(f)
	if err != nil {
		return err
	}
	defer peer.Close()
	state, err := peer.Status(ctx)
	if err != nil {
		return err
	}
	if f.JSON {
		return show.Raw(a.Stdout, state)
	}
	return a.printStatus(state)
}

// printStatus shows whatever the peer tells: plain values as a list, lists of
// objects as tables. So a newer peer's fields show too. Of feeds it shows what a
// person looks for; the rest is for --json.
func (a *commands) printStatus(raw json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var state map[string]any
	if err := decoder.Decode(&state); err != nil {
		return fmt.Errorf("the peer's answer cannot be read: %w", err)
	}
	plain := show.Table{Head: []string{"FIELD", "VALUE"}, Whole: true}
	var tables []string
	for _, name := range sortedKeys(state) {
		if _, ok := rowsOf(state[name]); ok {
			tables = append(tables, name)
			continue
		}
		plain.Add(show.Printable(name), asText(state[name]))
	}
	if err := plain.Print(a.Stdout); err != nil {
		return err
	}
	for _, name := range tables {
		rows, _ := rowsOf(state[name])
		fmt.Fprintf(a.Stdout, "\n%s\n", strings.ToUpper(show.Printable(name)))
		table := tableOf(rows)
		if name == "feeds" {
			table = a.feedTable(rows)
		}
		if err := table.Print(a.Stdout); err != nil {
			return err
		}
		if name == "feeds" {
			if err := a.printOffers(a.offersOf(rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf returns v if it is a list of objects.
func rowsOf(v any) (rows []map[string]any, ok bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, false
	}
	for _, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		rows = append(rows, object)
	}
	return rows, true
}

// feedTable is the peer's feeds, whatever went wrong below each.
func (a *commands) feedTable(rows []map[string]any) *show.Table {
	g := &show.Table{Head: []string{"THEME", "ENTRIES", "LAST FETCH", "FEED", "ERROR", "READERS", "SERVED AT"}, Stack: []int{3, 4, 6}}
	for _, row := range rows {
		fetched := "-"
		if text, ok := row["last_fetch"].(string); ok {
			at, err := time.Parse(time.RFC3339, text)
			fetched = a.lastFetch(at, "", false, number(row["turn"]), number(row["turns"]))
			if err != nil {
				fetched = show.Printable(text)
			}
		}
		if by, _ := row["looked_at_by"].(string); row["rests"] == true {
			fetched = a.lastFetch(time.Time{}, by, true, 0, 0)
		}
		theme := "(private)"
		if row["theme"] != nil {
			theme = asText(row["theme"])
		}
		g.Add(theme, asText(row["entries"]), fetched, asText(row["url"]), asText(row["error"]),
			asText(row["readers"]), asText(row["front"]))
	}
	return g
}

// offersOf are the peers of the feeds' sites.
func (a *commands) offersOf(rows []map[string]any) (offers []string) {
	for _, row := range rows {
		var j api.Joinable
		j.Join, _ = row["join"].(string)
		j.SitePeer, _ = row["site_peer"].(string)
		offers = append(offers, omittedLine(asText(row["url"]), number(row["taken"]), number(row["document_entries"])), a.joinOffer(asText(row["url"]), j))
	}
	return offers
}

// number reads what the peer tells as a small number; 0: it is none.
func number(v any) int {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil {
		return 0
	}
	return n
}

func tableOf(rows []map[string]any) *show.Table {
	columns := map[string]any{}
	for _, row := range rows {
		for name := range row {
			columns[name] = nil
		}
	}
	names := sortedKeys(columns)
	g := &show.Table{Whole: true}
	for _, name := range names {
		g.Head = append(g.Head, strings.ToUpper(show.Printable(name)))
	}
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = asText(row[name])
		}
		g.Add(cells...)
	}
	return g
}

func sortedKeys(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// asText writes a JSON value for a person.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = asText(item)
		}
		return cmp.Or(strings.Join(items, " "), "-")
	case map[string]any:
		var parts []string
		for _, name := range sortedKeys(v) {
			parts = append(parts, show.Printable(name)+"="+asText(v[name]))
		}
		return cmp.Or(strings.Join(parts, " "), "-")
	default:
		return cmp.Or(show.Printable(fmt.Sprint(v)), "-")
	}
}
