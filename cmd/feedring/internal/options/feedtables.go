package options

import (
	"errors"
	"fmt"
	"maps"
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
// can: a file that is read instead of the address, how much is shared, or a weight. They are
// a hidden flag, so that every key of the file is a flag.
type feedTables struct{ specs []feedring.FeedSpec }

// feedTable is one of them as it is written.
type feedTable struct {
	Theme    string `toml:"theme"`
	URL      string `toml:"url"`
	Provider string `toml:"provider,omitempty"`
	File     string `toml:"file,omitempty"`
	Share    string `toml:"share,omitempty"`

	Weight float64 `toml:"weight,omitempty"`
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
			return errors.New("write tables: [[feeds]], and below it theme, url, file, share, weight")
		}
		spec, key, err := specOfTable(table)
		if err != nil {
			return &tableError{Table: i + 1, Key: key, Err: err}
		}
		t.specs = append(t.specs, spec)
	}
	return nil
}

// tableError is what is wrong with one of the tables.
type tableError struct {
	Table int    // from 1
	Key   string // of it; empty: the table as a whole
	Err   error
}

// Error implements error.
func (e *tableError) Error() string { return fmt.Sprintf("table %d: %v", e.Table, e.Err) }

// Unwrap returns the cause.
func (e *tableError) Unwrap() error { return e.Err }

// specOfTable reads one table. With an error comes the key that is wrong; empty:
// the table as a whole.
func specOfTable(table map[string]any) (spec feedring.FeedSpec, key string, err error) {
	f, key, err := textsOfTable(table)
	if err != nil {
		return spec, key, err
	}
	if f.Theme == "" || f.URL == "" {
		return spec, "", errors.New("a feed needs a theme and an url")
	}
	theme, err := feedring.ParseTheme(f.Theme)
	if err != nil {
		return spec, "theme", err
	}
	if spec, err = feedring.NewFeedSpec(theme, feedring.Provider(strings.ToLower(f.Provider)), f.URL); err != nil {
		return spec, "", err
	}
	if spec.Share, err = feedring.ParseShare(f.Share); err != nil {
		return spec, "share", err
	}
	if _, given := table[weightKey]; given {
		if spec.Weight, err = feedring.CheckWeight(f.Weight); err != nil {
			return spec, weightKey, err
		}
	}
	if f.File == "" {
		return spec, "", nil
	}
	if !filepath.IsAbs(f.File) {
		return spec, "file", fmt.Errorf("file %q: write an absolute path", f.File)
	}
	spec.File = f.File
	return spec, "file", files.Check(spec.File)
}

// weightKey is the key that is no text.
const weightKey = "weight"

func textsOfTable(table map[string]any) (f feedTable, wrong string, err error) {
	fields := map[string]*string{"theme": &f.Theme, "url": &f.URL, "provider": &f.Provider, "file": &f.File, "share": &f.Share}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key == weightKey {
			if f.Weight, err = number(table[key]); err != nil {
				return f, key, err
			}
			continue
		}
		into, known := fields[key]
		text, isText := table[key].(string)
		if !known {
			names := []string{"theme", "url", "provider", "file", "share", weightKey}
			if near := feedring.Nearest(key, names); near != "" {
				return f, key, fmt.Errorf("unknown key %q: did you mean %s?", key, near)
			}
			return f, key, fmt.Errorf("unknown key %q: the keys of a feed are theme, url, provider, file, share and weight", key)
		}
		if !isText {
			return f, key, fmt.Errorf("%s: write a text", key)
		}
		*into = text
	}
	return f, "", nil
}

func number(value any) (float64, error) {
	switch n := value.(type) {
	case float64:
		return n, nil
	case int64:
		return float64(n), nil
	}
	return 0, errors.New("weight: write a number, without quotes")
}

// text writes the tables as parse reads them; empty: there are none.
func (t *feedTables) text() (string, error) {
	if len(t.specs) == 0 {
		return "", nil
	}
	tables := make([]feedTable, len(t.specs))
	for i, s := range t.specs {
		tables[i] = feedTable{Theme: string(s.Theme), URL: s.URL, File: s.File, Share: string(s.Share), Weight: s.Weight}
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
