package origins

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// hanging is an origin that answers nothing for ever.
type hanging struct{}

func (hanging) Do(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// unwritten keeps nothing of what was fetched.
type unwritten struct{ *Feeds }

func (unwritten) State(string) (fetch.State, error) { return fetch.State{}, nil }

// ours are origins that are no strangers'.
type ours struct{}

func (ours) Ours(string) bool       { return true }
func (ours) Local(string) bool      { return false }
func (ours) Part(string) watch.Part { return watch.Part{} }

func TestPingTellsWhatItWaitsFor(t *testing.T) {
	kept := openStore(t)
	full, err := store.Open(t.TempDir(), store.Options{Reserve: 1 << 60, Log: quiet})
	check(t, err)
	t.Cleanup(func() { _ = full.Close() })
	synctest.Test(t, func(t *testing.T) {
		o := &Feeds{Config: Config{Log: quiet, Cache: openOwn(t), Store: kept}, feeds: newFeeds()}
		var err error
		o.watcher, err = watch.New(watch.Config{Client: hanging{}, Policy: watch.Fixed(time.Hour), HostPolicy: watch.HostPolicy{Origins: ours{}}, Handler: unwritten{o}})
		check(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		go o.watcher.Run(ctx)
		defer synctest.Wait()
		defer cancel()
		ping := func(path string) string {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			err := o.Fetch(ctx, "http://a.example"+path)
			if !errors.Is(err, web.ErrLate) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			return err.Error()
		}
		o.watcher.Add("http://a.example/1", fetch.State{})
		synctest.Wait()
		if said := ping("/1"); !strings.Contains(said, "the origin has not answered yet, after 8s") || !strings.Contains(said, "--timeout") {
			t.Error(said)
		}
		for _, path := range []string{"/2", "/3", "/4"} {
			o.watcher.Add("http://a.example"+path, fetch.State{})
			time.Sleep(3 * time.Second)
		}
		if said := ping("/4"); !strings.Contains(said, "behind 3 other requests to a.example, which has not answered") {
			t.Error(said)
		}
		o.Store = full
		if said := ping("/1"); strings.Contains(said, "has not answered") || !strings.Contains(said, "must stay free") {
			t.Error(said)
		}
	})
}

// tooBusy is an origin that asks for fewer requests, as its Retry-After says.
type tooBusy string

func (b tooBusy) Do(req *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: make(http.Header), Body: http.NoBody, Request: req}
	if b != "" {
		resp.Header.Set("Retry-After", string(b))
	}
	return resp, nil
}

// TestPingTellsOfAHold: it says that the host is left alone, and who said until when.
func TestPingTellsOfAHold(t *testing.T) {
	kept := openStore(t)
	for retryAfter, want := range map[string]string{
		"3600": ": a.example asked to be left alone until 2000-01-01T01:00:00Z: it is fetched then, and ",
		"":     ": a.example is left alone until 2000-01-01T00:15:00Z, after its 429: it is fetched then, and ",
	} {
		synctest.Test(t, func(t *testing.T) {
			o := &Feeds{Config: Config{Log: quiet, Cache: openOwn(t), Store: kept}, feeds: newFeeds()}
			var err error
			o.watcher, err = watch.New(watch.Config{Client: tooBusy(retryAfter), Policy: watch.Fixed(time.Hour), Handler: unwritten{o}})
			check(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			go o.watcher.Run(ctx)
			defer synctest.Wait()
			defer cancel()
			o.watcher.Add("http://a.example/", fetch.State{})
			synctest.Wait()
			ctx, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			if err := o.Fetch(ctx, "http://a.example/2"); err == nil {
				t.Error("a feed that is none is looked at")
			}
			o.watcher.Add("http://a.example/2", fetch.State{})
			if err := o.Fetch(ctx, "http://a.example/2"); err == nil || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
}
