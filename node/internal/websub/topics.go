package websub

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/websub/hub"
)

// Resources of the hub: what it speaks for begins with one of these.
const (
	ofFeed     = "feed "
	ofPersonal = "personal "
	ofFleet    = "fleet " // a personal feed that this peer serves for its fleet
)

// topics are the addresses that the hub speaks for: those of this peer's own
// feeds that are published whole, their sites' and this peer's, and of personal
// feeds, which only their owner knows.
type topics struct{ of *WebSub }

// Find implements hub.Topics.
func (t topics) Find(address string) (string, bool) {
	if secret, ok := web.PersonalSecret(address); ok {
		switch state, ok := t.of.personal.State(secret); {
		case ok && !state.Fleet:
			return ofPersonal + secret, true
		case ok && t.of.serves(secret):
			return ofFleet + secret, true
		}
	}
	url, err := feedring.ParseFeedURL(address)
	if err != nil {
		return "", false
	}
	if i := strings.Index(url, cache.Path); i >= 0 {
		if own, ok := t.of.cfg.Cache.Feed(url[i:]); ok {
			return ofFeed + own, true
		}
	}
	if t.of.cfg.Cache.Address(url) != "" { // else nothing may be told, or not all of it
		return ofFeed + url, true
	}
	own, ok := t.of.cfg.Cache.Named(url) // a document may call its own what it is not fetched from, and a feed may have moved
	return ofFeed + own, ok
}

// Version implements hub.Topics.
func (t topics) Version(address string) (uint64, bool) {
	resource, ok := t.Find(address)
	if !ok {
		return 0, false
	}
	if secret, ok := secretOf(resource); ok {
		state, ok := t.of.personal.State(secret)
		return mix(state.Version, uint64(state.Modified.Unix())), ok
	}
	ref := feedring.FeedRef{URL: strings.TrimPrefix(resource, ofFeed), Publisher: t.of.cfg.Self}
	at := t.of.cfg.Store.LogHead(ref).Position
	return mix(at.Epoch, at.Sequence), true
}

// mix makes one number of two, never 0.
func mix(a, b uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b)) // documented never to fail
	return h.Sum64() | 1
}

// Read implements hub.Topics.
func (t topics) Read(ctx context.Context, address string) (hub.Content, error) {
	version, ok := t.Version(address) // before the content, which may be newer
	if !ok {
		return hub.Content{}, hub.ErrGone
	}
	resource, _ := t.Find(address)
	if url, ok := strings.CutPrefix(resource, ofFeed); ok {
		address = t.of.FeedAddress(url)
	}
	if strings.HasPrefix(resource, ofFleet) { // the topic may be at another peer
		address = t.of.base() + web.PersonalPath + address[strings.LastIndexByte(address, '/')+1:]
	}
	c, err := t.served(ctx, address)
	c.Version = version
	return c, err
}

// Watch is for personal feeds: of own feeds everything is told.
func (t topics) Watch(resource string, on bool) {
	if secret, ok := secretOf(resource); ok {
		t.of.personal.Watch(secret, on)
	}
}

// secretOf is the secret of a resource that is a personal feed.
func secretOf(resource string) (string, bool) {
	for _, kind := range []string{ofPersonal, ofFleet} {
		if secret, ok := strings.CutPrefix(resource, kind); ok {
			return secret, true
		}
	}
	return "", false
}

// served reads what this peer itself serves at an address.
func (t topics) served(ctx context.Context, address string) (hub.Content, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return hub.Content{}, err
	}
	base, err := url.Parse(t.of.base())
	if err != nil {
		return hub.Content{}, err
	}
	req.URL.Path, req.URL.RawPath = strings.TrimPrefix(req.URL.Path, base.Path), strings.TrimPrefix(req.URL.RawPath, base.EscapedPath())
	w := &ownAnswer{header: make(http.Header)}
	t.of.cfg.Front.ServeHTTP(w, req)
	switch w.status {
	case 0, http.StatusOK:
		return hub.Content{Type: w.header.Get("Content-Type"), Body: w.body}, nil
	case http.StatusNotFound:
		return hub.Content{}, hub.ErrGone
	}
	return hub.Content{}, fmt.Errorf("this peer's own answer has status %d", w.status)
}

// ownAnswer takes an answer in.
type ownAnswer struct {
	header http.Header
	status int
	body   []byte
}

func (r *ownAnswer) Header() http.Header { return r.header }

func (r *ownAnswer) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

func (r *ownAnswer) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}
