package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/readerfeeds/render"
)

const (
	// rendering is one more whenever the same entries become other bytes.
	rendering     = 1
	maxSecret     = 64
	rendersAtOnce = 8
)

// noFeed tells a secret that never was and one that was revoked alike.
func noFeed() error {
	return &problem{Status: http.StatusNotFound, Detail: "there is no such feed, or it was revoked: \"feedring subscription list\" shows those there are"}
}

// personalFeed answers who polls a personal feed. Where nothing changed since it
// was there it is told so, and no entry is read.
func (s *site) personalFeed(w http.ResponseWriter, r *http.Request) error {
	secret, ending, _ := strings.Cut(r.PathValue("name"), ".")
	format, ok := render.ParseFormat(ending)
	if !ok || secret == "" || len(secret) > maxSecret {
		return noFeed()
	}
	base, err := s.personalBase(r)
	if err != nil {
		base = "" // over the socket of a peer without a web address
	}
	state, ok := s.Personal.State(secret)
	if !ok && s.Fleet != nil {
		if err := waits(s.strays, s.now(), r, "too many addresses of no feed were asked for from your address: try again when Retry-After is over"); err != nil {
			return err
		}
		if answered, err := s.Fleet.Elsewhere(w, r, secret, base); answered || err != nil {
			return err
		}
		if state, ok = s.Personal.State(secret); !ok {
			s.strays.Take(s.now(), asker.Of(r.Context(), r.RemoteAddr), 1)
		}
	}
	switch {
	case !ok && s.LeftFleet:
		return errLeftFleet
	case !ok:
		return noFeed()
	}
	p := &poll{site: s, header: r.Header, base: base, secret: secret, format: format}
	if p.unchanged(&state) {
		p.describe(w.Header(), &state)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", format.ContentType())
	if r.Method == http.MethodHead {
		p.describe(w.Header(), &state)
		return nil
	}
	doc, status, err := p.answer(r.Context(), &state)
	if err != nil {
		return err
	}
	p.describe(w.Header(), &state) // of what was read, which may be newer
	if status == http.StatusIMUsed {
		w.Header().Set("IM", "feed")
		w.Header().Set("Cache-Control", "private, no-store, im") // whoever does not know deltas must not take it for the whole
	}
	return p.send(w, doc, status)
}

// poll is one request for a personal feed.
type poll struct {
	*site
	header http.Header // of the request
	base   string
	secret string
	format render.Format
}

func (p *poll) self() string { return personalAddress(p.base, p.secret, p.format) }

func (p *poll) hub() string {
	if p.Hub == "" || p.base == "" {
		return ""
	}
	return p.base + p.Hub
}

func (p *poll) takesGzip() bool { return accepts(p.header.Values("Accept-Encoding"), "gzip") }

// tag names the bytes that a state becomes, before they are compressed.
func (p *poll) tag(state *PersonalState) string {
	h := fnv.New64a()
	for _, part := range []string{strconv.FormatUint(state.Version, 16), p.self(), p.hub(), strconv.Itoa(rendering)} {
		_, _ = io.WriteString(h, part+"\x00")
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// etag is tag as it is told. Compressed bytes are others.
func (p *poll) etag(state *PersonalState) string {
	if p.takesGzip() {
		return `"` + p.tag(state) + `-gzip"`
	}
	return `"` + p.tag(state) + `"`
}

// describe sets the headers that a 304 has, too.
func (p *poll) describe(h http.Header, state *PersonalState) {
	h.Set("Etag", p.etag(state))
	h.Set("Last-Modified", p.lastModified(state).Format(http.TimeFormat))
	h.Set("Vary", "Accept-Encoding, A-IM")
	h.Set("Cache-Control", "private, max-age=60")
	h.Set("X-Robots-Tag", "noindex")
	links := "<" + p.self() + `>; rel="self"`
	if hub := p.hub(); hub != "" {
		links += ", <" + hub + `>; rel="hub"`
	}
	h.Set("Link", links)
}

// lastModified is a second earlier while that second lasts: what changes later
// in it must not look the same.
func (p *poll) lastModified(state *PersonalState) time.Time {
	if now := p.now().Truncate(time.Second); !state.Modified.Before(now) {
		return now.Add(-time.Second).UTC()
	}
	return state.Modified.UTC()
}

// unchanged evaluates the request's conditions.
func (p *poll) unchanged(state *PersonalState) bool {
	return unchanged(p.header.Values("If-None-Match"), p.header.Get("If-Modified-Since"), p.tag(state), state.Modified)
}

// unchanged evaluates conditions (RFC 9110, 13.2.2) against what is shown.
func unchanged(tags []string, since, now string, modified time.Time) bool {
	if len(tags) > 0 {
		plain, zipped := `"`+now+`"`, `"`+now+`-gzip"`
		for _, tag := range list(tags) {
			if tag = strings.TrimPrefix(tag, "W/"); tag == "*" || tag == plain || tag == zipped {
				return true
			}
		}
		return false
	}
	if since == "" {
		return false
	}
	at, err := http.ParseTime(since)
	return err == nil && !modified.After(at)
}

// answer returns the document, or, with 226, what is new in it to a reader that
// asks for that and has a former one (RFC 3229, with "feed" as its manipulation).
// state becomes that of what was read, which may be newer.
func (p *poll) answer(ctx context.Context, state *PersonalState) (*readyDoc, int, error) {
	had, known := p.had()
	if !known {
		doc, err := p.document(ctx, state)
		return doc, http.StatusOK, err
	}
	doc, news, err := p.read(ctx, state, had)
	if err != nil {
		return nil, 0, err
	}
	if news > 0 {
		p.docs.told(p.self(), doc)
		return doc, http.StatusIMUsed, nil
	}
	doc, err = p.document(ctx, state) // nothing new, but something went
	return doc, http.StatusOK, err
}

// had is what the reader has by the tags it gives, if it asks for what is new
// alone.
func (p *poll) had() ([]uint64, bool) {
	if !accepts(p.header.Values("A-IM"), "feed") {
		return nil, false
	}
	for _, tag := range list(p.header.Values("If-None-Match")) {
		tag = strings.TrimSuffix(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`), "-gzip")
		if had, ok := p.docs.shown(p.self(), tag); ok {
			return had, true
		}
	}
	return nil, false
}

// document returns the whole feed.
func (p *poll) document(ctx context.Context, state *PersonalState) (*readyDoc, error) {
	if doc := p.docs.get(p.self(), p.tag(state)); doc != nil {
		return doc, nil
	}
	doc, _, err := p.read(ctx, state, nil)
	if err == nil {
		p.docs.put(p.self(), doc)
	}
	return doc, err
}

// read makes a document of the entries that a reader has not had, and says how
// many those are.
func (p *poll) read(ctx context.Context, state *PersonalState, had []uint64) (*readyDoc, int, error) {
	select {
	case p.renders <- struct{}{}:
		defer func() { <-p.renders }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	read, entries, err := p.Personal.Read(ctx, p.secret)
	if err != nil {
		return nil, 0, err
	}
	*state = read
	doc, news := &readyDoc{tag: p.tag(state), shows: make([]uint64, len(entries))}, make([]feedring.Entry, 0, len(entries))
	for i := range entries {
		doc.shows[i] = versionOf(&entries[i])
		if !slices.Contains(had, doc.shows[i]) {
			news = append(news, entries[i])
		}
	}
	doc.zipped, doc.plain, err = p.render(state, news)
	return doc, len(news), err
}

// versionOf tells versions of entries apart.
func versionOf(e *feedring.Entry) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s\x00%d\x00%s\x00%d", e.ID, e.Version, e.Publisher, len(e.ContentHTML)) // never fails
	return h.Sum64()
}

// render writes a document, compressed, and says how long it was before.
func (p *poll) render(state *PersonalState, entries []feedring.Entry) ([]byte, int64, error) {
	sum := sha256.Sum256([]byte("feedring personal feed\x00" + state.ID))
	feed := &render.Feed{
		ID: render.URN([16]byte(sum[:16])), Title: titleOf(state.Query), About: "A personal feed", Self: p.self(),
		Home: p.base + "/", Hub: p.hub(), Updated: state.Modified, Entries: entries,
	}
	var b bytes.Buffer
	z := gzips.Get().(*gzip.Writer)
	z.Reset(&b)
	counted := &counting{w: z}
	err := render.Write(counted, p.format, feed)
	if err == nil {
		err = z.Close()
	}
	z.Reset(io.Discard)
	gzips.Put(z)
	return b.Bytes(), counted.n, err
}

type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// send writes a document, to the few who do not take it compressed as it was.
func (p *poll) send(w http.ResponseWriter, doc *readyDoc, status int) error {
	var err error
	if p.takesGzip() {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(len(doc.zipped)))
		w.WriteHeader(status)
		_, err = w.Write(doc.zipped)
	} else {
		w.Header().Set("Content-Length", strconv.FormatInt(doc.plain, 10))
		w.WriteHeader(status)
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(doc.zipped)); err == nil {
			_, err = io.Copy(w, z)
		}
	}
	if err != nil {
		p.Logger.Debug("a reader left before the end of its feed", "err", err)
	}
	return nil
}
