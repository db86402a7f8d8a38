package web

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/opml"
)

// imported is what became of one feed of a list: it is added, was known, or is
// refused for Error.
type imported struct {
	URL       string         `json:"url"`
	Site      string         `json:"site,omitempty"`  // the page that the list has, which names the feed
	Theme     feedring.Theme `json:"theme,omitempty"` // empty: private
	Added     bool           `json:"added"`
	Warning   string         `json:"warning,omitempty"`   // why it may be no feed
	Unchecked bool           `json:"unchecked,omitempty"` // it was added before anybody fetched
	Error     string         `json:"error,omitempty"`
	NoFeed    bool           `json:"no_feed,omitempty"` // Error is what its address led to
}

// exportOPML writes the peer's feeds as a list that importOPML reads back with
// folders=true: a folder for each theme, private feeds in none. Files that are
// read instead of an address are this machine's, and stay out of it.
func (s *site) exportOPML(w http.ResponseWriter, _ *http.Request) error {
	var feeds []opml.Outline
	for _, f := range s.Backend.Feeds(true) {
		o := opml.Outline{URL: cmp.Or(f.Fetched, f.URL), Title: f.Title, Folder: string(f.Theme), Share: string(f.Share)}
		if f.Provider != feedring.ProviderOf(o.URL) {
			o.Provider = string(f.Provider)
		}
		feeds = append(feeds, o)
	}
	var list bytes.Buffer
	if err := opml.Write(&list, "feeds of a feedring peer", s.now(), feeds); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/x-opml; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="feedring.opml"`)
	_, err := list.WriteTo(w)
	return err
}

// importOPML adds the feeds of a list: to the theme of the query, with
// folders=true to that which a feed's folder names, else in private. It says
// what became of each feed; one that is refused stops no other. Their addresses are
// fetched before, as far as some seconds suffice, and with force=true not at all.
func (s *site) importOPML(w http.ResponseWriter, r *http.Request) error {
	var theme feedring.Theme
	var err error
	if name := r.URL.Query().Get("theme"); name != "" {
		if theme, err = feedring.ParseTheme(name); err != nil {
			return badRequest("%w", err)
		}
	}
	folders, err := yesOrNo(r, "folders")
	if err != nil {
		return err
	}
	force, err := yesOrNo(r, "force")
	if err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, opml.MaxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the list is larger than %d MiB: split it, or name a file that is one", opml.MaxBody>>20)}
	}
	if err != nil {
		return err
	}
	outlines, err := opml.Parse(body, r.Header.Get("Content-Type"))
	if err == nil && len(outlines) == 0 {
		err = errors.New("the list names no feed: each needs an outline with xmlUrl")
	}
	if err != nil {
		return &problem{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	}
	return writeJSON(w, http.StatusOK, s.importAll(r, outlines, theme, folders, force))
}

// yesOrNo reads a parameter of the query that is true or false; absent: false.
func yesOrNo(r *http.Request, name string) (bool, error) {
	switch given := r.URL.Query().Get(name); given {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, badRequest("%s is %q: write true or false", name, given)
	}
}

func (s *site) importAll(r *http.Request, outlines []opml.Outline, theme feedring.Theme, folders, force bool) []imported {
	results := make([]imported, len(outlines))
	var places []int
	var specs []feedring.FeedSpec
	var titles []string
	for i, o := range outlines {
		spec, err := specOf(o, theme, folders)
		if err != nil {
			results[i] = imported{URL: feedring.WithoutUser(o.URL), Error: err.Error()}
			continue
		}
		results[i] = imported{URL: spec.URL, Theme: spec.Theme}
		places, specs, titles = append(places, i), append(specs, spec), append(titles, o.Title)
	}
	if !force {
		places, specs, titles = s.seek(r, results, places, specs, titles)
	}
	for j, added := range s.Backend.AddFeeds(r.Context(), specs, titles) {
		results[places[j]].Added = !added.Known && added.Err == nil
		if added.Err != nil {
			results[places[j]].Error = added.Err.Error()
		}
	}
	return results
}

// seek fetches the feeds of a list, says of each what is there, and returns those
// that are to be added.
func (s *site) seek(r *http.Request, results []imported, places []int, specs []feedring.FeedSpec, titles []string) (kept []int, found []feedring.FeedSpec, called []string) {
	for j, sought := range s.Backend.FindFeeds(r.Context(), specs) {
		spec, at := specs[j], &results[places[j]]
		if sought.Err == nil && sought.URL != spec.URL {
			theme, share := spec.Theme, spec.Share
			at.URL, at.Site = sought.URL, spec.URL
			spec, sought.Err = feedring.NewFeedSpec(theme, spec.Provider, sought.URL) // the provider is the site, wherever its feed is kept
			spec.Share = share
		}
		if sought.Err != nil {
			var not *NotFeedError
			at.Error = sought.Err.Error()
			if errors.As(sought.Err, &not) {
				at.Error, at.NoFeed = not.Reason, true
			}
			continue
		}
		if at.Unchecked = sought.Unasked; !at.Unchecked {
			at.Warning = sought.Note
		}
		kept, found, called = append(kept, places[j]), append(found, spec), append(called, titles[j])
	}
	return kept, found, called
}

func specOf(o opml.Outline, theme feedring.Theme, folders bool) (feedring.FeedSpec, error) {
	if folders && o.Folder != "" {
		var err error
		if theme, err = feedring.ParseTheme(themeName(o.Folder)); err != nil {
			return feedring.FeedSpec{}, fmt.Errorf("the folder %.60q names no theme: rename it, or give one theme for the list", o.Folder)
		}
	}
	spec, err := feedring.NewFeedSpec(theme, feedring.Provider(strings.ToLower(o.Provider)), o.URL)
	if err == nil && theme != "" { // a private feed is told to nobody
		spec.Share, err = feedring.ParseShare(o.Share)
	}
	return spec, err
}

// themeName makes of a folder's name what could be a theme's: "Tech News" is
// tech-news.
func themeName(folder string) string {
	words := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	return strings.TrimRight(name[:min(len(name), feedring.MaxTheme)], "-")
}
