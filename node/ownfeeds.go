package node

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
)

// openOwnFeeds reads the documents that this peer serves to pollers.
func (n *Node) openOwnFeeds() (err error) {
	if n.own, err = cache.Open(cache.Config{Dir: filepath.Join(n.cfg.Data, "front"), Log: n.log}); err != nil {
		err = fmt.Errorf("the documents of own feeds: %w", err)
	}
	return err
}

// ownFeeds are the own feeds as the front sees them.
type ownFeeds struct{ room *cache.Cache }

func (o ownFeeds) Answer(w http.ResponseWriter, r *http.Request, hub string) error {
	err := o.room.Answer(w, r, hub)
	switch {
	case errors.Is(err, cache.ErrUnknown):
		return web.UnservedError{}
	case errors.Is(err, cache.ErrLoop):
		return web.ErrLoop.Of(err)
	}
	return err
}

// serve offers a published feed to pollers. One that shares less than everything
// is not offered: its document holds the rest.
func (o *origins) serve(spec feedring.FeedSpec, st *fetch.State) {
	if spec.Theme == "" || cmp.Or(spec.Share, o.share).Cuts() {
		return
	}
	o.front.Offer(spec.URL, spec.Provider)
	o.front.Present(spec.URL, o.present(spec.URL, st))
	o.front.Plan(spec.URL, st.NextLook)
}

// fetched is called by the watcher with each document, before its entries.
func (o *origins) fetched(url string, page fetch.Page) {
	came := cache.Fetched{Body: page.Body, ContentType: page.ContentType, At: time.Now()}
	if page.Partial {
		o.front.TakePart(url, came)
		return
	}
	o.front.Take(url, came)
}

// frontAddress is where pollers find a feed; empty: nowhere.
func (n *Node) frontAddress(url string) string {
	path := n.own.Address(url)
	switch {
	case path == "":
		return ""
	case n.cfg.PublicURL != "":
		return n.cfg.PublicURL + path
	case n.front.Off():
		return ""
	}
	return n.front.Reachable() + path
}
