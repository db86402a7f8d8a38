package cache

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/audience"
)

// Poll is a GET or HEAD, as far as it decides the answer. Values of headers are
// those of the lines of that name, in their order.
type Poll struct {
	Path, Query string // as they came, escaped
	Remote      string // host:port of who asks; empty: this peer itself
	Agent       string
	Head        bool

	Encodings []string // Accept-Encoding
	Tags      []string // If-None-Match
	Since     []string // If-Modified-Since
	Deltas    []string // A-IM
	Loop      []string // CDN-Loop
	Forwarded []string // X-Forwarded-For
}

func pollOf(req *http.Request) *Poll {
	h := req.Header
	return &Poll{
		Path: req.URL.EscapedPath(), Query: req.URL.RawQuery, Remote: req.RemoteAddr, Agent: req.UserAgent(), Head: req.Method == http.MethodHead,
		Encodings: h["Accept-Encoding"], Tags: h["If-None-Match"], Since: h["If-Modified-Since"],
		Deltas: h["A-Im"], Loop: h["Cdn-Loop"], Forwarded: h["X-Forwarded-For"],
	}
}

// choice is what a poll is answered with.
type choice struct {
	kind   int // answeredFull, answeredUnchanged, answeredDelta
	coding coding
	body   *packed // nil: none
}

func (made *ready) choose(p *Poll) choice {
	c := choose(p.Encodings)
	if made.unchanged(p) {
		return choice{answeredUnchanged, c, nil}
	}
	if part := made.part(p); part != nil {
		return choice{answeredDelta, c, part}
	}
	return choice{answeredFull, c, made.full}
}

// Plain answers a poll as Answer does, for who writes to a connection by itself:
// to head it appends the status line and all lines of the header but Date and those
// of the connection. ok is false where only Answer can answer, with a delta or an
// error; nothing is counted then. The body must not be changed.
func (r *Cache) Plain(p *Poll, hub string, head []byte) (_, body []byte, ok bool) {
	h, err := r.asked(p)
	if err != nil {
		return head, nil, false
	}
	made, err := r.ready(h, hub)
	if err != nil {
		return head, nil, false
	}
	does := made.choose(p)
	if does.kind == answeredDelta {
		return head, nil, false
	}
	h.readers.Note(pollerOf(p), p.Agent, r.seed, r.cfg.Now())
	r.counts[does.kind].Add(1)
	fixed := made.plain(r, h, does)
	head = append(append(head, fixed...), "Cache-Control: "...)
	head = append(r.appendFreshness(head, h), "\r\n"...)
	if does.body != nil && !p.Head {
		body = does.body[does.coding].body
	}
	return head, body, true
}

// plain is the part of an answer's head that stays as long as the version does.
func (made *ready) plain(r *Cache, at *held, does choice) []byte {
	kept := &made.heads[does.kind][does.coding]
	if head := kept.Load(); head != nil {
		return *head
	}
	header := r.cfg.Always.Clone()
	if header == nil {
		header = make(http.Header)
	}
	r.describe(header, at, made, does.coding)
	if does.body != nil {
		made.describeBody(header, does)
	}
	delete(header, "Cache-Control") // which tells the seconds that are left
	status := http.StatusOK
	if does.kind == answeredUnchanged {
		status = http.StatusNotModified
	}
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = header.Write(&b) // into memory
	head := b.Bytes()
	kept.Store(&head)
	return head
}

// appendFreshness is the Cache-Control of a whole document.
func (r *Cache) appendFreshness(to []byte, h *held) []byte {
	to = append(to, "public, max-age="...)
	to = strconv.AppendInt(to, int64(r.maxAge(h)/time.Second), 10)
	return append(to, ", stale-if-error=86400"...)
}

// Readers estimates for how many readers a feed was fetched here within a day.
func (r *Cache) Readers(feed string) int {
	if h := r.held(feed); h != nil {
		return h.readers.Count(r.cfg.Now())
	}
	return 0
}

// MostWeighed is how many readers an aggregator's claim counts for in WeighedReaders.
const MostWeighed = audience.MostWeighed

// WeighedReaders is how many of them count in the feed's weight.
func (r *Cache) WeighedReaders(feed string) int {
	if h := r.held(feed); h != nil {
		return h.readers.Weighed(r.cfg.Now())
	}
	return 0
}

// pollerOf is who asked: behind a proxy of one's own whom that names. Of IPv6
// addresses it is the network, since a host may have many.
func pollerOf(p *Poll) string {
	host, _, err := net.SplitHostPort(p.Remote)
	if err != nil {
		host = p.Remote
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.IsLoopback() || addr.IsPrivate() {
		if len(p.Forwarded) > 0 {
			last := p.Forwarded[len(p.Forwarded)-1]
			last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
			if told, err := netip.ParseAddr(last); err == nil {
				addr = told
			}
		}
	}
	if addr.Is6() && !addr.Is4In6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.Addr().String()
		}
	}
	return addr.String()
}
