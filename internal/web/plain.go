package web

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/render"
)

// PlainPoll is a GET or HEAD of a personal feed, as far as it decides the answer. Values
// of headers are those of the lines of that name, in their order.
type PlainPoll struct {
	Name  string // what follows PersonalPath in its path, as it came
	Host  string
	Local netip.Addr // where it arrived
	Head  bool

	Encodings []string // Accept-Encoding
	Tags      []string // If-None-Match
	Since     []string // If-Modified-Since
}

// maxPrepared is how many personal feeds' heads are kept, of some 3 KB each.
const maxPrepared = 1000

// preparedKey is the address of a personal feed as it was asked for.
type preparedKey struct{ name, base string }

// prepared are the heads of answers that show one state of a personal feed.
type prepared struct {
	version         uint64
	modified        time.Time
	self, tag       string
	unchanged, head [2]string // not compressed and compressed: a 304; the answer to HEAD
	zipped          string    // a 200 but for Content-Length
}

// preparations keep what was asked for lately: where there are too many they begin
// anew, which costs each feed that is polled still 10 µs.
type preparations struct {
	mu   sync.Mutex
	kept map[preparedKey]*prepared
}

func (p *preparations) get(key preparedKey, state *PersonalState) *prepared {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.kept[key]
	if made == nil || made.version != state.Version || !made.modified.Equal(state.Modified) {
		return nil
	}
	return made
}

func (p *preparations) put(key preparedKey, made *prepared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) >= maxPrepared {
		p.kept = make(map[preparedKey]*prepared)
	}
	p.kept[preparedKey{strings.Clone(key.name), strings.Clone(key.base)}] = made // they are parts of a whole head
}

// Plain implements Site.
func (s *site) Plain(r *PlainPoll, head []byte) (_, body []byte, ok bool) {
	secret, ending, _ := strings.Cut(r.Name, ".")
	format, ok := render.ParseFormat(ending)
	if !ok || s.Personal == nil || secret == "" || len(secret) > maxSecret || strings.ContainsAny(secret, "/%") || !s.calledAt(r.Host, r.Local) {
		return head, nil, false // an address that is written otherwise is the router's
	}
	state, ok := s.Personal.State(secret)
	if !ok {
		return head, nil, false
	}
	base := s.baseOf(r.Host)
	key := preparedKey{r.Name, base}
	made := s.prepared.get(key, &state)
	if made == nil {
		made = s.prepare(&poll{site: s, base: base, secret: secret, format: format}, &state)
		if state.Modified.Before(s.now().Truncate(time.Second)) { // else Last-Modified is about to change
			s.prepared.put(key, made)
		}
	}
	zipped := 0
	if accepts(r.Encodings, "gzip") {
		zipped = 1
	}
	since := ""
	if len(r.Since) > 0 {
		since = r.Since[0]
	}
	switch unchanged := unchanged(r.Tags, since, made.tag, made.modified); {
	case unchanged:
		return append(head, made.unchanged[zipped]...), nil, true
	case r.Head:
		return append(head, made.head[zipped]...), nil, true
	}
	doc := s.docs.get(made.self, made.tag)
	if doc == nil || zipped == 0 {
		return head, nil, false
	}
	head = append(head, made.zipped...)
	head = strconv.AppendInt(append(head, "Content-Length: "...), int64(len(doc.zipped)), 10)
	return append(head, "\r\n"...), doc.zipped, true
}

func (s *site) prepare(p *poll, state *PersonalState) *prepared {
	made := &prepared{version: state.Version, modified: state.Modified, self: p.self(), tag: p.tag(state)}
	for i, given := range []http.Header{{}, {"Accept-Encoding": {"gzip"}}} {
		p.header = given
		h := Always()
		p.describe(h, state)
		made.unchanged[i] = headOf(http.StatusNotModified, h)
		h.Set("Content-Type", p.format.ContentType())
		made.head[i] = headOf(http.StatusOK, h)
		h.Set("Content-Encoding", "gzip")
		made.zipped = headOf(http.StatusOK, h) // of the second
	}
	return made
}

func headOf(status int, h http.Header) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = h.Write(&b) // into memory
	return b.String()
}
