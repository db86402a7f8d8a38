package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
)

func (a *app) statusCommand() *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show one running peer: roles, feeds, peers, clients, store",
		Example: `  feedring status
  feedring status --api http://127.0.0.1:7378 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return failed(a.status(cmd.Context(), &f)) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (a *app) status(ctx context.Context, f *apiFlags) error {
	ctx, cancel := f.within(ctx)
	defer cancel()
	peer, err := a.running(f)
	if err != nil {
		return err
	}
	defer peer.Close()
	state, err := peer.Status(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return a.printRaw(state)
	}
	return a.printStatus(state)
}

// printRaw prints what a peer told as it is, on one line.
func (a *app) printRaw(raw json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("the peer's answer cannot be read: %w", err)
	}
	_, err := fmt.Fprintln(a.stdout, line.String())
	return err
}

// printStatus shows whatever the peer tells: plain values as a list, lists of
// objects as tables. So a newer peer's fields show too. Of feeds it shows what a
// person looks for; the rest is for --json.
func (a *app) printStatus(raw json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var state map[string]any
	if err := decoder.Decode(&state); err != nil {
		return fmt.Errorf("the peer's answer cannot be read: %w", err)
	}
	plain := grid{head: []string{"WHAT", "VALUE"}, whole: true}
	var tables []string
	for _, name := range sortedKeys(state) {
		if _, ok := rowsOf(state[name]); ok {
			tables = append(tables, name)
			continue
		}
		plain.add(printable(name), show(state[name]))
	}
	if err := plain.print(a.stdout); err != nil {
		return err
	}
	for _, name := range tables {
		rows, _ := rowsOf(state[name])
		fmt.Fprintf(a.stdout, "\n%s\n", strings.ToUpper(printable(name)))
		table := tableOf(rows)
		if name == "feeds" {
			table = a.feedTable(rows)
		}
		if err := table.print(a.stdout); err != nil {
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
func (a *app) feedTable(rows []map[string]any) *grid {
	g := &grid{head: []string{"THEME", "ENTRIES", "LAST LOOK", "FEED", "WRONG", "READERS", "SERVED AT"}, stack: []int{3, 4, 6}}
	for _, row := range rows {
		looked := "-"
		if text, ok := row["last_fetch"].(string); ok {
			at, err := time.Parse(time.RFC3339, text)
			looked = a.looks(at, "", false, number(row["turn"]), number(row["turns"]))
			if err != nil {
				looked = printable(text)
			}
		}
		if by, _ := row["looked_at_by"].(string); row["rests"] == true {
			looked = a.looks(time.Time{}, by, true, 0, 0)
		}
		theme := "(private)"
		if row["theme"] != nil {
			theme = show(row["theme"])
		}
		g.add(theme, show(row["entries"]), looked, show(row["url"]), show(row["error"]),
			show(row["readers"]), show(row["front"]))
	}
	return g
}

// offersOf are the peers of the feeds' sites.
func (a *app) offersOf(rows []map[string]any) (offers []string) {
	for _, row := range rows {
		var j api.Joinable
		j.Join, _ = row["join"].(string)
		j.SitePeer, _ = row["site_peer"].(string)
		offers = append(offers, omitted(show(row["url"]), number(row["taken"]), number(row["document_entries"])), a.offer(show(row["url"]), j))
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

func tableOf(rows []map[string]any) *grid {
	columns := map[string]any{}
	for _, row := range rows {
		for name := range row {
			columns[name] = nil
		}
	}
	names := sortedKeys(columns)
	g := &grid{whole: true}
	for _, name := range names {
		g.head = append(g.head, strings.ToUpper(printable(name)))
	}
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = show(row[name])
		}
		g.add(cells...)
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

// show writes a JSON value for a person.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = show(item)
		}
		return or(strings.Join(items, " "), "-")
	case map[string]any:
		var parts []string
		for _, name := range sortedKeys(v) {
			parts = append(parts, printable(name)+"="+show(v[name]))
		}
		return or(strings.Join(parts, " "), "-")
	default:
		return or(printable(fmt.Sprint(v)), "-")
	}
}
