// Package files reads feeds from files of this machine, where their publisher
// writes them: a static site, for instance. It is a client beside the one that
// asks hosts, and tells when a file changed.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/fetch"
)

const (
	filesEvery = time.Second
	// atRest is how long a file must not have been written before its time says
	// that it is the one that was read: file systems round times.
	atRest   = 2 * time.Second
	readings = 3 // of a file that is written meanwhile
)

// Files reads feeds from files where their publisher writes them, and asks the
// next client for all others. A file is watched by asking for its time and size
// every second: that works on every file system, shared and mounted ones
// included, and costs some microseconds a file.
type Files struct {
	Next  fetch.Client
	Feeds Feeds

	once sync.Once
	read chan struct{} // holds one: a file was read
}

// Feeds knows which feeds are read from files. Its methods are called at any
// time, by several goroutines.
type Feeds interface {
	File(feedURL string) string // the path; empty: the feed is not read from a file
	Files() map[string]string   // the paths of all, by feed
}

// Fetcher fetches a feed whose file changed. It must not block.
type Fetcher interface {
	FileChanged(feedURL string)
}

// wasRead tells Run, which sleeps while no feed has a file, that one has.
func (f *Files) wasRead() chan struct{} {
	f.once.Do(func() { f.read = make(chan struct{}, 1) })
	return f.read
}

// Do implements Client.
func (f *Files) Do(req *http.Request) (*http.Response, error) {
	path := f.Feeds.File(req.URL.String())
	if path == "" {
		return f.Next.Do(req)
	}
	select {
	case f.wasRead() <- struct{}{}:
	default:
	}
	body, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("its file cannot be read: %w", err)
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Header: make(http.Header), Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}, nil
}

// Check returns a *NoFileError for what will never be read as a feed's file, because something
// else is there. What is not there yet, or may not be fetched yet, is accepted.
func Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &NoFileError{Path: path, Folder: true}
	}
	return &NoFileError{Path: path}
}

// NoFileError is for what can never be read as a feed's file.
type NoFileError struct {
	Path   string
	Folder bool
}

// Error implements error.
func (e *NoFileError) Error() string {
	if e.Folder {
		return e.Path + " is a folder"
	}
	return e.Path + " is no regular file"
}

// readFile reads a file of one moment: one that is written meanwhile is read
// again. Errors are for its owner, without the path, which everybody may see.
func readFile(path string) ([]byte, error) {
	for range readings {
		body, whole, err := readOnce(path)
		var at *fs.PathError
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("permission denied: the user that this peer runs as cannot read it, or not enter a folder above it")
		case errors.Is(err, fs.ErrNotExist):
			return nil, errors.New("no such file: it is read once it exists")
		case errors.As(err, &at):
			return nil, at.Err
		case err != nil:
			return nil, err
		case whole:
			return body, nil
		}
	}
	return nil, errors.New("it is being written all the time; a file that is renamed to its place is always whole")
}

func readOnce(path string) (body []byte, whole bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	switch {
	case err != nil:
		return nil, false, err
	case !before.Mode().IsRegular():
		return nil, false, errors.New("it is no regular file")
	case before.Size() > decode.MaxBody:
		return nil, false, fmt.Errorf("it is larger than %d MiB", decode.MaxBody>>20)
	}
	if body, err = io.ReadAll(io.LimitReader(f, decode.MaxBody+1)); err != nil {
		return nil, false, err
	}
	after, err := f.Stat()
	return body, err == nil && same(before, after) && int64(len(body)) == after.Size(), err
}

func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// Run tells fetcher of each feed whose file changed, until ctx ends; at first of
// all of them.
func (f *Files) Run(ctx context.Context, fetcher Fetcher) {
	seen := make(map[string]*sight)
	every := time.NewTicker(filesEvery)
	defer every.Stop()
	for {
		all := f.Feeds.Files()
		for feed := range seen {
			if all[feed] == "" {
				delete(seen, feed)
			}
		}
		for feed, path := range all {
			if seen[feed] == nil || seen[feed].path != path {
				seen[feed] = &sight{path: path, fresh: true}
			}
			if seen[feed].changed(time.Now()) {
				fetcher.FileChanged(feed)
			}
		}
		var due <-chan time.Time
		if len(all) > 0 {
			due = every.C
		}
		select {
		case <-ctx.Done():
			return
		case <-due:
		case <-f.wasRead():
		}
	}
}

// sight is a file as it was when its feed was last fetched.
type sight struct {
	path   string
	info   fs.FileInfo // nil: it was not there
	fresh  bool        // it was not fetched
	unsure bool        // it was just written: more may have come at the same time
}

// changed reports whether the feed is to be fetched.
func (s *sight) changed(now time.Time) bool {
	info, err := os.Stat(s.path)
	if err != nil {
		info = nil
	}
	old := s.info
	s.info = info
	switch {
	case s.fresh, (old == nil) != (info == nil), info != nil && !same(old, info):
		s.fresh = false
		s.unsure = info != nil && now.Sub(info.ModTime()) < atRest
		return true
	case s.unsure && now.Sub(info.ModTime()) >= atRest:
		s.unsure = false
		return true
	}
	return false
}
