package survey

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/sim/experiment"
)

const (
	manifestName  = "MANIFEST.csv"
	mostDocuments = 10_000
	mostManifest  = 16 << 20 // bytes
	mostRefused   = 100      // that are named
)

// Article is the size of one entry.
type Article struct {
	Bytes int // of its title, link, summary, content, authors and tags
	Words int // of its title, summary and content
}

// Document is what one document shows.
type Document struct {
	Bytes     int
	Articles  []Article
	Published []time.Time // of the entries that have a date
	Entry     float64     // bytes of its last entry, as it is signed; 0: it has no entries
	Packed    float64     // bytes of the answer that brings this entry to who has the one before it
}

// Refusal is a document that the reader refuses, or an entry that cannot be signed.
type Refusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Documents reads the documents of a directory, or those that a manifest beside them
// names in its column file, with the limits of the product's reader. A directory with a
// MANIFEST.csv is read by it. What the reader refuses is told apart; that it refuses
// all is an error.
func Documents(path string, progress experiment.Progress) (docs []Document, refused []Refusal, err error) {
	dir, names, err := documentNames(path)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for i, name := range names {
		progress.Tell(i, len(names), "%s", shown(name))
		doc, err := readDocument(root, name)
		var refusal *failure.Error
		switch {
		case errors.As(err, &refusal):
			refused = append(refused, Refusal{shown(name), refusal.Detail})
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", shown(name), err)
		default:
			docs = append(docs, *doc)
		}
	}
	if len(docs) == 0 && len(refused) > 0 {
		return nil, nil, fmt.Errorf("none of %d documents can be read as a feed: give RSS, Atom or JSON Feed; %s: %s", len(names), refused[0].Name, refused[0].Reason)
	}
	if len(docs) == 0 {
		return nil, nil, errors.New("no document is in it: give a directory of feeds, or a CSV file beside them whose column file names them")
	}
	return docs, refused, nil
}

func documentNames(path string) (dir string, names []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		names, err = manifest(path)
		return filepath.Dir(path), names, err
	}
	if listed := filepath.Join(path, manifestName); isFile(listed) {
		if names, err = manifest(listed); err != nil {
			err = fmt.Errorf("%s: %w", manifestName, err)
		}
		return path, names, err
	}
	files, err := os.ReadDir(path)
	for _, f := range files {
		if f.Type().IsRegular() && !strings.HasPrefix(f.Name(), ".") {
			names = append(names, f.Name())
		}
	}
	if len(names) > mostDocuments {
		err = cmp.Or(err, errTooMany)
	}
	return path, names, err
}

var errTooMany = fmt.Errorf("more than %d documents: give fewer", mostDocuments)

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func manifest(path string) (names []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = columns(f, mostManifest, []string{"file"}, func(row []string) error {
		if !filepath.IsLocal(row[0]) {
			return fmt.Errorf("%s is not beside it: give names of files in its directory", shown(row[0]))
		}
		if names = append(names, row[0]); len(names) > mostDocuments {
			return errTooMany
		}
		return nil
	})
	return names, err
}

func readDocument(root *os.Root, name string) (*Document, error) {
	info, err := root.Stat(name) // before it is opened: a pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: it is in the list of documents and not beside it", fs.ErrNotExist)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := readBody(f)
	if err != nil {
		return nil, err
	}
	parsed, err := document.Parse(document.Source{URL: feedURL(name)}, body)
	if err != nil {
		return nil, err
	}
	return measure(name, parsed, len(body))
}

// readBody reads no more than the product does.
func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, decode.MaxBody+1))
	if err == nil && len(body) > decode.MaxBody {
		err = failure.New(failure.KindTooLarge, "the document is larger than %d MiB", decode.MaxBody>>20)
	}
	return body, err
}

func measure(name string, parsed *document.Document, size int) (*Document, error) {
	d := &Document{Bytes: size}
	for i := range parsed.Items {
		e := &parsed.Items[i].Entry
		d.Articles = append(d.Articles, articleOf(e))
		if !e.Published.IsZero() {
			d.Published = append(d.Published, e.Published)
		}
	}
	slices.SortFunc(d.Published, time.Time.Compare)
	var err error
	d.Entry, d.Packed, err = lastPacked(name, parsed.Items)
	return d, err
}

func articleOf(e *feedring.Entry) Article {
	a := Article{Bytes: len(e.Title) + len(e.URL) + len(e.Summary) + len(e.ContentHTML)}
	for _, s := range slices.Concat(e.Authors, e.Tags) {
		a.Bytes += len(s)
	}
	for range strings.FieldsSeq(string(match.TextOf(&feedring.Entry{Title: e.Title, Summary: e.Summary, ContentHTML: e.ContentHTML}))) {
		a.Words++
	}
	return a
}

// rate is entries a day by the dates of the entries; 0: they tell none.
func (d *Document) rate() float64 {
	n := len(d.Published)
	if n < 2 {
		return 0
	}
	span := d.Published[n-1].Sub(d.Published[0]).Hours() / 24
	if span <= 0 {
		return 0
	}
	return float64(n-1) / span
}

// shown is a name as an error shows it: strangers' names may hold anything.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, name)
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100]) + "…"
	}
	return name
}
