//go:build unix

package files

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/fetch"
)

const fileURL = "https://site.example/feed.xml"

func rssOf(titles ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>https://site.example/</link>`)
	for _, title := range titles {
		b.WriteString("<item><title>" + title + "</title><guid>" + title + "</guid></item>")
	}
	return b.String() + "</channel></rss>"
}

type noClient struct{ t testing.TB }

func (n noClient) Do(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s was asked", r.URL)
	return nil, os.ErrInvalid
}

func filesOf(t testing.TB, path string) *Files {
	return &Files{Next: noClient{t}, Feeds: paths{fileURL: path}}
}

// paths are files by feed.
type paths map[string]string

func (p paths) File(url string) string   { return p[url] }
func (p paths) Files() map[string]string { return p }

// fetcher is a Fetcher of a function.
type fetcher func(url string)

func (l fetcher) FileChanged(url string) { l(url) }

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileIsReadAsAFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feed.xml")
	write(t, path, rssOf("one"))
	fetcher := fetch.NewFetcher(filesOf(t, path), nil)
	a, err := fetcher.Fetch(t.Context(), fileURL, nil)
	if err != nil || len(a.Document.Items) != 1 || a.Document.Items[0].Entry.Title != "one" {
		t.Fatalf("%+v, %v", a, err)
	}
	state := fetch.State{URL: fileURL, BodyHash: a.BodyHash, LastSuccess: time.Now()}
	if a, err = fetcher.Fetch(t.Context(), fileURL, &state); err != nil || a.Document != nil {
		t.Errorf("the same file is news: %+v, %v", a, err)
	}
}

func TestFilesThatAreNoFeeds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("empty"), "")
	write(t, at("half"), rssOf("one")[:80])
	write(t, at("closed"), rssOf("one"))
	write(t, at("large"), strings.Repeat(" ", decode.MaxBody+1))
	if err := os.Chmod(at("closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"none": "no such file", "empty": "", "half": "", "large": "larger than", "closed": "permission denied",
		"pipe": "no regular file", ".": "no regular file",
	} {
		if name == "closed" && os.Geteuid() == 0 {
			continue // root reads everything
		}
		_, err := fetch.NewFetcher(filesOf(t, at(name)), nil).Fetch(t.Context(), fileURL, nil)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// latePaths are none until they are there.
type latePaths struct {
	paths
	asked atomic.Int32
	there atomic.Bool
}

func (p *latePaths) Files() map[string]string {
	p.asked.Add(1)
	if !p.there.Load() {
		return nil
	}
	return p.paths.Files()
}

// TestFilesSleepWhileNoFeedHasOne: nothing is fetched every second for nobody,
// and a file that comes is watched from when it was first read.
func TestFilesSleepWhileNoFeedHasOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feed.xml")
	write(t, path, rssOf("one"))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var looks atomic.Int32
		late := &latePaths{paths: paths{fileURL: path}}
		files := &Files{Next: noClient{t}, Feeds: late}
		done := make(chan struct{})
		go func() { files.Run(ctx, fetcher(func(string) { looks.Add(1) })); close(done) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := late.asked.Load(); n != 1 {
			t.Errorf("asked %d times in an hour", n)
		}
		late.there.Store(true)
		if _, err := files.Do(httptest.NewRequest("GET", fileURL, nil)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if looks.Load() != 1 {
			t.Errorf("%d looks at the first file", looks.Load())
		}
		cancel()
		<-done
	})
}

// TestFilesAreWatched writes a file in each way that there is. The clock of the
// file system is real and that of the test is not, so files get their times by
// hand.
func TestFilesAreWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feed.xml")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var looks atomic.Int32
		files := filesOf(t, path)
		done := make(chan struct{})
		go func() { files.Run(ctx, fetcher(func(string) { looks.Add(1) })); close(done) }()
		expect := func(what string, within time.Duration, want int) {
			t.Helper()
			time.Sleep(within)
			synctest.Wait()
			if got := looks.Swap(0); int(got) != want {
				t.Errorf("%s: %d looks, want %d", what, got, want)
			}
		}
		stamp := func(age time.Duration) {
			at := time.Now().Add(-age)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Error(err)
			}
		}
		expect("at first", 100*time.Millisecond, 1)
		expect("nothing is there", time.Minute, 0)
		write(t, path, rssOf("one"))
		stamp(time.Hour)
		expect("it comes", time.Second, 1)
		expect("nothing happens", time.Minute, 0)
		write(t, path, rssOf("one", "two"))
		stamp(time.Hour)
		expect("it grows", time.Second, 1)
		write(t, path, rssOf("one", "owt"))
		stamp(0)
		expect("it is written, with the same size, just now", time.Second, 1)
		expect("and perhaps once more at the same time", 10*time.Second, 1)
		write(t, path+".new", rssOf("one", "thr"))
		at := time.Now().Add(-10 * time.Second)
		if err := os.Chtimes(path+".new", at, at); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
		expect("another takes its place", time.Second, 1)
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		expect("it goes", time.Second, 1)
		expect("it stays away", time.Minute, 0)
		cancel()
		<-done
	})
}

// TestCheckFile: what is there and is no file is refused before it is watched.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "feed.xml"), filepath.Join(dir, "pipe")
	write(t, file, rssOf("a"))
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "", filepath.Join(dir, "later.xml"): "", dir: "is a folder", pipe: "no regular file", os.DevNull: "no regular file"} {
		if err := Check(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
