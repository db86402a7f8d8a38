package survey

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/sim/experiment"
)

const (
	mostFeeds     = 128     // of a stream: what is known of each is in memory
	mostSnapshots = 200_000 // of a stream
	mostArticles  = 100_000 // of a feed, whose sizes count
	mostPadding   = 1 << 20 // zero bytes behind an archive
	streamHint    = "give a tar stream of FEED/2006-01-02T150405Z.xml, unpacked by xz -dc, for example"
)

// snapshots reads a tar stream of documents, in time order for each feed, or several
// streams one after the other. The folder names the feed, the file the time (UTC).
func snapshots(r io.Reader, progress experiment.Progress) (all []*series, refused []Refusal, err error) {
	in := bufio.NewReader(r)
	feeds := make(map[string]*series)
	documents, read := 0, 0
	for {
		for archive := tar.NewReader(in); ; {
			h, err := archive.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%w: %s", err, streamHint)
			}
			if h.Typeflag != tar.TypeReg {
				continue
			}
			s, at, err := place(feeds, h.Name)
			if err != nil {
				return nil, nil, err
			}
			if s.name == "" {
				all = append(all, s)
			}
			s.name, s.at = h.Name, at
			if documents++; documents > mostSnapshots {
				return nil, nil, fmt.Errorf("more than %d documents: give fewer at once", mostSnapshots)
			}
			progress.Tell(documents, documents, "%s", shown(h.Name))
			body, err := readBody(archive)
			var parsed *document.Document
			if err == nil {
				parsed, err = document.Parse(document.Source{URL: s.state.URL}, body)
			}
			if err == nil {
				err = s.look(at, parsed, body)
			}
			var refusal *failure.Error
			switch {
			case errors.As(err, &refusal):
				s.Refused++
				refused = append(refused, Refusal{shown(h.Name), refusal.Detail})
			case err != nil:
				return nil, nil, fmt.Errorf("%s: %w: %s", shown(h.Name), err, streamHint)
			default:
				read++
			}
		}
		more, err := another(in)
		if err != nil {
			return nil, nil, err
		}
		if !more {
			break
		}
	}
	switch {
	case documents == 0:
		return nil, nil, errors.New("no document is in it: " + streamHint)
	case read == 0:
		return nil, nil, fmt.Errorf("none of %d documents can be read as a feed: give RSS, Atom or JSON Feed; %s: %s", documents, refused[0].Name, refused[0].Reason)
	}
	return all, refused, nil
}

// place finds the feed and the time of a document, which are new or later.
func place(feeds map[string]*series, name string) (*series, time.Time, error) {
	feed, file := path.Split(path.Clean(name))
	feed = strings.TrimSuffix(feed, "/")
	at, err := time.Parse("2006-01-02T150405Z", strings.TrimSuffix(file, path.Ext(file)))
	if err != nil || !fs.ValidPath(feed) || feed == "." {
		return nil, at, fmt.Errorf("%s tells no feed and time: %s", shown(name), streamHint)
	}
	s, ok := feeds[feed]
	if !ok {
		if len(feeds) == mostFeeds {
			return nil, at, fmt.Errorf("%s is of one more feed than %d: give fewer at once", shown(name), mostFeeds)
		}
		if s, err = newSeries(feed); err != nil {
			return nil, at, err
		}
		feeds[feed] = s
	}
	if s.name != "" && !at.After(s.at) {
		return nil, at, fmt.Errorf("documents out of order: %s is not later than %s: give them in time order, for example tar --sort=name -cf - %s", shown(name), shown(s.name), shown(feed))
	}
	return s, at, nil
}

// another reports whether another archive follows, and drops the zeros before it.
func another(in *bufio.Reader) (bool, error) {
	for range mostPadding {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		case b != 0:
			return true, in.UnreadByte()
		}
	}
	return false, fmt.Errorf("more than %d zero bytes are behind an archive: %s", mostPadding, streamHint)
}
