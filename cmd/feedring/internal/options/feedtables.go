package options

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/files"
	"github.com/pelletier/go-toml/v2"
)

// tablesKey is the key of feeds that are tables of the configuration file.
const tablesKey = "feeds"

// feedTables are the feeds of a configuration file that say more than --feed
// can: a file that is read instead of the address, or how much is shared. They are
// a hidden flag, so that every key of the file is a flag.
type feedTables struct{ specs []feedring.FeedSpec }

// feedTable is one of them as it is written.
type feedTable struct {
	Theme    string `toml:"theme"`
	URL      string `toml:"url"`
	Provider string `toml:"provider,omitempty"`
	File     string `toml:"file,omitempty"`
	Share    string `toml:"share,omitempty"`
}

// Set implements pflag.Value.
func (*feedTables) Set(string) error {
	return errors.New("feeds are tables of the configuration file: write --feed THEME=URL here")
}

// Type implements pflag.Value.
func (*feedTables) Type() string { return "tables" }

// String implements pflag.Value.
func (*feedTables) String() string { return "" }

// parse reads the tables of a file.
func (t *feedTables) parse(value any) error {
	tables, ok := value.([]any)
	if !ok {
		return errors.New("write [[feeds]], with two brackets on either side")
	}
	for i, item := range tables {
		table, ok := item.(map[string]any)
		if !ok {
			return errors.New("write tables: [[feeds]], and below it theme, url, file, share")
		}
		spec, err := specOfTable(table)
		if err != nil {
			return fmt.Errorf("table %d: %w", i+1, err)
		}
		t.specs = append(t.specs, spec)
	}
	return nil
}

func specOfTable(table map[string]any) (spec feedring.FeedSpec, err error) {
	var f feedTable
	fields := map[string]*string{"theme": &f.Theme, "url": &f.URL, "provider": &f.Provider, "file": &f.File, "share": &f.Share}
	for key, value := range table {
		into, known := fields[key]
		text, isText := value.(string)
		switch {
		case !known:
			names := []string{"theme", "url", "provider", "file", "share"}
			near := cmp.Or(feedring.Nearest(key, names), "theme, url, provider, file or share")
			return spec, fmt.Errorf("unknown key %q: did you mean %s?", key, near)
		case !isText:
			return spec, fmt.Errorf("%s: write a text", key)
		}
		*into = text
	}
	if f.Theme == "" || f.URL == "" {
		return spec, errors.New("a feed needs a theme and an url")
	}
	theme, err := feedring.ParseTheme(f.Theme)
	if err != nil {
		return spec, err
	}
	if spec, err = feedring.NewFeedSpec(theme, feedring.Provider(strings.ToLower(f.Provider)), f.URL); err != nil {
		return spec, err
	}
	if spec.Share, err = feedring.ParseShare(f.Share); err != nil {
		return spec, err
	}
	if f.File != "" && !filepath.IsAbs(f.File) {
		return spec, fmt.Errorf("file %q: write an absolute path", f.File)
	}
	spec.File = f.File
	if spec.File == "" {
		return spec, nil
	}
	return spec, files.Check(spec.File)
}

// text writes the tables as parse reads them; empty: there are none.
func (t *feedTables) text() (string, error) {
	if len(t.specs) == 0 {
		return "", nil
	}
	tables := make([]feedTable, len(t.specs))
	for i, s := range t.specs {
		tables[i] = feedTable{Theme: string(s.Theme), URL: s.URL, File: s.File, Share: string(s.Share)}
		if s.Provider != feedring.ProviderOf(s.URL) {
			tables[i].Provider = string(s.Provider)
		}
	}
	text, err := toml.Marshal(map[string]any{tablesKey: tables})
	return string(text), err
}

// withTables adds the tables to the feeds of --feed.
func withTables(feeds, tables []feedring.FeedSpec) ([]feedring.FeedSpec, error) {
	for i, t := range tables {
		same := func(f feedring.FeedSpec) bool { return f.URL == t.URL }
		if slices.ContainsFunc(feeds, same) || slices.ContainsFunc(tables[:i], same) {
			return nil, fmt.Errorf("%s is given twice: a feed has one theme and one provider", t.URL)
		}
	}
	return append(feeds, tables...), nil
}
