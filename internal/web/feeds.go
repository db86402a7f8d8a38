package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/feedring/feedring"
)

const maxPath = 4096

// feedRequest is a feed as a caller names it.
type feedRequest struct {
	URL      string `json:"url"`
	Theme    string `json:"theme"` // empty: private
	Provider string `json:"provider"`
	File     string `json:"file"`  // on this peer's machine, read instead of the URL; empty: none
	Share    string `json:"share"` // empty: as the peer shares

	Weight *float64 `json:"weight"` // nil: by the feed's readers
	Force  bool     `json:"force"`  // add it also where no feed is there
}

func (s *site) feeds(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, append([]FeedStatus{}, s.Backend.Feeds(true)...))
}

// addFeed says 201 for a feed that was not there, else 200.
func (s *site) addFeed(w http.ResponseWriter, r *http.Request) error {
	var req feedRequest
	if err := readJSON(w, r, &req, feedExample); err != nil {
		return err
	}
	spec, err := req.spec()
	if err != nil {
		return badRequest("%w", err)
	}
	found, err := s.Backend.FindFeed(r.Context(), spec)
	var not *NotFeedError
	if errors.As(err, &not) && req.Force {
		found, err = Found{URL: spec.URL, Note: not.Reason + ": it is fetched again"}, nil
	}
	if err != nil {
		return notFound(err)
	}
	told := added{Note: found.Note}
	if found.URL != spec.URL {
		// The provider is the site, wherever its feed is kept.
		told.Site, req.URL, req.Provider = spec.URL, found.URL, string(spec.Provider)
		if spec, err = req.spec(); err != nil {
			return badRequest("%w", err)
		}
	}
	result := s.Backend.AddFeeds(r.Context(), []feedring.FeedSpec{spec}, nil)[0]
	if result.Err != nil {
		return refused(result.Err)
	}
	status := http.StatusCreated
	if result.Known {
		status = http.StatusOK
	}
	told.FeedStatus = s.feedOf(spec)
	if told.Join == "" && told.SitePeer == "" { // the first fetch may not be over
		told.Join, told.SitePeer = found.Join, found.SitePeer
	}
	return writeJSON(w, status, told)
}

// added is a feed that was just added, and how it was found.
type added struct {
	FeedStatus
	Site string `json:"site,omitempty"` // the page that names the feed, as it was asked for
	Note string `json:"note,omitempty"` // why it may be no feed
}

// notFound tells why a feed that was looked for is not added; of several they are
// listed beside the text.
func notFound(err error) error {
	var several *SeveralFeeds
	var not *NotFeedError
	switch {
	case errors.As(err, &several):
		return &problem{Status: http.StatusConflict, Detail: err.Error(), Feeds: several.Feeds}
	case errors.As(err, &not):
		return &problem{Status: http.StatusUnprocessableEntity, Detail: not.Error(), Force: `send "force": true to add it all the same`}
	}
	return refused(err)
}

// feedOf is a feed that was just added. It is the spec alone where somebody has
// removed it since.
func (s *site) feedOf(spec feedring.FeedSpec) FeedStatus {
	if f, err := s.Backend.Feed(spec.URL); err == nil {
		return f
	}
	return FeedStatus{URL: spec.URL, Theme: spec.Theme, Provider: spec.Provider}
}

func (f feedRequest) spec() (feedring.FeedSpec, error) {
	var theme feedring.Theme
	if f.Theme != "" {
		var err error
		if theme, err = feedring.ParseTheme(f.Theme); err != nil {
			return feedring.FeedSpec{}, err
		}
	}
	spec, err := feedring.NewFeedSpec(theme, feedring.Provider(strings.ToLower(f.Provider)), f.URL)
	if err == nil && f.File != "" && (!filepath.IsAbs(f.File) || len(f.File) > maxPath || strings.ContainsRune(f.File, 0)) {
		err = fmt.Errorf("file %s: send an absolute path on the peer's machine", quote(f.File))
	}
	if err == nil {
		spec.Share, err = feedring.ParseShare(f.Share)
	}
	if err == nil && theme == "" && spec.Share != "" {
		err = errors.New("a private feed is told to nobody: share is for one with a theme")
	}
	if err == nil && f.Weight != nil {
		spec.Weight, err = feedring.CheckWeight(*f.Weight)
	}
	spec.File = f.File
	return spec, err
}

func (s *site) removeFeed(w http.ResponseWriter, r *http.Request) error {
	address := r.PathValue("url")
	if address == "" {
		address = r.URL.Query().Get("url")
	}
	address, err := feedring.ParseFeedURL(address)
	if err != nil {
		return badRequest("%w", err)
	}
	if err := s.Backend.RemoveFeed(r.Context(), address); err != nil {
		return refused(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *site) ping(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		URL string `json:"url"`
	}
	if err := readJSON(w, r, &req, feedExample); err != nil {
		return err
	}
	address, err := feedring.ParseFeedURL(req.URL)
	if err != nil {
		return badRequest("%w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitOf(r))
	defer cancel()
	feed, err := s.Backend.Ping(ctx, address)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, feed)
}

// refused is for changes: the backend says no because of what is there already.
func refused(err error) error {
	var kind *Kind
	if errors.As(err, &kind) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &problem{Status: http.StatusConflict, Detail: err.Error()}
}

const feedExample = `{"url":"https://site.example/feed.xml"}`

// readJSON reads exactly one object, whose fields are all known. Whoever sends
// another is shown an example.
func readJSON(w http.ResponseWriter, r *http.Request, into any, example string) error {
	err := decodeOne(http.MaxBytesReader(w, r.Body, maxBody), into)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &tooLarge):
		return tooLarge
	case errors.Is(err, io.EOF):
		return badRequest("the body is empty: send JSON such as %s", example)
	default:
		return badRequest("the body cannot be read: %s: send JSON such as %s",
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", ", "), "json: "), example)
	}
}

// jsonKind is what JSON calls the values of a field.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	default:
		return "number"
	}
}

// decodeOne reads one JSON value and the end. Bytes that are no UTF-8 are
// refused: the decoder would put other characters in their place.
func decodeOne(r io.Reader, into any) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if at := feedring.NotUTF8(string(body)); at >= 0 {
		return fmt.Errorf("byte %d is no UTF-8", at+1)
	}
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] != '{' {
		return errors.New("it is no object")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var wrong *json.UnmarshalTypeError
	switch err := decoder.Decode(into); {
	case errors.As(err, &wrong):
		if number, ok := strings.CutPrefix(wrong.Value, "number "); ok { // one that its type cannot be
			return fmt.Errorf("%s is %s, where a whole number belongs", wrong.Field, number)
		}
		return fmt.Errorf("%s is a %s, where a %s belongs", wrong.Field, wrong.Value, jsonKind(wrong.Type))
	case err != nil:
		return err
	}
	if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
		return errors.Join(more, errors.New("something follows the object"))
	}
	return nil
}
