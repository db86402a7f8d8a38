package node

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
)

// openOwnFeeds reads the documents that this peer serves to pollers.
func (n *Node) openOwnFeeds() (err error) {
	if n.own, err = cache.Open(cache.Config{Dir: filepath.Join(n.cfg.Data, "front"), Log: n.log, Always: web.Always()}); err != nil {
		err = fmt.Errorf("the documents of own feeds: %w", err)
	}
	return err
}

// ownFeeds are the own feeds as the front sees them.
type ownFeeds struct{ cache *cache.Cache }

func (o ownFeeds) Answer(w http.ResponseWriter, r *http.Request, hub string) error {
	err := o.cache.Answer(w, r, hub)
	switch {
	case errors.Is(err, cache.ErrUnknown):
		return web.UnservedError{}
	case errors.Is(err, cache.ErrLoop):
		return web.ErrLoop.Of(err)
	}
	return err
}
